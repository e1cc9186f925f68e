import { AssessmentError } from '../../errors.ts';

/** One `name = value` of git's configuration; `name` is `section.key` or `section.subsection.key`, section and key in lower case. */
export interface GitSetting {
  readonly name: string;
  /** Undefined for a name without `=`, which means true. */
  readonly value: string | undefined;
}

/** Reads the text of a git configuration file; unreadable lines are skipped. */
export function parseGitConfig(text: string): GitSetting[] {
  const settings: GitSetting[] = [];
  let section = '';
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  for (let at = 0; at < lines.length; at++) {
    let line = (lines[at] ?? '').trim();
    const header = /^\[\s*([-.0-9A-Za-z]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]/.exec(line);
    if (header !== null) {
      const subsection = header[2]?.replace(/\\(.)/g, '$1');
      section = (header[1] ?? '').toLowerCase() + (subsection === undefined ? '' : `.${subsection}`);
      line = line.slice(header[0].length).trim();
    }
    const key = /^([A-Za-z][-0-9A-Za-z]*)\s*(=?)/.exec(line);
    if (key === null) continue;
    const parts = [line.slice(key[0].length)];
    let quoted = false;
    for (;;) {
      const end = endOf(parts.at(-1) ?? '', quoted);
      if (!end.continues || at + 1 >= lines.length) break;
      quoted = end.quoted;
      parts.push(lines[++at] ?? '');
    }
    settings.push({
      name: `${section}.${(key[1] ?? '').toLowerCase()}`,
      value: key[2] === '=' ? readValue(parts.join('\n')) : undefined,
    });
  }
  return settings;
}

/** Whether a line of a value ends inside quotes, and whether an escaped line break continues it; comments have none. */
function endOf(part: string, quotedBefore: boolean): { quoted: boolean; continues: boolean } {
  let quoted = quotedBefore;
  for (let at = 0; at < part.length; at++) {
    const character = part.charAt(at);
    if (character === '\\' && ++at === part.length) return { quoted, continues: true };
    if (character === '"') quoted = !quoted;
    if (!quoted && (character === '#' || character === ';')) break;
  }
  return { quoted, continues: false };
}

const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', b: '\b', '\n': '' };

/** Quotes, escapes, escaped line breaks and comments of a value; blanks around it count only inside quotes. */
function readValue(raw: string): string {
  let value = '';
  let length = 0; // of the value without unquoted blanks at its end
  let quoted = false;
  for (let at = 0; at < raw.length; at++) {
    const character = raw.charAt(at);
    if (!quoted && (character === '#' || character === ';')) break;
    const blank = !quoted && /\s/.test(character);
    if (blank && value === '') continue;
    if (character === '"') quoted = !quoted;
    else if (character === '\\') {
      const escaped = raw.charAt(++at);
      value += escapes[escaped] ?? escaped;
    } else value += character;
    if (!blank) length = value.length;
  }
  return value.slice(0, length);
}

/** git's reading of a truth value. */
export function isTrue(value: string | undefined): boolean {
  return (
    value === undefined ||
    /^(?:true|yes|on|\s*[-+]?(?:0x0*[1-9a-f][0-9a-f]*|0*[1-9][0-9]*)[kmg]?)$/i.test(value)
  );
}

/** One quoted `name=value`, or `name` and `value` quoted separately, as git passes `-c` to the processes it starts. */
const quoted = /'((?:[^']|'\\['!]')*)'(?:=(?:'((?:[^']|'\\['!]')*)')?)?/y;

/**
 * The configuration that git takes from the environment, in git's order: `GIT_CONFIG_COUNT` with its keys and values, and
 * `GIT_CONFIG_PARAMETERS`. Throws `sourceUnreadable` for what git itself would refuse.
 */
export function configOfEnvironment(env: Readonly<Record<string, string | undefined>>): GitSetting[] {
  return [...counted(env), ...parameters(env['GIT_CONFIG_PARAMETERS'] ?? '')];
}

function counted(env: Readonly<Record<string, string | undefined>>): GitSetting[] {
  const text = env['GIT_CONFIG_COUNT'] || '0';
  const count = Number(text);
  if (!/^\s*\+?\d+$/.test(text) || count > 10_000) throw refused('GIT_CONFIG_COUNT');
  return Array.from({ length: count }, (_, at) => {
    const key = `GIT_CONFIG_KEY_${String(at)}`;
    const value = env[`GIT_CONFIG_VALUE_${String(at)}`];
    if (value === undefined) throw refused(`GIT_CONFIG_VALUE_${String(at)}`);
    return { name: nameOf(env[key] ?? '', key), value };
  });
}

function parameters(text: string): GitSetting[] {
  const name = 'GIT_CONFIG_PARAMETERS';
  const settings: GitSetting[] = [];
  let at = 0;
  while (at < text.length) {
    quoted.lastIndex = at;
    const found = quoted.exec(text);
    if (found === null || !/^(?:\s|$)/.test(text.slice(quoted.lastIndex))) throw refused(name);
    const [whole, first = '', second] = found;
    const bare = unquoted(first);
    const isApart = whole.length > first.length + 2;
    const equals = isApart ? -1 : bare.indexOf('=');
    settings.push({
      name: nameOf(equals === -1 ? bare : bare.slice(0, equals), name),
      value: isApart ? second && unquoted(second) : equals === -1 ? undefined : bare.slice(equals + 1),
    });
    at = text.length - text.slice(quoted.lastIndex).trimStart().length;
  }
  return settings;
}

/** Lower-cases section and key; the subsection between them keeps its case. */
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
