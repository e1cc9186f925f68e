import { maskToken } from './maskSecret.ts';

/** Something in a text that looks like a credential. */
export interface Match {
  readonly rule: string;
  /** Where it starts, in units of the text. */
  readonly index: number;
  readonly masked: string;
  /** What `masked` would be if another rule had found the same secret by its form. */
  readonly alias?: string;
}

interface TokenRule {
  readonly rule: string;
  readonly pattern: RegExp;
  /** Only in files of such a name. */
  readonly file?: RegExp;
  readonly accept?: (match: string, text: string, end: number) => boolean;
  readonly mask?: (match: string) => Pick<Match, 'masked' | 'alias'>;
}

// What secretlint's recommended preset does not look for.
const rules: readonly TokenRule[] = [
  {
    rule: 'aws-access-key-id',
    pattern: /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g,
    // The keys of AWS's own documentation end so.
    accept: (match) => !match.endsWith('EXAMPLE'),
  },
  {
    // Encrypted, PGP and Ed25519 keys, and those that stand in source code line by line.
    rule: 'private-key',
    pattern: /-----BEGIN (?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)?-----/g,
    accept: (_match, text, end) => /[A-Za-z0-9+/]{40}/.test(text.slice(end, end + 600)),
  },
  { rule: 'age-secret-key', pattern: /\bAGE-SECRET-KEY-1[0-9A-Z]{58}\b/g },
  { rule: 'google-api-key', pattern: /\bAIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])/g },
  { rule: 'google-client-secret', pattern: /\bGOCSPX-[A-Za-z0-9_-]{28}(?![A-Za-z0-9_-])/g },
  { rule: 'pypi-token', pattern: /\bpypi-AgE[A-Za-z0-9_-]{50,250}/g },
  { rule: 'azure-account-key', pattern: /\bAccountKey=[A-Za-z0-9+/]{86}==/g },
  {
    rule: 'npmrc-auth',
    file: /npmrc$/i,
    mask: maskNpmrc,
    pattern:
      /^\/\/[^\s=]{1,256}:_(?:authToken|auth|password)[ \t]*=[ \t]*[^\s$][^\r\n]{3,256}|^_(?:auth|password)[ \t]*=[ \t]*[^\s$][^\r\n]{3,256}/gm,
  },
  {
    rule: 'connection-url',
    pattern:
      /\b(?:rediss?|amqps?|mssql|sqlserver|mariadb|oracle|ldaps?|smtps?|sftp|clickhouse|cassandra|nats|kafka):\/\/(?:[^\s:@/'"`<>{}$%]|%[0-9A-F]{2}){0,100}:(?:[^\s@/'"`<>{}$%]|%[0-9A-F]{2}){4,200}@[A-Za-z0-9[]/gi,
    accept: (match) => !isSampleLogin(match),
  },
];

/** Finds tokens that secretlint's recommended preset misses, wherever they stand. */
export function findTokens(text: string, path: string): Match[] {
  const found: Match[] = [];
  for (const { rule, pattern, file, accept, mask } of rules) {
    if (file?.test(path) === false) continue;
    for (const match of text.matchAll(pattern)) {
      const [all] = match;
      if (accept?.(all, text, match.index + all.length) === false) continue;
      found.push({ rule, index: match.index, ...(mask ?? maskWhole)(all) });
    }
  }
  return found;
}

function isSampleLogin(url: string): boolean {
  const [, user = '', password = ''] = /:\/\/([^:]*):(.*)@/.exec(url) ?? [];
  return (
    user === password ||
    /^(?:pass(?:word|wd)?|secret|guest|admin|root|test|example|changeme|x+)$/i.test(password)
  );
}

function maskWhole(match: string): Pick<Match, 'masked'> {
  return { masked: maskToken(match) };
}

function maskNpmrc(line: string): Pick<Match, 'masked' | 'alias'> {
  const at = line.indexOf('=');
  const name = /_\w+$/.exec(line.slice(0, at).trimEnd())?.[0] ?? '';
  return { masked: `${name}=…`, alias: maskToken(line.slice(at + 1).trim()) };
}
