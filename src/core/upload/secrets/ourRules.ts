import { isExample, isPlaceholder } from './placeholders.ts';
import { tableTokens, tokenPrefixes } from './tokenTable.ts';

export interface Match {
  readonly rule: string;
  readonly index: number;
  /** Never shown, kept or sent. */
  readonly secret: string;
  readonly masked: string;
  /** What a rule for the secret's form gives as `masked` for the same secret. */
  readonly alias?: string;
}

interface TokenRule {
  readonly rule: string;
  /** A group is a start that many words and numbers have, looked for behind the rest: to begin with it would be slow. */
  readonly pattern: RegExp;
  /** Only in files whose path matches. */
  readonly file?: RegExp;
  /** By default, what is not an example. */
  readonly accept?: (match: string, text: string, end: number) => boolean;
  readonly mask?: (match: string) => Pick<Match, 'secret' | 'masked' | 'alias'>;
  /** The secret's continuation after the match. */
  readonly rest?: RegExp;
}

// What has more than a prefix. A token with a public part may begin anywhere, and ends before a character that its own
// alphabet does not have: `\b` would miss a token beside a letter or `_`.
const tokenRules: readonly TokenRule[] = [
  {
    rule: 'aws-access-key-id',
    pattern: /(?<![A-Za-z0-9+/]{16})(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Z0-9])/g,
  },
  {
    // Also encrypted, PGP and Ed25519 keys, and keys quoted line by line in source code.
    rule: 'private-key',
    pattern: /-----BEGIN (?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)?-----/g,
    accept: (_match, text, end) => /[A-Za-z0-9+/]{40}/.test(text.slice(end, end + 600)),
    // To the key's end, or to the end of a quote without it.
    rest: /[^]{0,10000}?-----END [A-Z0-9 ]{1,40}-----|(?:(?:\\[rn]|[\s"',])*[A-Za-z0-9+/=]{20,100})*/y,
  },
  { rule: 'azure-client-secret', pattern: /[\w~.-]{3}\dQ~[\w~.-]{31,34}(?![\w~-]|\.[\w~.-])/g },
  {
    rule: 'discord-token',
    pattern: /[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,38}(?![\w-])/g,
    accept: (match) => /\d/.test(match) && /[a-z]/.test(match) && /[A-Z]/.test(match.slice(1)),
  },
  {
    rule: 'json-web-token',
    pattern: /eyJ[\w-]{8,1000}\.eyJ[\w-]{8,4000}\.[\w-]{16,1000}(?![\w-])/g,
    accept: (match) => !sampleSignatures.test(match),
  },
  {
    rule: 'aws-secret-access-key',
    pattern:
      /secret_?access_?key(?:_\w{0,20})?["']?\s{0,5}(?:=>?|:)\s{0,5}["']?[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])/gi,
    accept: (match) => !isExample(match.slice(-40)),
    mask: (match) => maskWhole(match.slice(-40)),
  },
  {
    rule: 'slack-token',
    pattern:
      /xox(?:[abopr]-(?:\d-)?\d{6,14}-[A-Za-z0-9-]{17,100}[A-Za-z0-9](?!-)|s-\d{8,14}-\d{8,14}-\d{8,14}-[A-Fa-f0-9]{8,64}|e\.xox[bp]-\d-[A-Za-z0-9]{140,200}|e-(?:\d-[A-Za-z0-9]{120,200}|(?:\d{8,14}-){3}[A-Za-z0-9]{28,64}))(?![A-Za-z0-9])|xapp-\d-[A-Z0-9]{8,20}-\d{8,20}-[A-Za-z0-9]{40,100}(?![A-Za-z0-9])/g,
  },
  // The names of pages end in `ico-` and hex, too.
  { rule: 'infracost-key', pattern: /ico-(?=[a-z0-9]{0,31}[A-Z])[A-Za-z0-9]{32}(?![A-Za-z0-9])/g },
  { rule: 'yandex-token', pattern: /t1\.[\w-]{4,200}={0,2}\.[\w-]{86}(?![\w-])/g },
  { rule: 'sendgrid-key', pattern: /SG\.[\w-]{20,24}\.[\w-]{39,50}(?![\w-])/g },
  {
    rule: 'anthropic-key',
    pattern: /sk-ant-(?:api|admin|oat|ort|sid)\d\d-[\w-]{80,120}AA(?![\w-])/g,
  },
  { rule: 'openai-key', pattern: /sk-[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}(?![A-Za-z0-9])/g },
  { rule: 'mailchimp-key', pattern: /(?<=([0-9a-f]{32}))-us\d{1,2}(?!\w)/g },
  { rule: 'airtable-token', pattern: /pat[A-Za-z0-9]{14}\.[0-9a-f]{64}(?![0-9a-f])/g },
  { rule: 'harness-token', pattern: /[ps]at\.[\w-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}(?![A-Za-z0-9])/g },
  { rule: 'maxmind-key', pattern: /(?<=([A-Za-z0-9]{6}_[A-Za-z0-9]{29}))_mmk(?![A-Za-z0-9])/g },
  { rule: 'facebook-token', pattern: /(?<!\d)\d{15,16}\|[\w-]{27}(?![\w-])/g },
  { rule: 'telegram-token', pattern: /(?<=((?<!\d)\d{8,10})):AA[\w-]{33}(?![\w-])/g },
  {
    rule: 'terraform-token',
    pattern: /(?<=([A-Za-z0-9]{14,60}))\.atlasv1\.[\w=-]{60,70}(?![\w=-])/g,
  },
  { rule: 'azure-account-key', pattern: /AccountKey\w{0,20}=[A-Za-z0-9+/]{86}==/g },
  {
    rule: 'authorization',
    pattern:
      /authorization["']?[ \t]{0,5}[:=][ \t]{0,5}["']?(?:Basic|Bearer|Token|Api-Token)[ \t]{1,5}[\w~+/=.-]{20,2000}|(?:-H|--header)[ \t=]{1,5}["'](?:[\w-]{0,40}(?:key|token)|authorization):[ \t]{0,5}[\w=~@.+/-]{8,2000}(?=["'])/gi,
    accept: (match) => isRandom(headerValue(match)) && !isExample(headerValue(match)),
    mask: (match) => maskWhole(headerValue(match)),
  },
  {
    rule: 'curl-login',
    pattern: /(?:-u|--user)[ \t=]{1,5}["']?[^\s:"']{0,100}["']?:(?:["']?[^\s/"'][^\s"']{2,200}|(?=["']))/g,
    accept: (match, text, end) =>
      curlBefore.test(text.slice(Math.max(0, end - 1000), end)) && !isSampleLogin(/([^\s=:]*):(.*)/, match),
    mask: (match) => ({ secret: match, masked: match.replace(/[ \t=][^]*/, ' …') }),
  },
  {
    rule: 'bundler-login',
    pattern:
      /BUNDLE_[A-Z0-9_]{1,100}["']?[ \t]{0,5}[:=][ \t]{0,5}["']?[^\s:"']{1,100}:[^\s/"'][^\s"']{2,200}/g,
    accept: (match) => !isSampleLogin(/[:=]\s*(.*?):(.*)/, match),
    mask: (match) => ({ secret: match, masked: maskAssignment(/^\w*/.exec(match)?.[0] ?? '') }),
  },
  {
    rule: 'npmrc-auth',
    file: /npmrc$/i,
    mask: maskNpmrc,
    accept: (line) => !isPlaceholder(line.slice(line.indexOf('=') + 1).trim()),
    pattern:
      /\/\/[^\s=]{1,256}:_(?:authToken|auth|password)[ \t]*=[ \t]*[^\s$][^\r\n]{3,256}|^_(?:auth|password)[ \t]*=[ \t]*[^\s$][^\r\n]{3,256}/gm,
  },
  {
    rule: 'connection-url',
    pattern:
      /(?<=(https?|s?ftps?|postgres(?:ql)?|mysqlx?|mongodb(?:\+srv)?|rediss?|amqps?|mssql|sqlserver|mariadb|oracle|ldaps?|smtps?|clickhouse|cassandra|nats|kafka)):\/\/(?:[^\s:@/'"`<>{}$%]|%[0-9A-F]{2}){0,100}:(?:[^\s@/'"`<>{}$%]|%[0-9A-F]{2}|\$){4,200}@[A-Za-z0-9[]/gi,
    accept: (match) => !isSampleLogin(/:\/\/([^:]*):(.*)@/, match),
  },
];

/** A command that goes on to the end. */
const curlBefore = /\bcurl\b(?:[^\n]|\\\r?\n)*$/;

/** Of the tokens that jwt.io shows. */
const sampleSignatures =
  /\.(?:SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c|TJVA95OrM7E2cBab30RMHrHDcEfxjoYZgeFONFh7HgQ)$/;

export function findTokens(text: string, path: string): Match[] {
  const found: Match[] = [];
  for (const { rule, index, prefix, rest } of tableTokens(text)) {
    if (isRandom(rest) && !isExample(rest)) found.push({ rule, index, ...maskWhole(prefix + rest) });
  }
  for (const { rule, pattern, file, accept = isNoExample, mask = maskWhole, rest } of tokenRules) {
    if (file?.test(path) === false) continue;
    for (const match of text.matchAll(pattern)) {
      const [tail, start = ''] = match;
      const end = match.index + tail.length;
      if (!accept(start + tail, text, end)) continue;
      const { secret, ...masked } = mask(start + tail);
      found.push({
        rule,
        index: match.index - start.length,
        secret: secret + restOf(text, end, rest),
        ...masked,
      });
    }
  }
  return found;
}

function isRandom(text: string): boolean {
  return /\d/.test(text) || (/[a-z]/.test(text) && /[A-Z]/.test(text));
}

function headerValue(header: string): string {
  return /[^\s:]*$/.exec(header)?.[0] ?? '';
}

function isNoExample(token: string): boolean {
  return !isExample(token.slice(publicPartOf(token).length));
}

function isExampleToken(value: string): boolean {
  return publicPartOf(value) !== '' && !isNoExample(value);
}

/** Also a variable. `login` finds the user and the password. A token may be the user, with words as the password; words with digits are a password. */
function isSampleLogin(login: RegExp, match: string): boolean {
  const [, user = '', password = ''] = login.exec(match.replaceAll(/["']/g, '')) ?? [];
  if (user === password || /^[$<[]|\$[A-Z_(]/.test(password)) return true;
  return isExample(password) && !(/\d/.test(password) && /[a-z]/i.test(password)) && !looksRandom(user);
}

function restOf(text: string, end: number, rest: RegExp | undefined): string {
  if (rest === undefined) return '';
  rest.lastIndex = end;
  return rest.exec(text)?.[0] ?? '';
}

function maskWhole(match: string): Pick<Match, 'secret' | 'masked'> {
  return { secret: match, masked: maskToken(match) };
}

function maskNpmrc(line: string): Pick<Match, 'secret' | 'masked' | 'alias'> {
  const at = line.indexOf('=');
  const name = /_\w+$/.exec(line.slice(0, at).trimEnd())?.[0] ?? '';
  const secret = line.slice(at + 1).trim();
  return { secret, masked: `${name}=…`, alias: maskToken(secret) };
}

/** In these, names count in any case, and values need no quotes. */
const configFile =
  /\.(?:env|ini|cfg|cnf|conf|config|properties|toml|ya?ml|json[5c]?|xml|plist|tfvars|hcl|tf|sh|bash|zsh|fish|ps1|bat|cmd|service|gradle|dockerfile)$|(?:^|\/)(?:\.env[^/]*|\.[^/]*rc|dockerfile[^/]*|credentials|docker-compose[^/]*)$/i;

const keyword =
  'pass(?:word|wd|phrase)?|pwd|secret|token|credentials?|api[_-]?key|(?:access|secret|private|signing|encryption|decryption|validation|master|auth|account)[_-]?key';
/** A name may go on behind a key's (`API_KEY_PROD`), unless it then says something about the key. */
const nameEnd =
  '(?:_key_?[a-z0-9]{0,20}|(?<=key)_(?!id|name|file|path|ur[il]|size|len|type|version|vault|expir|alg)[a-z0-9]{1,20}|_)?';
const quoted = '"[^"\\r\\n]{1,256}"|\'[^\'\\r\\n]{1,256}\'';
// `<add key="Password" value="…" />` is how .NET writes them.
const between = '["\']?[ \\t]{0,16}(?:(?:\\?|:{0,3})=|=>|:|>(?=[^<\\s])|value[ \\t]{0,4}=)[ \\t]{0,16}';

const inConfig = new RegExp(
  `((?:${keyword})${nameEnd})${between}(${quoted}|[^\\s"'\`,;<>(){}\\[\\]]{1,256})`,
  'gi',
);
// In source code only a constant with a literal counts: other values are expressions.
const inCode = new RegExp(
  `(${`(?:${keyword})${nameEnd}`.toUpperCase().replaceAll('_-', '_')})${between}(${quoted})`,
  'g',
);

/** Finds assignments of passwords, keys and tokens (`DB_PASSWORD=…`) by name. Placeholders, references and plain words do not count. */
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
    if (isPlaceholder(value) || isExampleToken(value) || (!isQuoted && syntax.test(value))) continue;
    if (isConfig && constant ? value.length < 6 : !looksRandom(value)) continue;
    found.push({
      rule: 'assignment',
      index: match.index,
      secret: value,
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

/** False for `bypass` and `tokenize`, true for `dbpassword` and `dbPass`. */
function isWord(name: string, key: string): boolean {
  if (/^(?:passw|passp|secret|api)/i.test(key)) return true;
  // Of an assembly of .NET, and of what any page has.
  if (/(?:public_?(?:key)?|csrf[_-]?|xsrf[_-]?|authenticity_)token$/i.test(name)) return false;
  const before = name.charAt(name.length - key.length - 1);
  return !/[A-Za-z]/.test(before) || (/[a-z]/.test(before) && /^[A-Z]/.test(key));
}

/** Tags, anchors, aliases and comments, as in YAML. */
const syntax = /^[!&*@#]/;
/** ASCII with letters and digits, and not a name made of short words (`app-tls-2`, `a.b.c`). */
function looksRandom(value: string): boolean {
  if (value.length < 8 || /[^ -~]/.test(value) || !/[A-Za-z]/.test(value) || !/\d/.test(value)) return false;
  return !/^[a-z]{1,20}(?:[-._:/](?:[a-z]{1,20}|v?\d{1,6}))+$/i.test(value);
}

/** The start of a token that names its issuer. */
const publicPart = new RegExp(
  [
    '[A-Za-z][A-Za-z0-9+.-]{1,20}(?::[a-z0-9+.-]{1,20})?://',
    '-----BEGIN [A-Z0-9 ]{0,40}-----',
    tokenPrefixes,
    'AccountKey\\w{0,20}=|AKIA|ASIA|ABIA|ACCA|xox[a-z][.-]|xapp-|SG\\.|sk-(?:ant-[a-z]{3,5}\\d\\d-)?|eyJ',
  ].join('|'),
  'y',
);

function publicPartOf(token: string): string {
  publicPart.lastIndex = 0;
  return publicPart.exec(token)?.[0] ?? '';
}

/** From this length on, two characters show the owner which token it is, and are of no use to others. */
const minTailLength = 20;

/** The public part of a token, and at most two characters of the rest (`ghp_…a1`, `postgres://…`). */
export function maskToken(token: string): string {
  const shown = publicPartOf(token);
  const rest = token.slice(shown.length);
  const whole = shown.endsWith('/') || shown.startsWith('-');
  if (whole || rest.length < minTailLength) return `${shown}…`;
  // The last bytes of Base64 are often padding, and of a chunk perhaps half a character.
  const tail = rest.slice(-2);
  return /^[A-Za-z0-9]{2}$/.test(tail) ? `${shown}…${tail}` : `${shown}…`;
}

/** Only the last part of the name: another secret may precede the dot. */
export function maskAssignment(name: string): string {
  return `${name.slice(name.lastIndexOf('.') + 1)}=…`;
}

export interface RiskyName {
  /** As on screen: `.env*`, `*.pem`. */
  readonly pattern: string;
  /** For a name that public material has as well. */
  readonly publicIf?: 'onlyCertificates';
}

interface NameRule extends RiskyName {
  /** Matched against the lower-case path, or its last segment. */
  readonly path?: RegExp;
  readonly name?: RegExp;
}

// Only the content is checked of templates (.env.example), which are public, and of .npmrc, which mostly sets a registry.
/** @internal Tests check that they have an example of each. */
export const riskyNames: readonly NameRule[] = [
  {
    pattern: '.env*',
    name: /^\.env(?:rc)?$|^\.env[._-](?!(?:.*[._-])?(?:example|sample|template|dist|defaults?|schema)(?:$|[._-]))/,
  },
  {
    pattern: '*.env',
    name: /^(?!(?:.*[._-])?(?:example|sample|template|dist|defaults?|schema)[._-]).+\.env$/,
  },
  { pattern: '*.pem', name: /\.pem$/, publicIf: 'onlyCertificates' },
  { pattern: '*.p12', name: /\.p12$/ },
  { pattern: '*.pfx', name: /\.pfx$/ },
  { pattern: '*.p8', name: /\.p8$/ },
  { pattern: '*.ppk', name: /\.ppk$/ },
  { pattern: '*.jks', name: /\.jks$/ },
  { pattern: '*.keystore', name: /\.keystore$/ },
  { pattern: '*.kdbx', name: /\.kdbx?$/ },
  // A key has no extension, or a copy's: id_map.json and id_generator.py are ordinary files.
  {
    pattern: 'id_*',
    name: /^id_[^.]+$|^id_(?:rsa|dsa|ecdsa|ed25519)[^.]*\.(?:bak|old|orig|backup|key|txt|\d+)$/,
  },
  { pattern: '.netrc', name: /^[._]netrc$/ },
  { pattern: '.pgpass', name: /^\.?pgpass(?:\.conf)?$/ },
  { pattern: '.git-credentials', name: /^\.git-credentials$/ },
  { pattern: '.htpasswd', name: /^\.htpasswd$/ },
  { pattern: '.pypirc', name: /^\.pypirc$/ },
  { pattern: '.s3cfg', name: /^\.s3cfg$/ },
  { pattern: '.vault-token', name: /^\.vault-token$/ },
  { pattern: 'master.key', name: /^master\.key$/ },
  { pattern: 'kubeconfig', name: /^kubeconfig$|\.kubeconfig$/ },
  { pattern: '*.tfstate', name: /\.tfstate(?:\..*)?$/ },
  {
    pattern: '.docker/config.json',
    path: /(?:^|\/)\.docker\/config\.json$/,
    name: /^\.docker(?:cfg|configjson)$/,
  },
  { pattern: '.kube/', path: /(?:^|\/)\.kube\/config$/ },
  { pattern: '.aws/', path: /(?:^|\/)\.aws\/[^/]/ },
  { pattern: '.ssh/', path: /(?:^|\/)\.ssh\/(?!.*(?:\.pub|known_hosts|authorized_keys)$)[^/]/ },
  { pattern: '.gnupg/', path: /(?:^|\/)\.gnupg\/[^/]/ },
];

/** `path`: with `/`, below the root. Case is ignored. */
export function riskyName(path: string): RiskyName | undefined {
  const lower = path.toLowerCase();
  const name = lower.slice(lower.lastIndexOf('/') + 1);
  return riskyNames.find((rule) => rule.path?.test(lower) === true || rule.name?.test(name) === true);
}

/** True for PEM text with nothing but certificates, public keys and parameters. */
export function isPublicPem(text: string): boolean {
  const labels = [...text.matchAll(/-----BEGIN ([^-\r\n]{1,64})-----/g)].map(([, label]) => label ?? '');
  return (
    labels.length > 0 &&
    labels.every(
      (label) => /CERTIFICATE|PUBLIC KEY|CRL|PARAMETERS|CMS|PKCS7/.test(label) && !label.includes('PRIVATE'),
    )
  );
}
