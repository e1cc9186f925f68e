import assert from 'node:assert/strict';
import { test } from 'node:test';
import { maskSecrets } from '../../../../src/core/upload/secrets/checkSecrets.ts';
import { randomOf } from '../../../torture/seededValues.ts';
import { seeds } from './secretSeeds.ts';

const workerFile = new URL('../../../../src/core/upload/secrets/secretWorker.ts', import.meta.url);
const mask = <T>(value: T): Promise<T> => maskSecrets(value, workerFile);

test('F151 every kind of credential found in files is masked in a text, and nothing else', async () => {
  const invented = seeds(randomOf(151));
  const end = '\n\nRotate it.';
  const masked = await mask(invented.map(({ content }) => `The file holds:\n\n${content}${end}`));
  const missed = masked.flatMap((text, at) => {
    const { rule, secret } = invented[at]!;
    // Every line of a key counts except its header.
    const lines = secret.split('\n').filter((line) => line.length > 5 && !line.startsWith('-----BEGIN'));
    return lines.some((line) => text.includes(line)) || !text.endsWith(end) ? [rule] : [];
  });
  assert.equal(masked.length, invented.length);
  assert.deepEqual(missed, []);
  const cutKey = [
    '-----BEGIN PRIVATE',
    ' KEY-----\n',
    ...Array<string>(2).fill('MIICdwIBADANBgkqhkiG9w0BAQEFAASC'),
  ].join('');
  assert.deepEqual(await mask([`${cutKey}\n… and so on`]), ['-----BEGIN PRIVATE KEY-----…\n… and so on']);
});

test('F180 a credential is masked under a longer name, URL-encoded, and as the name of a file or a member', async () => {
  const password = 'h7-Xq2Lm9Tz4Kd';
  const named = ['DB_PASSWORD_KEY_', 'DB_PASSWORD_', 'API_KEY_PROD', 'SECRET_KEY_2', 'AccountKey_KEY_'];
  const texts = [
    ...named.map((name) => `${name}=${password}`),
    ...named.map((name) => encodeURIComponent(`{"${name}": "${password}"}`)),
    `<add key="DbPassword" value="${password}" />`,
  ];
  assert.deepEqual(
    (await mask(texts)).filter((text) => text.includes(password)),
    [],
  );
  const others = ['API_KEY_ID=a1b2c3d4e5', 'API_KEY_FILE=key1-abcdef', 'TOKEN_EXPIRY=a1b2c3d4e5'];
  assert.deepEqual(await mask(others), others);
  const tokens = seeds(randomOf(180)).flatMap(({ path, content, secret }) =>
    path.startsWith('table') ? [[content.slice(6, -3), secret] as const] : [],
  );
  assert.ok(tokens.length > 150);
  const locations = tokens.map(([token]) => ({ path: `src/${token}.ts`, [`lib/${token}`]: 1 }));
  const masked = JSON.stringify(await mask(locations));
  assert.deepEqual(
    tokens.filter(([, secret]) => masked.includes(secret.slice(0, 8)) || masked.includes(secret.slice(-8))),
    [],
  );
});

test('F180 tokens and passwords are masked with backslashes as Markdown has them, and in an encoded URL', async () => {
  const invented = seeds(randomOf(180)).filter(({ secret }) => !secret.includes('\n'));
  const inMarkdown = (text: string): string => text.replace(/[_*.~+#|-]/g, '\\$&');
  for (const escape of [inMarkdown, encodeURIComponent]) {
    const masked = await mask(invented.map(({ content }) => `see ${escape(content)}`));
    const isShown = (text: string, secret: string): boolean =>
      text.includes(secret) || text.includes(escape(secret));
    assert.deepEqual(
      invented.filter(({ secret }, at) => isShown(masked[at] ?? '', secret)).map(({ rule }) => rule),
      [],
    );
  }
});

test('F151 a text without credentials is unchanged, next to any other', async () => {
  const token = seeds(randomOf(1)).find(({ rule }) => rule === 'postman-token')!;
  const plain = [
    'SQL injection.',
    '',
    'a\\_b%20c',
    'The password is read from {{0}}',
    '日本語 '.repeat(100_000),
  ];
  const masked = await mask([...plain, token.content]);
  assert.deepEqual(masked.slice(0, -1), plain);
  assert.match(masked.at(-1)!, /PMAK-…/);
});
