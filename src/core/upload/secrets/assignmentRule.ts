import { maskAssignment, maskToken } from './maskSecret.ts';
import type { Match } from './tokenRules.ts';

/** Files in which people configure things: names in any case count, and values need no quotes. */
const configFile =
  /\.(?:env|ini|cfg|cnf|conf|config|properties|toml|ya?ml|json[5c]?|xml|plist|tfvars|hcl|tf|sh|bash|zsh|fish|ps1|bat|cmd|service|gradle|dockerfile)$|(?:^|\/)(?:\.env[^/]*|\.[^/]*rc|dockerfile[^/]*|credentials|docker-compose[^/]*)$/i;

const keyword =
  'pass(?:word|wd|phrase)?|pwd|secret|token|credentials?|api[_-]?key|(?:access|secret|private|signing|encryption|master|auth|account)[_-]?key';
const quoted = '"[^"\\r\\n]{1,256}"|\'[^\'\\r\\n]{1,256}\'';
const between = '["\']?[ \\t]{0,16}(?:[:=]|>(?=[^<\\s]))[ \\t]{0,16}';

const inConfig = new RegExp(`(${keyword})${between}(${quoted}|[^\\s"'\`,;<>(){}\\[\\]]{1,256})`, 'gi');
// In source code only constants with a literal beside them: the rest are expressions.
const inCode = new RegExp(`(${keyword.toUpperCase().replaceAll('_-', '_')})${between}(${quoted})`, 'g');

/**
 * Finds assignments of passwords, keys and tokens (`DB_PASSWORD=…`), which no token's own form gives away. Values that are
 * placeholders, references or plain words do not count.
 */
export function findAssignments(text: string, path: string): Match[] {
  const found: Match[] = [];
  const isConfig = configFile.test(path);
  for (const match of text.matchAll(isConfig ? inConfig : inCode)) {
    const [, key = '', raw = ''] = match;
    const name = nameBefore(text, match.index) + key;
    const constant = /^[A-Z][A-Z0-9_]*$/.test(name);
    if (!isWord(name, key) || (!isConfig && !(constant && name.includes('_')) && name !== 'PASSWORD'))
      continue;
    const isQuoted = /^["']/.test(raw);
    const value = isQuoted ? raw.slice(1, -1) : raw;
    if (isPlaceholder(value) || (!isQuoted && syntax.test(value))) continue;
    if (isConfig && constant ? value.length < 6 : !looksRandom(value)) continue;
    found.push({
      rule: 'assignment',
      index: match.index,
      masked: maskAssignment(name),
      alias: maskToken(value),
    });
  }
  return found;
}

const maxName = 64;

function nameBefore(text: string, end: number): string {
  let start = end;
  while (start > 0 && end - start < maxName && /[\w.-]/.test(text.charAt(start - 1))) start--;
  return text.slice(start, end);
}

/** `bypass` and `tokenize` are none of our words; `dbpassword` and `dbPass` are. */
function isWord(name: string, key: string): boolean {
  if (/^(?:passw|passp|secret|api)/i.test(key)) return true;
  const before = name.charAt(name.length - key.length - 1);
  return !/[A-Za-z]/.test(before) || (/[a-z]/.test(before) && /^[A-Z]/.test(key));
}

const reference =
  /\s|^\$|\$[{(]|\{\{|%[({]|^%\w+%$|<[^>]*>|^\/|^\.{1,2}\/|^[a-z][a-z0-9+]{1,20}:\/\/|^(?:arn|vault|ref|env|file|secret|secrets|var|local|data|process|os|op|workspace|catalog|npm|link)[.:]|\*{3}|\.{3}|…|x{4}/i;
/** Tags, anchors, aliases and comments of YAML and its kin. */
const syntax = /^[!&*@#]/;
const plainWords = new Set(
  `a access admin an api app auth authorization aws base basic bar baz bearer change changeme client credential credentials db default demo
  dev development disabled dummy empty enabled enter example fake false foo for guest here in insert invalid is it jwt key keys local
  localhost me mine minio minioadmin mock mongo my mypassword mysql none not null oauth of optional pass passphrase password passwd placeholder
  postgres postgresql private prod production public pw pwd rabbitmq read redacted redis replace required root sample sa secret set some
  string super test testing the this to todo token true undefined unset unused use user username value with write your`.split(
    /\s+/,
  ),
);

/** True for what stands where a secret will stand, or says where it comes from. */
function isPlaceholder(value: string): boolean {
  if (reference.test(value) || /^(.)\1*$/.test(value) || /^[\d.,:_-]*$/.test(value)) return true;
  const words = value.split(/[^A-Za-z]+|(?<=[a-z])(?=[A-Z])/).filter((word) => word !== '');
  return words.every((word) => plainWords.has(word.toLowerCase()) || /^x+$/i.test(word));
}

/** ASCII, letters with digits among them, and not a name made of short words (`app-tls-2`, `a.b.c`). */
function looksRandom(value: string): boolean {
  if (value.length < 8 || /[^ -~]/.test(value) || !/[A-Za-z]/.test(value) || !/\d/.test(value)) return false;
  return !/^[a-z]{1,20}(?:[-._:/](?:[a-z]{1,20}|v?\d{1,6}))+$/i.test(value);
}
