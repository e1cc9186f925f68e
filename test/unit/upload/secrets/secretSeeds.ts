import { generateKeyPairSync } from 'node:crypto';

export interface Seed {
  readonly rule: string;
  readonly path: string;
  readonly content: string;
  /** The part that must never be shown. */
  readonly secret: string;
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

/** At least one credential of every supported kind. */
export function seeds(random: () => number): Seed[] {
  const from = (alphabet: string, length: number): string =>
    Array.from({ length }, () => alphabet[Math.floor(random() * alphabet.length)]).join('');
  const made: Seed[] = [];
  const add = (rule: string, path: string, content: (secret: string) => string, secret: string): void => {
    made.push({ rule, path, content: content(secret), secret });
  };
  /** A token of the form `prefix` + body, in source code. */
  const token = (rule: string, prefix: string, body: string): void =>
    add(`secretlint/${rule}`, `${rule}${made.length}.ts`, (secret) => `call("${prefix}${secret}");`, body);

  add(
    'secretlint/aws',
    'aws.txt',
    (secret) => `aws_secret_access_key = ${secret}`,
    from(alnum + '/+', 39) + 'a',
  );
  add('secretlint/aws', 'aws.json', (secret) => `{ "SecretAccessKey": "${secret}" }`, from(alnum, 40));
  add(
    'secretlint/gcp',
    'service.json',
    (secret) =>
      JSON.stringify(
        { type: 'service_account', private_key_id: from(hex, 40), private_key: secret },
        null,
        2,
      ),
    pem.pkcs8,
  );
  add('secretlint/privatekey', 'key.txt', (secret) => secret, pem.pkcs1);
  add(
    'secretlint/privatekey',
    'chart.yaml',
    (secret) => `key: |\n${secret.replaceAll(/^/gm, '    ')}`,
    pem.pkcs8,
  );
  token('npm', 'npm_', from(alnum, 36));
  add(
    'secretlint/npm',
    'app/.npmrc',
    (secret) => `//registry.npmjs.org/:_authToken=${secret}`,
    from(hex, 36),
  );
  add(
    'secretlint/npm',
    'app/package.json',
    (secret) => `"x": "git+https://${secret}:x-oauth-basic@github.com/a/b"`,
    from(hex, 40),
  );
  add(
    'secretlint/basicauth',
    'proxy.ts',
    (secret) => `fetch("https://deploy:${secret}@git.invented.net/x")`,
    from(alnum, 16),
  );
  token('slack', 'xoxb-', `${from(digit, 12)}-${from(digit, 12)}-${from(alnum, 24)}`);
  token('slack', 'xapp-1-', `${from(upper, 11)}-${from(digit, 13)}-${from(hex, 40)}`);
  token(
    'slack',
    'https://hooks.slack.com/services/',
    `T${from(upper, 8)}/B${from(upper, 8)}/${from(alnum, 24)}`,
  );
  token('sendgrid', 'SG.', `a1B${from(alnum, 19)}.${from(alnum, 43)}`);
  for (const prefix of ['shpat', 'shpca', 'shppa', 'shpss']) token('shopify', `${prefix}_`, from(hex, 32));
  for (const prefix of ['sk_live', 'sk_test', 'rk_live', 'rk_test'])
    token('stripe', `${prefix}_`, from(alnum, 24));
  for (const prefix of ['ghp', 'gho', 'ghu', 'ghs', 'ghr']) token('github', `${prefix}_`, from(alnum, 36));
  token('github', 'github_pat_', from(alnum, 82));
  token('github', 'ghs_', `12345_${from(alnum, 36)}.${from(alnum, 200)}.${from(alnum, 86)}`);
  token('gitlab', 'glpat-', from(alnum, 20));
  token('grafana', 'glc_', from(alnum, 80));
  token('grafana', 'glsa_', `${from(alnum, 32)}_${from(hex, 8)}`);
  token('openai', 'sk-', `${from(alnum, 20)}T3BlbkFJ${from(alnum, 20)}`);
  for (const kind of ['proj', 'svcacct', 'admin'])
    token('openai', `sk-${kind}-`, `${from(alnum, 74)}T3BlbkFJ${from(alnum, 74)}`);
  token('anthropic', 'sk-ant-api03-', `${from(alnum, 93)}AA`);
  token('groq', 'gsk_', from(alnum, 52));
  token('huggingface', 'hf_', from(letters, 34));
  token('linear', 'lin_api_', from(alnum, 40));
  token('notion', 'ntn_', from(digit, 11) + from(alnum, 35));
  // 100 bytes, so that the last brace is encoded separately, as the rule expects.
  const account = `{"email":"a@b.invented","secretKey":"${from(upper, 61)}"}`;
  token('1password', 'ops_', Buffer.from(account).toString('base64'));
  for (const scheme of ['postgres', 'postgresql', 'mysql', 'mysqlx', 'jdbc:mysql', 'mongodb', 'mongodb+srv'])
    add(
      'secretlint/database-connection-string',
      `db${made.length}.ts`,
      (secret) => `connect("${scheme}://app:${secret}@db.invented.net/app")`,
      from(alnum, 14),
    );
  token('hashicorp-vault', 'hvs.', from(alnum, 95));
  token('hashicorp-vault', 'hvb.', from(alnum, 150));
  token('hashicorp-vault', 'hvr.', from(alnum, 95));
  for (const prefix of ['vcp', 'vci', 'vca', 'vcr', 'vck']) token('vercel', `${prefix}_`, from(alnum, 24));
  token('databricks', 'dapi', from(hex, 32));
  token('docker', 'dckr_pat_', from(alnum, 27));
  token('figma', 'figd_', from(alnum, 40));
  for (const prefix of ['cfk', 'cfut', 'cfat'])
    token('cloudflare', `${prefix}_`, from(alnum, 40) + from(hex, 8));
  for (const kind of ['api', 'auth', 'client', 'scim', 'webhook'])
    token('tailscale', `tskey-${kind}-`, `${from(alnum, 12)}-${from(alnum, 32)}`);

  add('aws-access-key-id', 'id.py', (secret) => `key = "AKIA${secret}"`, from(upper, 16));
  add('aws-access-key-id', 'session.md', (secret) => `like ASIA${secret}.`, from(upper, 16));
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
    from(alnum, 64),
  );
  add('age-secret-key', 'age.txt', (secret) => `AGE-SECRET-KEY-1${secret}`, from(upper, 58));
  add('google-api-key', 'maps.js', (secret) => `key: 'AIza${secret}'`, from(alnum, 35));
  add('google-client-secret', 'oauth.js', (secret) => `'GOCSPX-${secret}'`, from(alnum, 28));
  add('pypi-token', 'upload.txt', (secret) => `pypi-AgE${secret}`, from(alnum, 120));
  // In parts, so that no scanner reports this file.
  const own = {
    'atlassian-token': ['ATATT' + '3', from(alnum, 186)],
    'azure-client-secret': ['', `${from(alnum, 3)}8Q` + `~${from(alnum, 34)}`],
    'digitalocean-token': ['dop_' + 'v1_', from(hex, 64)],
    'discord-token': ['', `MT${from(alnum, 20)}y7.${from(alnum, 6)}.${from(alnum, 38)}`],
    'json-web-token': ['ey' + 'J', `${from(alnum, 33)}.ey` + `J${from(alnum, 60)}.${from(alnum, 43)}`],
    'mailgun-key': ['key' + '-', `7${from(hex, 31)}`],
    'postman-key': ['PMA' + 'K-', `${from(hex, 24)}-${from(hex, 34)}`],
    'telegram-token': ['', `${from('123456789', 10)}:A` + `A${from(alnum, 33)}`],
    'terraform-token': ['', `${from(alnum, 14)}.atlas` + `v1.${from(alnum, 67)}`],
    'twilio-key': ['S' + 'K', from(hex, 32)],
  };
  for (const [rule, [prefix, body]] of Object.entries(own))
    for (const [form, content] of Object.entries({
      plain: (secret: string) => `see ${prefix}${secret} there`,
      quoted: (secret: string) => `call("${prefix}${secret}");`,
      assigned: (secret: string) => `VALUE=${prefix}${secret}`,
    }))
      add(rule, `${rule}-${form}.txt`, content, body ?? '');
  add('azure-account-key', 'azure.cs', (secret) => `"AccountName=a;AccountKey=${secret}=="`, from(alnum, 86));
  add('npmrc-auth', 'old/.npmrc', (secret) => `//npm.invented.net/:_password=${secret}`, from(alnum, 24));
  add(
    'connection-url',
    'queue.rb',
    (secret) => `Queue.new("amqps://app%20one:${secret}%40@mq.invented.net")`,
    from(alnum, 14),
  );
  add(
    'connection-url',
    'cache.go',
    (secret) => `redis.Dial("redis://:${secret}@10.0.0.7:6379")`,
    from(alnum, 14),
  );
  add('assignment', 'config/app.conf', (secret) => `DB_PASSWORD=${secret}`, `h7-${from(alnum, 12)}`);
  add('assignment', 'settings.py', (secret) => `DB_PASSWORD = '${secret}'`, `h7-${from(alnum, 12)}`);
  add(
    'assignment',
    'one-line.json',
    (secret) => `{"a":1,"db":{"user":"app","password":"${secret}"}}`,
    `h7!${from(alnum, 12)}`,
  );
  return made;
}
