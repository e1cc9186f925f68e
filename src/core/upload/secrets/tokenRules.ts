import { isExpression, looksRandom } from './literal.ts';
import { isExample, isPattern } from './placeholders.ts';
import { tableTokens, tokenPrefixes } from './tokenTable.ts';

export interface Match {
  readonly rule: string;
  readonly index: number;
  /** Never shown, saved, or sent. */
  readonly secret: string;
  readonly name?: string | undefined;
}

interface TokenRule {
  readonly rule: string;
  /**
   * The secret is the group `secret`, or else the match with the group `start` before it. The group
   * `name` is the option or setting to which the secret is assigned. `start` is in a lookbehind,
   * because many words and numbers look like it: a search that begins with it would be slow.
   */
  readonly pattern: RegExp;
  /** The default accepts all but examples. */
  readonly accept?: (secret: string, text: string, end: number) => boolean;
  readonly remainder?: RegExp;
}

// These tokens have more structure than a prefix and a character set, so `tokenTable` can't
// describe them. The patterns have no `\b`, which would miss a token next to a letter or `_`.
const patterns: Readonly<Record<string, RegExp>> = {
  'aws-access-key-id': /(?<![A-Za-z0-9+/]{12})(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Z0-9])/g,
  'aws-secret-access-key':
    /secret_?access_?key(?:_\w{0,20})?["']?\s{0,5}(?:=>?|:)\s{0,5}["']?(?<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])/gi,
  'azure-client-secret': /[\w~.-]{3}\dQ~[\w~.-]{31,34}(?![\w~-]|\.[\w~.-])/g,
  'azure-connection':
    /(?:AccountKey|SharedAccessKey|SharedSecretValue|\.azconfig\.io;Id=[^\s;]{1,80};Secret)\w{0,20}=[A-Za-z0-9+/]{35,90}={1,2}/g,
  // The four characters before the last six to eight name the service. In a newer key, `JQQJ9`
  // follows the first 52 characters instead.
  'azure-key':
    /(?<=(?<start>[A-Za-z0-9+/]{33,76}))(?:JQQJ9[9DH][A-Za-z0-9]{26,28}|(?:\+A(?:St|Ba|Sb|Eh|Rm|CR|MC)|A(?:CDb|IoT|PIM|zFu|zSe|zCa|ZDO))[A-Za-z0-9+/]{4,6})={0,2}(?![A-Za-z0-9+/=])/g,
  'slack-token':
    /xox[a-z](?:\.xox[a-z])?-(?=[\d-]{1,60}[A-Za-z])(?:\d-)?(?:\d{6,14}-[A-Za-z0-9-]{17,100}[A-Za-z0-9](?!-)|[A-Za-z0-9]{100,250})(?![A-Za-z0-9])|xapp-\d{1,12}-[A-Za-z0-9/+-]{24,160}/g,
  'yandex-token': /t1\.[\w-]{4,200}={0,2}\.[\w-]{86}(?![\w-])/g,
  'sendgrid-key': /SG\.[\w-]{20,24}\.[\w-]{39,50}(?![\w-])/g,
  'mailchimp-key': /(?<=(?<start>[0-9a-f]{32}))-us\d{1,2}(?!\w)/g,
  'newrelic-license': /(?<=(?<start>[0-9a-z]{6}[0-9a-fF]{30}))NRAL(?![A-Za-z0-9])/g,
  'airtable-token': /pat[A-Za-z0-9]{14}\.[0-9a-f]{64}(?![0-9a-f])/g,
  'harness-token': /[ps]at\.[\w-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}(?![A-Za-z0-9])/g,
  'maxmind-key': /(?<=(?<start>[A-Za-z0-9]{6}_[A-Za-z0-9]{29}))_mmk(?![A-Za-z0-9])/g,
  'facebook-token': /(?<!\d)\d{15,16}\|[\w-]{27}(?![\w-])/g,
  'telegram-token': /(?<=(?<start>(?<!\d)\d{8,10})):AA[\w-]{33}(?![\w-])/g,
  'asana-token': /(?<!\d)[12]\/\d{15,17}(?:\/\d{15,17})?:[0-9a-f]{32}(?![0-9a-f])/g,
  'twitch-key': /live_\d{7,12}_[A-Za-z0-9]{28,32}(?![A-Za-z0-9])/g,
  'rapidapi-key': /(?<=(?<start>[0-9a-f]{10}))msh[0-9a-f]{15}p1[0-9a-f]{5,6}jsn[0-9a-f]{12}/g,
  'authress-key':
    /(?:sc|ext|scauth|authress)_[a-z0-9]{5,30}\.[a-z0-9]{4,6}\.acc[_-][a-z0-9-]{10,32}\.[\w+/=-]{30,120}/gi,
  'resend-key': /re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}(?![A-Za-z0-9_])/g,
  'salesforce-token': /00D[A-Za-z0-9]{12}![\w.]{80,260}/g,
  'terraform-token': /(?<=(?<start>[A-Za-z0-9]{14,60}))\.atlasv1\.[\w=-]{60,70}(?![\w=-])/g,
};

const tokenRules: readonly TokenRule[] = [
  ...Object.entries(patterns).map(([rule, pattern]) => ({ rule, pattern })),
  {
    // Encrypted, PGP, and Ed25519 keys count, too, as do keys quoted line by line in source code.
    rule: 'private-key',
    pattern: /-----BEGIN (?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)?-----/g,
    accept: (_key, text, end) => isKeyBody(text.slice(end, end + 600)),
    // The match extends to the key's end, or to the end of a quoted part of the key.
    remainder: /[^]{0,10000}?-----END [A-Z0-9 ]{1,40}-----|(?:(?:\\[rn]|[\s"',])*[A-Za-z0-9+/=]{20,100})*/y,
  },
  {
    // This is a private key, or JSON that has one, in Base64.
    rule: 'private-key',
    pattern:
      /(?:LS0tLS1CRUdJTi|ey[AIJ]|ewo|ew0K)[A-Za-z0-9+/]{30,12000}(?:\s{1,20}[A-Za-z0-9+/]{30,12000}){0,300}={0,2}/g,
    accept: (base64) => keyInBase64.test(Buffer.from(base64, 'base64').toString('latin1')),
  },
  {
    rule: 'discord-token',
    pattern: /[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,38}(?![\w-])/g,
    accept: (token) => /\d/.test(token) && /[a-z]/.test(token) && /[A-Z]/.test(token.slice(1)),
  },
  {
    rule: 'json-web-token',
    pattern: /eyJ[\w-]{8,1000}\.eyJ[\w-]{8,4000}\.[\w-]{16,1000}(?![\w-])/g,
    accept: (token, text, end) =>
      !sampleSignatures.test(token) && !signedPicture.test(text.slice(0, end - token.length).slice(-500)),
  },
  {
    rule: 'authorization',
    pattern:
      /authorization["']?[ \t]{0,5}[:=][ \t]{0,5}["']?(?:Basic|Bearer|Token|Api-Token|SSWS)[ \t]{1,5}(?<secret>[\w~+/=.-]{20,2000})/gi,
    accept: isNoWord,
  },
  {
    rule: 'authorization',
    pattern:
      /(?:-H|--header)[ \t=]{1,5}["'](?!x-csrf)(?:[\w-]{0,40}(?:key|token)|authorization):[ \t]{0,5}(?<secret>[\w=~@.+/-]{8,2000})(?=["'])/gi,
    accept: isNoWord,
  },
  {
    rule: 'curl-login',
    pattern:
      /(?<name>-u|--user)[ \t=]{1,5}["']?(?<secret>[^\s:"']{0,100}["']?:(?:["']?[^\s/"'][^\s"']{2,200}|(?=["'])))/g,
    accept: (secret, text, end) =>
      curlBefore.test(text.slice(Math.max(0, end - 1000), end)) && !isSampleLogin(secret),
  },
  {
    rule: 'bundler-login',
    pattern:
      /(?<name>BUNDLE_[A-Z0-9_]{1,100})["']?[ \t]{0,5}[:=][ \t]{0,5}["']?(?<secret>[^\s:"']{1,100}:[^\s/"'][^\s"']{2,200})/g,
    accept: (secret) => !isSampleLogin(secret),
  },
  {
    // The digest of a container image (`name@sha256:…`) isn't a host.
    rule: 'connection-url',
    pattern:
      /(?<=(?<start>[a-z][a-z0-9+.-]{0,30})):\/\/(?:[^\s:@/'"`<>{}$%]|%[0-9A-F]{2}){0,100}:(?:[^\s@/'"`<>{}$%]|%[0-9A-F]{2}|\$){4,200}@(?!sha\d)[A-Za-z0-9[]/gi,
    accept: (url) => !isSampleLogin(url.slice(url.indexOf('://') + 3, url.lastIndexOf('@'))),
  },
];

/**
 * Expects up to 600 characters after a header. A sample in a manual has dots in place of most of
 * the key.
 */
function isKeyBody(behind: string): boolean {
  const [body = '', end] = behind.split('-----', 2);
  return /[A-Za-z0-9+/]{40}/.test(body) && !(end !== undefined && /\.{3}|…/.test(body));
}

const keyInBase64 = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY/;

const curlBefore = /\bcurl\b(?:[^\n]|\\\r?\n)*$/;

/** These are the signatures of the tokens that jwt.io shows. */
const sampleSignatures =
  /\.(?:SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c|TJVA95OrM7E2cBab30RMHrHDcEfxjoYZgeFONFh7HgQ)$/;
/** The token in the link to a picture that was pasted into an issue expires within minutes. */
const signedPicture = /\.(?:png|jpe?g|gif|webp|svg|mp4|mov)\?[^\s"'<>()]*$/i;

export function findTokens(text: string): Match[] {
  const found: Match[] = [];
  for (const { rule, index, prefix, remainder } of tableTokens(text))
    if (isNoWord(remainder)) found.push({ rule, index, secret: prefix + remainder });
  for (const { rule, pattern, accept = isNoExample, remainder } of tokenRules) {
    for (const match of text.matchAll(pattern)) {
      const { start = '', name, secret = start + match[0] } = match.groups ?? {};
      const end = match.index + match[0].length;
      if (!accept(secret, text, end)) continue;
      if (remainder !== undefined) remainder.lastIndex = end;
      const all = secret + (remainder?.exec(text)?.[0] ?? '');
      found.push({ rule, index: match.index - start.length, secret: all, name });
    }
  }
  return found;
}

function isNoWord(value: string): boolean {
  return (/\d/.test(value) || (/[a-z]/.test(value) && /[A-Z]/.test(value))) && !isExample(value);
}

function isNoExample(token: string): boolean {
  return !isExample(token.slice(publicPartOf(token).length));
}

export function isExampleToken(value: string): boolean {
  return publicPartOf(value) !== '' && !isNoExample(value);
}

/** A user name that looks random may be the secret, as in `curl -u "<token>:"`. */
function isSampleLogin(login: string): boolean {
  const [, user = '', password = ''] = /^([^:]*):(.*)$/.exec(login.replaceAll(/["']/g, '')) ?? [];
  if (user === password || /^[<[]|\$[A-Z_]/.test(password) || isExpression(password)) return true;
  const isSample = /\d/.test(password) && /[a-z]/i.test(password) ? isPattern(password) : isExample(password);
  return isSample && !looksRandom(user);
}

const publicPart = new RegExp(
  [
    '[A-Za-z][A-Za-z0-9+.-]{1,20}(?::[a-z0-9+.-]{1,20})?://',
    '-----BEGIN [A-Z0-9 ]{0,40}-----',
    tokenPrefixes,
    'AccountKey\\w{0,20}=|LS0tLS1CRUdJTi|AKIA|ASIA|ABIA|ACCA|xox[a-z][.-]|xapp-|SG\\.|eyJ',
  ].join('|'),
  'y',
);

function publicPartOf(token: string): string {
  publicPart.lastIndex = 0;
  return publicPart.exec(token)?.[0] ?? '';
}

/**
 * With a non-public part of at least this length, a token's last two characters identify it to its
 * owner, and are useless to others.
 */
const minTailLength = 20;

/**
 * Shows the public part of a token, and at most two characters of the rest (`ghp_…a1`,
 * `postgres://…`).
 */
export function maskToken(token: string): string {
  const shown = publicPartOf(token);
  const isLong = token.length - shown.length >= minTailLength && !/\/$|^-/.test(shown);
  // Padding (`=`) at the end of Base64 identifies nothing, so it isn't shown.
  const [tail = ''] = (isLong && /[A-Za-z0-9]{2}$/.exec(token)) || [];
  return `${shown}…${tail}`;
}

/** Shows only the last part of a name, because another secret may precede the dot. */
export function maskMatch({ secret, name }: Pick<Match, 'secret' | 'name'>): string {
  return name === undefined ? maskToken(secret) : `${name.slice(name.lastIndexOf('.') + 1)}=…`;
}
