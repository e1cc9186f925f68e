import { literalOf, looksRandom } from './literal.ts';
import { isPlaceholder } from './placeholders.ts';
import { findTokens, isExampleToken, type Match } from './tokenRules.ts';

const urlEncoded = /%(?:0[AD]|2[0-9A-F]|3[A-F]|40|5[B-F]|60|7[B-E])/gi;
const markdownEscape = /\\(?=[!#$&*+./:<=>@_|~-])/g;

export function formsOf(text: string): readonly string[] {
  const undone = text
    .replace(urlEncoded, (code) => decodeURIComponent(code).replace(/[\r\n]/, ' '))
    .replace(markdownEscape, '');
  return undone === text ? [text] : [text, undone];
}

/** The most reliable rules come first. */
export const finders = [findTokens, findAssignments];

const configFile =
  /\.(?:env|ini|cfg|cnf|conf|config|properties|toml|ya?ml|json[5c]?|xml|plist|tfvars|hcl|tf|sh|bash|zsh|fish|ps1|bat|cmd|service|gradle|dockerfile)$|(?:^|\/)(?:\.env[^/]*|\.[^/]*rc|dockerfile[^/]*|credentials|docker-compose[^/]*)$/i;

const keyword =
  'pass(?:word|wd|phrase)?|pwd|secret|token|credentials?|api[_-]?key|(?:access|secret|private|signing|encryption|decryption|validation|master|auth|account)[_-]?key|(?<=[:\\s]_)auth';
/** Text may follow a key's name (`API_KEY_PROD`), unless it describes the key. */
const nameEnd =
  '(?:_key_?[a-z0-9]{0,20}|(?<=key)_(?!id|name|file|path|ur[il]|size|len|type|version|vault|expir|alg)[a-z0-9]{1,20}|_)?';
const quoted = '"[^"\\r\\n]{1,256}"|\'[^\'\\r\\n]{1,256}\'';
// .NET writes `<add key="Password" value="…" />`.
const between = '["\']?[ \\t]{0,16}(?:(?:\\?|:{0,3})=|=>|:|>(?=[^<\\s])|value[ \\t]{0,4}=)[ \\t]{0,16}';
const expression = '\\$\\{[^{}\\r\\n]{1,256}\\}';

const inConfig = new RegExp(
  `((?:${keyword})${nameEnd})${between}(${quoted}|${expression}|[^\\s"'\`,;<>(){}\\[\\]]{1,256})`,
  'gi',
);
// In source code only a constant with a literal counts: other values are expressions.
const inCode = new RegExp(
  `(${`(?:${keyword})${nameEnd}`.toUpperCase().replaceAll('_-', '_')})${between}(${quoted})`,
  'g',
);

/** Finds literals that are assigned to a name such as `DB_PASSWORD`, except placeholders. */
function findAssignments(text: string, path: string): Match[] {
  const found: Match[] = [];
  const isConfig = configFile.test(path);
  for (const match of text.matchAll(isConfig ? inConfig : inCode)) {
    const [whole, key = '', assigned = ''] = match;
    const name = nameBefore(text, match.index) + key;
    const isConstant = /^[A-Z][A-Z0-9_]*$/.test(name);
    if (!isWord(name, key) || (!isConfig && !(isConstant && name.includes('_')) && name !== 'PASSWORD'))
      continue;
    // In a reference (`postgres://app:${DB_PASSWORD:-…}@db`), the default is the value.
    const start = match.index + key.length - name.length - 2;
    const isReference = text.startsWith('${', start);
    const value = isReference ? text.slice(start, text.indexOf('}', start) + 1) : assigned;
    const literal = literalOf(value, text.charAt(match.index + whole.length));
    if (literal === undefined || isPlaceholder(literal) || isExampleToken(literal)) continue;
    const isNamedOnly = isConfig && isConstant && !value.includes('${');
    if (isNamedOnly ? literal.length < 6 : !looksRandom(literal)) continue;
    found.push({ rule: 'assignment', index: match.index, secret: literal, name });
  }
  return found;
}

function nameBefore(text: string, end: number): string {
  return /[\w.-]*$/.exec(text.slice(Math.max(0, end - 64), end))?.[0] ?? '';
}

/** False for `bypass` and `csrf_token`, true for `dbpassword` and `dbPass`. */
function isWord(name: string, key: string): boolean {
  if (/^(?:passw|passp|secret|api)/i.test(key)) return true;
  // A `PublicKeyToken` identifies a .NET assembly. Web pages contain the other tokens.
  if (/(?:public_?(?:key)?|csrf[_-]?|xsrf[_-]?|authenticity_)token$/i.test(name)) return false;
  const before = name.charAt(name.length - key.length - 1);
  return !/[A-Za-z]/.test(before) || (/[a-z]/.test(before) && /^[A-Z]/.test(key));
}
