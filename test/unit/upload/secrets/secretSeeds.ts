import { generateKeyPairSync } from 'node:crypto';
import { tokenTable } from '../../../../src/core/upload/secrets/tokenTable.ts';

export interface Seed {
  readonly rule: string;
  readonly path: string;
  readonly content: string;
  /** The part that must never be shown. */
  readonly secret: string;
  /** True if a low line after the secret would be a part of it. */
  readonly mayHaveLowLine?: boolean;
}

const lower = 'abcdefghijklmnopqrstuvwxyz';
const upper = lower.toUpperCase();
const digit = '0123456789';
const hex = digit + 'abcdef';
const letters = lower + upper;
const alnum = letters + digit;

/** A seeded random generator. */
export function randomFrom(start: number): () => number {
  let state = start >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const pem = {
  pkcs8: privateKey('rsa', 'pkcs8'),
  pkcs1: privateKey('rsa', 'pkcs1'),
  ed25519: generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  encrypted: generateKeyPairSync('ec', { namedCurve: 'P-256' })
    .privateKey.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'invented' })
    .toString(),
};

function privateKey(kind: 'rsa', type: 'pkcs1' | 'pkcs8'): string {
  return generateKeyPairSync(kind, { modulusLength: 1024 })
    .privateKey.export({ type, format: 'pem' })
    .toString();
}

function from(random: () => number, alphabet: string, length: number): string {
  return Array.from({ length }, () => alphabet[Math.floor(random() * alphabet.length)]).join('');
}

export interface TableToken {
  readonly rule: string;
  readonly prefix: string;
  readonly rest: string;
  readonly mayHaveLowLine: boolean;
}

/** A token for every prefix of the table. */
export function tableTokens(random: () => number): TableToken[] {
  const ascii = Array.from({ length: 94 }, (_, at) => String.fromCharCode(33 + at));
  return tokenTable.flatMap(([rule, prefixes, characters, min]) => {
    const of = (source: string): string =>
      ascii.filter((each) => new RegExp(`[${source}]`).test(each)).join('');
    const last = of(characters.replaceAll(/[.=]/g, ''));
    return prefixes.split(' ').map((prefix) => ({
      rule,
      prefix,
      rest: from(random, of(characters), min - 1) + from(random, last, 1),
      mayHaveLowLine: of(characters).includes('_'),
    }));
  });
}

/** At least one credential of every supported kind. */
export function seeds(random: () => number): Seed[] {
  const of = (alphabet: string, length: number): string => from(random, alphabet, length);
  const made: Seed[] = [];
  const add = (rule: string, path: string, content: (secret: string) => string, secret: string): void => {
    made.push({ rule, path, content: content(secret), secret });
  };
  /** A token of the form `prefix` + body, in source code. */
  const token = (rule: string, prefix: string, body: string): void =>
    add(rule, `${rule}${made.length}.ts`, (secret) => `call("${prefix}${secret}");`, body);

  add(
    'aws-secret-access-key',
    'aws.txt',
    (secret) => `aws_secret_access_key = ${secret}`,
    of(alnum + '/+', 39) + 'a',
  );
  add('aws-secret-access-key', 'aws.json', (secret) => `{ "SecretAccessKey": "${secret}" }`, of(alnum, 40));
  add(
    'private-key',
    'service.json',
    (secret) =>
      JSON.stringify({ type: 'service_account', private_key_id: of(hex, 40), private_key: secret }, null, 2),
    pem.pkcs8,
  );
  add('private-key', 'key.txt', (secret) => secret, pem.pkcs1);
  add('private-key', 'chart.yaml', (secret) => `key: |\n${secret.replaceAll(/^/gm, '    ')}`, pem.pkcs8);
  token('npm-token', 'npm_', of(alnum, 36));
  add('secretlint/npm', 'app/.npmrc', (secret) => `//registry.npmjs.org/:_authToken=${secret}`, of(hex, 36));
  add(
    'secretlint/npm',
    'app/package.json',
    (secret) => `"x": "git+https://${secret}:x-oauth-basic@github.com/a/b"`,
    of(hex, 40),
  );
  add(
    'secretlint/basicauth',
    'proxy.ts',
    (secret) => `fetch("https://deploy:${secret}@git.invented.net/x")`,
    of(alnum, 16),
  );
  token('slack-token', 'xoxb-', `${of(digit, 12)}-${of(digit, 12)}-${of(alnum, 24)}`);
  token('slack-token', 'xapp-1-', `${of(upper, 11)}-${of(digit, 13)}-${of(hex, 40)}`);
  token(
    'slack-webhook',
    'https://hooks.slack.com/services/',
    `T${of(upper, 8)}/B${of(upper, 8)}/${of(alnum, 24)}`,
  );
  token('slack-token', 'xoxe.xoxp-1-', of(alnum, 163));
  token('slack-token', 'xoxe-1-', of(alnum, 146));
  token('slack-token', 'xoxs-', `${of(digit, 12)}-${of(digit, 12)}-${of(digit, 12)}-${of(hex, 10)}`);
  token('sendgrid-key', 'SG.', `a1B${of(alnum, 19)}.${of(alnum, 43)}`);
  for (const prefix of ['shpat', 'shpca', 'shppa', 'shpss'])
    token('shopify-token', `${prefix}_`, of(hex, 32));
  for (const prefix of ['sk_live', 'sk_test', 'rk_live', 'rk_test'])
    token('stripe-key', `${prefix}_`, of(alnum, 24));
  for (const prefix of ['ghp', 'gho', 'ghu', 'ghs', 'ghr'])
    token('github-token', `${prefix}_`, of(alnum, 36));
  token('github-token', 'github_pat_', of(alnum, 82));
  token('github-token', 'ghs_', `12345_${of(alnum, 36)}.${of(alnum, 200)}.${of(alnum, 86)}`);
  token('gitlab-token', 'glpat-', of(alnum, 20));
  token('grafana-token', 'glc_', of(alnum, 80));
  token('grafana-token', 'glsa_', `${of(alnum, 32)}_${of(hex, 8)}`);
  token('openai-key', 'sk-', `${of(alnum, 20)}T3BlbkFJ${of(alnum, 20)}`);
  for (const kind of ['proj', 'svcacct', 'admin'])
    token('openai-key', `sk-${kind}-`, `${of(alnum, 74)}T3BlbkFJ${of(alnum, 74)}`);
  token('anthropic-key', 'sk-ant-api03-', `${of(alnum, 93)}AA`);
  token('groq-key', 'gsk_', of(alnum, 52));
  token('huggingface-token', 'hf_', of(letters, 34));
  token('linear-key', 'lin_api_', of(alnum, 40));
  token('notion-token', 'ntn_', of(digit, 11) + of(alnum, 35));
  // 100 bytes, so that the last brace is encoded separately, as the rule expects.
  const account = `{"email":"a@b.invented","secretKey":"${of(upper, 61)}"}`;
  token('1password-token', 'ops_', Buffer.from(account).toString('base64'));
  for (const scheme of ['postgres', 'postgresql', 'mysql', 'mysqlx', 'jdbc:mysql', 'mongodb', 'mongodb+srv'])
    add(
      'secretlint/database-connection-string',
      `db${made.length}.ts`,
      (secret) => `connect("${scheme}://app:${secret}@db.invented.net/app")`,
      of(alnum, 14),
    );
  token('vault-token', 'hvs.', of(alnum, 95));
  token('vault-token', 'hvb.', of(alnum, 150));
  token('vault-token', 'hvr.', of(alnum, 95));
  for (const prefix of ['vcp', 'vci', 'vca', 'vcr', 'vck'])
    token('vercel-token', `${prefix}_`, of(alnum, 24));
  token('databricks-token', 'dapi', of(hex, 32));
  token('docker-token', 'dckr_pat_', of(alnum, 27));
  token('figma-token', 'figd_', of(alnum, 40));
  for (const prefix of ['cfk', 'cfut', 'cfat'])
    token('cloudflare-token', `${prefix}_`, of(alnum, 40) + of(hex, 8));
  for (const kind of ['api', 'auth', 'client', 'scim', 'webhook'])
    token('tailscale-key', `tskey-${kind}-`, `${of(alnum, 12)}-${of(alnum, 32)}`);

  add('aws-access-key-id', 'id.py', (secret) => `key = "AKIA${secret}"`, of(upper, 16));
  add('aws-access-key-id', 'session.md', (secret) => `like ASIA${secret}.`, of(upper, 16));
  add('private-key', 'ed25519.txt', (secret) => secret, pem.ed25519);
  add('private-key', 'encrypted.txt', (secret) => secret, pem.encrypted);
  add(
    'private-key',
    'lines.ts',
    (secret) =>
      secret
        .trim()
        .split('\n')
        .map((line) => `'${line}\\n' +`)
        .join('\n'),
    pem.pkcs8,
  );
  add(
    'private-key',
    'pgp.txt',
    (secret) => `-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n${secret}\n-----END PGP PRIVATE KEY BLOCK-----`,
    of(alnum, 64),
  );
  add('age-secret-key', 'age.txt', (secret) => `AGE-SECRET-KEY-1${secret}`, of(upper + digit, 58));
  add('google-api-key', 'maps.js', (secret) => `key: 'AIzaSy${secret}'`, of(alnum, 33));
  add('google-client-secret', 'oauth.js', (secret) => `'GOCSPX-${secret}'`, of(alnum, 28));
  add('pypi-token', 'upload.txt', (secret) => `pypi-AgE${secret}`, of(alnum, 120));
  for (const [at, { rule, prefix, rest, mayHaveLowLine }] of tableTokens(random).entries())
    made.push({
      rule,
      path: `table${at}.ts`,
      content: `call("${prefix}${rest}");`,
      secret: rest,
      mayHaveLowLine,
    });
  // In parts, so that no scanner reports this file.
  const own = {
    'airtable-token': ['pa' + 't', `${of(alnum, 14)}.${of(hex, 64)}`],
    'azure-client-secret': ['', `${of(alnum, 3)}8Q` + `~${of(alnum, 34)}`],
    'discord-token': ['', `MT${of(alnum, 20)}y7.${of(alnum, 6)}.${of(alnum, 38)}`],
    'facebook-token': ['', `${of('123456789', 15)}|${of(alnum, 27)}`],
    'harness-token': ['pa' + 't.', `${of(alnum, 22)}.${of(alnum, 24)}.${of(alnum, 20)}`],
    'json-web-token': ['ey' + 'J', `${of(alnum, 33)}.ey` + `J${of(alnum, 60)}.${of(alnum, 43)}`],
    'mailchimp-key': ['', `${of(hex, 32)}-us12`],
    'maxmind-key': ['', `${of(alnum, 6)}_${of(alnum, 29)}_mm` + 'k'],
    'telegram-token': ['', `${of('123456789', 10)}:A` + `A${of(alnum, 33)}`],
    'terraform-token': ['', `${of(alnum, 14)}.atlas` + `v1.${of(alnum, 67)}`],
  };
  for (const [rule, [prefix, body]] of Object.entries(own))
    for (const [form, content] of Object.entries({
      plain: (secret: string) => `see ${prefix}${secret} there`,
      quoted: (secret: string) => `call("${prefix}${secret}");`,
      assigned: (secret: string) => `VALUE=${prefix}${secret}`,
    }))
      add(rule, `${rule}-${form}.txt`, content, body ?? '');
  add('authorization', 'call.sh', (secret) => `-H "Authorization: Bearer ${secret}"`, `7${of(alnum, 30)}`);
  add('azure-account-key', 'azure.cs', (secret) => `"AccountName=a;AccountKey=${secret}=="`, of(alnum, 86));
  add('npmrc-auth', 'old/.npmrc', (secret) => `//npm.invented.net/:_password=${secret}`, of(alnum, 24));
  add(
    'connection-url',
    'queue.rb',
    (secret) => `Queue.new("amqps://app%20one:${secret}%40@mq.invented.net")`,
    of(alnum, 14),
  );
  add(
    'connection-url',
    'cache.go',
    (secret) => `redis.Dial("redis://:${secret}@10.0.0.7:6379")`,
    of(alnum, 14),
  );
  add('assignment', 'config/app.conf', (secret) => `DB_PASSWORD=${secret}`, `h7-${of(alnum, 12)}`);
  add('assignment', 'settings.py', (secret) => `DB_PASSWORD = '${secret}'`, `h7-${of(alnum, 12)}`);
  add(
    'assignment',
    'one-line.json',
    (secret) => `{"a":1,"db":{"user":"app","password":"${secret}"}}`,
    `h7!${of(alnum, 12)}`,
  );
  return made;
}
