import { generateKeyPairSync } from 'node:crypto';
import { tokenTable } from '../../../../src/core/upload/secrets/tokenTable.ts';

export interface Seed {
  readonly rule: string;
  readonly path: string;
  readonly content: string;
  /** This part must never be shown. */
  readonly secret: string;
  /** Is true if a low line after the secret would be a part of it. */
  readonly mayHaveLowLine: boolean;
}

const upper = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
const digit = '0123456789';
const hex = digit + 'abcdef';
const lower = upper.toLowerCase();
const alnum = lower + upper + digit;

const { privateKey: rsa } = generateKeyPairSync('rsa', { modulusLength: 1024 });
const ed25519 = generateKeyPairSync('ed25519').privateKey;
const pkcs8 = { type: 'pkcs8', format: 'pem' } as const;
const pem = {
  pkcs8: String(rsa.export(pkcs8)),
  pkcs1: String(rsa.export({ type: 'pkcs1', format: 'pem' })),
  ed25519: String(ed25519.export(pkcs8)),
  encrypted: String(ed25519.export({ ...pkcs8, cipher: 'aes-256-cbc', passphrase: 'invented' })),
};

function from(random: () => number, alphabet: string, length: number): string {
  return Array.from({ length }, () => alphabet[Math.floor(random() * alphabet.length)]).join('');
}

export interface TableToken {
  readonly rule: string;
  readonly prefix: string;
  readonly rest: string;
  readonly mayHaveLowLine: boolean;
}

/** Every prefix of the table has a token. */
export function tableTokens(random: () => number): TableToken[] {
  const ascii = Array.from({ length: 94 }, (_, at) => String.fromCharCode(33 + at));
  return tokenTable.flatMap(({ rule, prefixes, characters, min }) => {
    const of = (source: string): string =>
      ascii.filter((each) => new RegExp(`[${source}]`).test(each)).join('');
    const last = of(characters.replaceAll(/[.=]/g, ''));
    return prefixes.map((prefix) => ({
      rule,
      prefix,
      rest: from(random, of(characters), min - 1) + from(random, last, 1),
      mayHaveLowLine: of(characters).includes('_'),
    }));
  });
}

/** The alphabet of these kinds of `tokenRules` has the low line. */
const withLowLine =
  /^(?:sendgrid|azure-client|discord|telegram|yandex|facebook|maxmind|mailchimp|authorization|json-web|salesforce|authress|resend)-/;

/**
 * There is a credential of every supported kind: a token for each prefix of the table, and others.
 */
export function seeds(random: () => number): Seed[] {
  const of = (alphabet: string, length: number): string => from(random, alphabet, length);
  const made: Seed[] = [];
  const add = (rule: string, path: string, before: string, secret: string, after = ''): void => {
    const content = before + secret + after;
    made.push({ rule, path, content, secret, mayHaveLowLine: withLowLine.test(rule) });
  };
  /** The token has a public part, in source code. */
  const token = (rule: string, prefix: string, body: string): void =>
    add(rule, `${rule}${made.length}.ts`, `call("${prefix}`, body, '");');
  /** The token is in parts, so that no scanner reports this file, and in three contexts. */
  const own = (rule: string, prefix: string, ...parts: readonly string[]): void => {
    const body = parts.join('');
    add(rule, `${rule}${made.length}-plain.txt`, `see ${prefix}`, body, ' there');
    add(rule, `${rule}${made.length}-quoted.txt`, `call("${prefix}`, body, '");');
    add(rule, `${rule}${made.length}-assigned.txt`, `VALUE=${prefix}`, body);
  };

  add('aws-secret-access-key', 'aws.txt', 'aws_secret_access_key = ', `${of(alnum + '/+', 39)}a`);
  add('aws-secret-access-key', 'aws.json', '{ "SecretAccessKey": "', of(alnum, 40), '" }');
  add('aws-access-key-id', 'id.py', 'key = "AKIA', of(upper, 16), '"');
  add('aws-access-key-id', 'session.md', 'like ASIA', of(upper, 16), '.');
  const inJson = JSON.stringify(pem.pkcs8).slice(1, -1);
  made.push({ rule: 'private-key', path: 'service.json', content: `{ "type": "service_account", "private_key": "${inJson}" }`, secret: pem.pkcs8, mayHaveLowLine: false }); // prettier-ignore
  const keyFile = JSON.stringify({ type: 'service_account', private_key: pem.pkcs8 }, null, 2);
  for (const text of [pem.pkcs1, pem.ed25519, keyFile, JSON.stringify(JSON.parse(keyFile))])
    add('private-key', `base64-${made.length}.ts`, 'atob("', Buffer.from(text).toString('base64'), '");');
  add('private-key', 'key.txt', '', pem.pkcs1);
  add('private-key', 'ed25519.txt', '', pem.ed25519);
  add('private-key', 'encrypted.txt', '', pem.encrypted);
  const inYaml = pem.pkcs8.replaceAll(/^/gm, '    ');
  const inCode = pem.pkcs8.trim().replaceAll(/^.*$/gm, "'$&\\n' +");
  for (const [path, content] of Object.entries({ 'chart.yaml': `key: |\n${inYaml}`, 'lines.ts': inCode }))
    made.push({ rule: 'private-key', path, content, secret: pem.pkcs8, mayHaveLowLine: false });
  const pgp = 'PGP PRIVATE KEY BLOCK-----';
  add('private-key', 'pgp.txt', `-----BEGIN ${pgp}\n\n`, of(alnum, 64), `\n-----END ${pgp}`);
  add('assignment', 'app/.npmrc', '//registry.npmjs.org/:_authToken=', of(hex, 36));
  add('assignment', 'old/.npmrc', '//npm.invented.net/:_password=', of(alnum, 24));
  add('connection-url', 'app/package.json', '"x": "git+https://', of(hex, 40), ':x-oauth-basic@github.com/a/b"'); // prettier-ignore
  add('connection-url', 'proxy.ts', 'fetch("https://deploy:', of(alnum, 16), '@git.invented.net/x")');
  add('connection-url', 'queue.rb', 'Queue.new("amqps://app%20one:', of(alnum, 14), '%40@mq.invented.net")');
  add('connection-url', 'cache.go', 'redis.Dial("redis://:', of(alnum, 14), '@10.0.0.7:6379")');
  for (const scheme of ['postgres', 'postgresql', 'mysql', 'mysqlx', 'jdbc:mysql', 'mongodb', 'mongodb+srv'])
    add('connection-url', `db${made.length}.ts`, `connect("${scheme}://app:`, of(alnum, 14), '@db.invented.net/app")'); // prettier-ignore
  token('slack-token', 'xoxb-', `${of(digit, 12)}-${of(digit, 12)}-${of(alnum, 24)}`);
  token('slack-token', 'xapp-1-', `${of(upper, 11)}-${of(digit, 13)}-${of(hex, 40)}`);
  token('slack-token', 'xoxe.xoxp-1-', of(alnum, 163));
  token('slack-token', 'xoxe-1-', of(alnum, 146));
  token('slack-token', 'xoxs-', `${of(digit, 12)}-${of(digit, 12)}-${of(digit, 12)}-${of(hex, 10)}`);
  token('sendgrid-key', 'SG.', `a1B${of(alnum, 19)}.${of(alnum, 43)}`);
  for (const [at, { rule, prefix, rest, mayHaveLowLine }] of tableTokens(random).entries())
    made.push({ rule, path: `table${at}.ts`, content: `call("${prefix}${rest}");`, secret: rest, mayHaveLowLine }); // prettier-ignore
  own('airtable-token', 'pa' + 't', of(alnum, 14), '.', of(hex, 64));
  own('azure-client-secret', '', of(alnum, 3), '8Q', '~', of(alnum, 34));
  own('discord-token', '', 'MT', of(alnum, 20), 'y7.', of(alnum, 6), '.', of(alnum, 38));
  own('facebook-token', '', of('123456789', 15), '|', of(alnum, 27));
  own('harness-token', 'pa' + 't.', of(alnum, 22), '.', of(alnum, 24), '.', of(alnum, 20));
  own('json-web-token', 'ey' + 'J', of(alnum, 33), '.ey', 'J', of(alnum, 60), '.', of(alnum, 43));
  own('mailchimp-key', '', of(hex, 32), '-us12');
  own('maxmind-key', '', of(alnum, 6), '_', of(alnum, 29), '_mm', 'k');
  own('yandex-token', 't1', '.', of(alnum, 20), '.', of(alnum, 86));
  own('telegram-token', '', of('123456789', 10), ':A', 'A', of(alnum, 33));
  own('asana-token', '', '1/', of('123456789', 16), ':', of(hex, 32));
  own(
    'authress-key',
    'sc' + '_',
    of(lower, 12),
    '.',
    of(lower, 5),
    '.acc_',
    of(lower, 12),
    '.',
    of(alnum, 40),
  );
  own('azure-key', '', of(alnum, 52), 'JQQ' + 'J99', of(alnum, 26));
  own('azure-key', '', of(alnum, 42), 'Az' + 'Se', of(alnum, 6));
  own('newrelic-license', '', of(hex, 36), 'NR' + 'AL');
  own('rapidapi-key', '', of(hex, 10), 'ms' + 'h', of(hex, 15), 'p1', of(hex, 6), 'js' + 'n', of(hex, 12));
  own('resend-key', 're' + '_', of(alnum, 8), '_', of(alnum, 24));
  own('salesforce-token', '00' + 'D', of(alnum, 12), '!', of(alnum, 96));
  own('twitch-key', 'live' + '_', of('123456789', 10), '_', of(alnum, 30));
  own('terraform-token', '', of(alnum, 14), '.atlas', 'v1.', of(alnum, 67));
  add('authorization', 'call.sh', '-H "Authorization: Bearer ', `7${of(alnum, 30)}`, '"');
  add('authorization', 'header.sh', "curl -H 'X-Api-Key: ", `7${of(alnum, 30)}`, "'");
  add('authorization', 'bare.sh', 'curl --header "Authorization:', `7${of(alnum, 30)}`, '"');
  for (const [before, after] of [['-u app:', ''], ['--user "', ':"']]) // prettier-ignore
    add('curl-login', `login${made.length}.md`, `$ curl ${before}`, `h7-${of(alnum, 14)}`, `${after} https://invented.net`); // prettier-ignore
  add('bundler-login', '.bundle/config', 'BUNDLE_GEMS__INVENTED__NET: "app:', of(alnum, 14), '"');
  add('bundler-login', 'gems.sh', 'export BUNDLE_GEMS__INVENTED__NET=app:', of(alnum, 14));
  add('azure-connection', 'azure.cs', '"AccountName=a;AccountKey=', of(alnum, 86), '=="');
  add('assignment', 'config/app.conf', 'DB_PASSWORD=', `h7-${of(alnum, 12)}`);
  add('assignment', 'settings.py', "DB_PASSWORD = '", `h7-${of(alnum, 12)}`, "'");
  add('assignment', 'one-line.json', '{"a":1,"db":{"user":"app","password":"', `h7!${of(alnum, 12)}`, '"}}');
  return made;
}
