import { AssessmentError } from '../../errors.ts';
import type { ConfigEntry } from './gitConfig.ts';

/** One quoted `name=value`, or `name` and `value` each quoted for itself, as git hands `-c` on to what it starts. */
const quoted = /'((?:[^']|'\\['!]')*)'(?:=(?:'((?:[^']|'\\['!]')*)')?)?/y;

/**
 * The configuration that git takes from the environment, in git's order: `GIT_CONFIG_COUNT` with its keys and values, and
 * `GIT_CONFIG_PARAMETERS`. Throws `sourceUnreadable` for what git itself would refuse.
 */
export function configOfEnvironment(env: Readonly<Record<string, string | undefined>>): ConfigEntry[] {
  return [...counted(env), ...parameters(env['GIT_CONFIG_PARAMETERS'] ?? '')];
}

function counted(env: Readonly<Record<string, string | undefined>>): ConfigEntry[] {
  const told = env['GIT_CONFIG_COUNT'] || '0';
  const count = Number(told);
  if (!/^\s*\+?\d+$/.test(told) || count > 10_000) throw refused('GIT_CONFIG_COUNT');
  return Array.from({ length: count }, (_, at) => {
    const key = `GIT_CONFIG_KEY_${String(at)}`;
    const value = env[`GIT_CONFIG_VALUE_${String(at)}`];
    if (value === undefined) throw refused(`GIT_CONFIG_VALUE_${String(at)}`);
    return { name: nameOf(env[key] ?? '', key), value };
  });
}

function parameters(text: string): ConfigEntry[] {
  const name = 'GIT_CONFIG_PARAMETERS';
  const entries: ConfigEntry[] = [];
  let at = 0;
  while (at < text.length) {
    quoted.lastIndex = at;
    const found = quoted.exec(text);
    if (found === null || !/^(?:\s|$)/.test(text.slice(quoted.lastIndex))) throw refused(name);
    const [whole, first = '', second] = found;
    const bare = unquoted(first);
    const isApart = whole.length > first.length + 2;
    const equals = isApart ? -1 : bare.indexOf('=');
    entries.push({
      name: nameOf(equals === -1 ? bare : bare.slice(0, equals), name),
      value: isApart ? second && unquoted(second) : equals === -1 ? undefined : bare.slice(equals + 1),
    });
    at = text.length - text.slice(quoted.lastIndex).trimStart().length;
  }
  return entries;
}

/** Section and key in lower case; a subsection between them stays as it is. */
function nameOf(key: string, variable: string): string {
  const [first, last] = [key.indexOf('.'), key.lastIndexOf('.')];
  if (first <= 0 || last === key.length - 1) throw refused(variable);
  return key.slice(0, first).toLowerCase() + key.slice(first, last) + key.slice(last).toLowerCase();
}

function unquoted(text: string): string {
  return text.replace(/'\\(['!])'/g, '$1');
}

function refused(variable: string): AssessmentError {
  return new AssessmentError('sourceUnreadable', { subject: variable, detail: 'EINVAL' });
}
