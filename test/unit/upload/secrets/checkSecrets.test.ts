import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { globSync, statSync } from 'node:fs';
import { join, resolve, sep } from 'node:path';
import { test, type TestContext } from 'node:test';
import { cpuMs } from '../../core/cpuTime.ts';
import { isAbortError } from '../../../../src/core/errors.ts';
import type { SecretCheckOptions } from '../../../../src/core/upload/secrets/checkSecrets.ts';
import type { Suspicion } from '../../../../src/core/upload/secrets/scanFile.ts';
import {
  brief,
  checkApart,
  type Content,
  githubToken,
  invented,
  tree,
  seedOf,
  select,
  workerFile,
} from './secretChecks.ts';
import { plant, plantMany } from '../trees.ts';
import { randomOf } from '../../../torture/seededValues.ts';
import { tableTokens } from './secretSeeds.ts';
import { withPipes } from '../../core/systemSkips.ts';

async function check(t: TestContext, content: Content, more: Partial<SecretCheckOptions> = {}) {
  const root = tree(t, content);
  return checkApart({ root, files: select(root, Object.keys(content)), ...more });
}

const sha256 = (content: string): string => hash('sha256', content, 'hex');
const rulesOf = (suspicions: readonly Suspicion[]): string[] => suspicions.map(({ rule }) => rule);
const locationsOf = (suspicions: readonly Suspicion[]): string[] =>
  suspicions.map(({ path, line }) => `${path}:${line}`);

function shownOf(secret: string, masked: string): string {
  for (let length = Math.min(secret.length, masked.length); length > 0; length--) {
    for (let at = 0; at + length <= secret.length; at++) {
      const part = secret.slice(at, at + length);
      if (masked.endsWith(part)) return part;
    }
  }
  return '';
}

test('F30 an .env, a private key and an npm token are suspected and masked', async (t) => {
  const npmToken = seedOf('npm-token');
  const key = seedOf('private-key');
  const env = 'DB_PASSWORD=h7-invented\n';
  const { suspicions, unchecked } = await check(t, {
    '.env': env,
    'certs/server.pem': key.secret,
    'src/publish.ts': `// one\n${npmToken.content}\n`,
    'src/plain.ts': 'export const answer = 42;\n',
  });
  assert.deepEqual(suspicions.map(brief), [
    '.env .env*',
    '.env:1 assignment DB_PASSWORD=…',
    'certs/server.pem *.pem',
    'certs/server.pem:1 private-key -----BEGIN PRIVATE KEY-----…',
    `src/publish.ts:2 npm-token npm_…${npmToken.secret.slice(-2)}`,
  ]);
  assert.deepEqual(
    suspicions.slice(0, 2).map((suspicion) => [suspicion.kind, suspicion.sha256]),
    [
      ['name', sha256(env)],
      ['content', sha256(env)],
    ],
  );
  assert.deepEqual(unchecked, []);
});

test('every supported kind of credential is found on its line, showing at most two characters', async (t) => {
  const content = Object.fromEntries(
    invented.map((seed) => [seed.path, seed.path.endsWith('.json') ? seed.content : `\n\n${seed.content}\n`]),
  );
  assert.equal(Object.keys(content).length, invented.length, 'each seed has a file of its own');
  const { suspicions } = await check(t, content);
  for (const seed of invented) {
    const found = suspicions.filter(({ path }) => path === seed.path);
    assert.ok(
      found.some(({ rule }) => rule === seed.rule),
      `${seed.rule} in ${seed.path}: ${found.map(brief).join('; ')}`,
    );
    for (const { masked, line } of found) {
      assert.ok(seed.secret.startsWith('-----') || shownOf(seed.secret, masked).length <= 2, masked);
      assert.ok(line !== undefined && (seed.path.endsWith('.json') ? line >= 1 : line >= 3));
    }
  }
});

test('F30 a credential is found with any number of escaped characters', async (t) => {
  const { suspicions } = await check(t, {
    'broker.ts': `amqp://user:${'%41'.repeat(70)}@broker.invented.net`,
    'database.ts': `mongodb://user:p$a${'%41'.repeat(40)}@db.invented.net/app`,
  });
  assert.deepEqual(rulesOf(suspicions), ['connection-url', 'connection-url']);
});

test('a line that several rules suspect is reported once', async (t) => {
  const { suspicions } = await check(t, { 'ci.yml': `env:\n  API_TOKEN: "ghp_${githubToken.secret}"\n` });
  assert.deepEqual(suspicions.map(brief), [`ci.yml:2 github-token ghp_…${githubToken.secret.slice(-2)}`]);
});

test('credentials are found in UTF-16 and after a BOM, with any line ends', async (t) => {
  const text = `\r\n${githubToken.content}\r\n`;
  const utf16 = Buffer.from(`\ufeff${text}`, 'utf16le');
  const { suspicions } = await check(t, {
    'bom.ts': `\ufeff${text}`,
    'crlf.ts': text,
    'utf16be.ts': Buffer.from(utf16).swap16(),
    'utf16le.ts': utf16,
    'utf16-without-bom.ts': Buffer.from(text, 'utf16le'),
    'japanese.ts': `// ${'日本語'.repeat(50)}\n${githubToken.content}\n`,
  });
  assert.deepEqual(
    locationsOf(suspicions),
    'bom.ts:2 crlf.ts:2 utf16be.ts:2 utf16le.ts:2 utf16-without-bom.ts:2 japanese.ts:2'.split(' '),
  );
});

test('F156 F190 tokens of every kind are found plain, quoted, assigned and URL-encoded, in UTF-8 and UTF-16', async (t) => {
  const tokens = [
    ...tableTokens(randomOf(190)),
    ...invented.flatMap(({ rule, content, secret }) =>
      content.startsWith('VALUE=')
        ? [{ rule, prefix: content.slice(6, content.indexOf(secret)), rest: secret }]
        : [],
    ),
  ];
  assert.ok(tokens.length > 180);
  const planted = tokens.flatMap(({ rule, prefix, rest }, at) =>
    Object.entries({
      plain: `see ${prefix}${rest} there`,
      quoted: `call("${prefix}${rest}");`,
      assigned: `VALUE=${prefix}${rest}`,
      encoded: `https://invented.net/?q=${encodeURIComponent(prefix + rest)}&n=1`,
    }).map(([form, text]) => ({ path: `${at}-${form}.txt`, rule, text })),
  );
  const content = planted.flatMap(({ path, text }): [string, string | Buffer][] => {
    const utf16 = Buffer.from(`\ufeff${text}`, 'utf16le');
    return [[path, text], [`be-${path}`, Buffer.from(utf16).swap16()], [`le-${path}`, utf16]]; // prettier-ignore
  });
  const { suspicions } = await check(t, Object.fromEntries(content));
  const found = new Set(suspicions.map(({ path, rule }) => `${path} ${rule}`));
  const missed = planted.flatMap(({ path, rule }) =>
    ['', 'be-', 'le-'].map((form) => `${form}${path} ${rule}`).filter((each) => !found.has(each)),
  );
  assert.deepEqual(missed, []);
});

test('F190 placeholders are not suspected under any prefix', async (t) => {
  const words = ['your-token-here', 'YOUR_API_KEY', 'example', 'changeme'];
  const prefixes = [
    ...tableTokens(randomOf(190)).map(({ prefix, rest }) => [prefix, rest.length] as const),
    ...['AKIA', 'ASIA', 'sk-ant-api03-', 'xoxb-', 'xoxp-', 'SG.'].map((prefix) => [prefix, 16] as const),
  ];
  const lines = prefixes.flatMap(([prefix, length]) => [
    ...['x', 'X', '*', '0', '.', 'a'].map((each) => prefix + each.repeat(length)),
    ...words.map((word) => prefix + word),
    ...words.map((word) => prefix + `${word}-`.repeat(length / (word.length + 1)).padEnd(length, 'x')),
  ]);
  const others = [
    ['xoxb', 'your-bot-token'].join('-'),
    ['xoxb', 'xxxxxxxxxxx', 'xxxxxxxxxxxxxxxxxxxxxxxx'].join('-'),
    '.xoxo-list-item-2 { color: red }',
    'https://invented.net/images/2018-250-xoxo-indieweb-1.jpg',
    `bP88Q~${'x'.repeat(34)}`,
    `GR1348941${'457'.repeat(7)}`,
    `"${['xoxp', '104729006131', '204812345670', '301947560028'].join('-')}-${'#'.repeat(20)}"`,
    // A prefix occurs by chance in Base64, URLs, and names: the checksum of a Go module, a name,
    // and the signed link of a picture.
    'h1:hSWxHoqTgW2S2qGc0LTA' + 'I563KZ5YKYRhT3MFKZMbjag=',
    `task-${'1a2b'.repeat(8)}`,
    `![x](https://invented.net/1-2.png?jwt=${['eyJ' + 'a1B2'.repeat(5), 'eyJ' + 'a1B2'.repeat(9), 'c3D4'.repeat(9)].join('.')})`,
    `https://cdn.invented.net/q7Rk2mW9xTb4LcVn8sYdPfm2_t3${'a1B2'.repeat(40)}`,
    `https://invented.net/publico-${'1a2b'.repeat(8)}`,
    `${'Zm9v'.repeat(6)}AKCp${'a1B2'.repeat(17)}a`,
    `token = "${'x'.repeat(14)}.atlasv1.${'x'.repeat(66)}"`,
  ];
  const assembly = 'publicKeyToken="b77a5c561934e089"';
  const { suspicions } = await check(t, {
    'tokens.ts': lines.join('\n'),
    'tokens.conf': lines.map((line) => `TOKEN=${line}`).join('\n'),
    'others.md': others.join('\n'),
    'web.config': `<assemblyIdentity name="Invented" ${assembly} />`,
    'app.cs': `[assembly: Uses("Invented, ${assembly}")]`,
  });
  assert.deepEqual(suspicions.map(brief), []);
});

test('F180 a token in the name of a file is suspected, whatever the file holds', async (t) => {
  const token = `ghp_${githubToken.secret}`;
  const { suspicions } = await check(t, {
    [`logs/${token}.txt`]: '',
    [`${token}.png`]: Buffer.from([0, 1, 2]),
  });
  assert.deepEqual(
    suspicions.map(({ rule, masked }) => `${rule} ${masked}`),
    Array<string>(2).fill(`github-token ghp_…${githubToken.secret.slice(-2)}`),
  );
});

test('F190 the keys of a web.config are suspected', async (t) => {
  const key = '7F2A'.repeat(16);
  const { suspicions } = await check(t, {
    'web.config': `<machineKey validationKey="${key}"\n decryptionKey="${key}" validation="SHA1" />`,
  });
  assert.deepEqual(suspicions.map(brief), [
    'web.config:1 assignment validationKey=…',
    'web.config:2 assignment decryptionKey=…',
  ]);
});

test('large files are scanned to their end, once, wherever a credential is', async (t) => {
  const aligned = (bytes: number): string => `${'y'.repeat(bytes - 1)}\n`;
  const content: Record<string, string | Uint8Array> = {};
  const boundary = 256 << 10;
  for (const offset of [-60, -41, -40, -20, -4, -1, 0, 1])
    content[`at${offset}.txt`] = `${aligned(boundary + offset)}${githubToken.content}\n${aligned(300_000)}`;
  content['utf16.txt'] = Buffer.from(
    `\ufeff${aligned(boundary / 2 - 30)}\n${githubToken.content}`,
    'utf16le',
  );
  content['umlauts.txt'] = `${'ä\n'.repeat(200_000)}${githubToken.content}`;
  content['end.txt'] = `${'line\n'.repeat(400_000)}${githubToken.content}`;
  const { suspicions } = await check(t, content);
  assert.deepEqual(locationsOf(suspicions), [
    ...Object.keys(content)
      .filter((path) => path.startsWith('at'))
      .map((path) => `${path}:2`),
    'utf16.txt:3',
    'umlauts.txt:200001',
    'end.txt:400001',
  ]);
});

test('a binary file is judged by its name only; empty files and public certificates raise no suspicion', async (t) => {
  const bytes = Buffer.concat([Buffer.from([0, 1, 2, 3]), Buffer.from(githubToken.content)]);
  const pem = (label: string): string => `-----BEGIN ${label}-----\nTUlJQg==\n-----END ${label}-----\n`;
  const { suspicions } = await check(t, {
    ...{ 'image.png': bytes, 'store.p12': bytes, '.env': '' },
    ...{ 'ca.pem': pem('CERTIFICATE'), 'public.pem': pem('PUBLIC KEY'), 'unclear.pem': 'nothing we know\n' },
  });
  assert.deepEqual(suspicions.map(brief), ['store.p12 *.p12', 'unclear.pem *.pem']);
});

test('unreadable files are named, and links are not followed', withPipes, async (t) => {
  const root = tree(t, { 'outside.ts': githubToken.content, 'fine.ts': githubToken.content });
  plant(root, { 'link.ts': { link: 'outside.ts' } });
  assert.equal(spawnSync('mkfifo', [join(root, 'pipe.ts')]).status, 0);
  const files = select(root, ['link.ts', 'pipe.ts', 'gone.ts', 'fine.ts']);
  const { suspicions, unchecked } = await checkApart({ root, files });
  assert.deepEqual(
    unchecked.map(({ path, reason }) => `${path} ${reason}`),
    ['link.ts changedType', 'pipe.ts changedType', 'gone.ts vanished'],
  );
  assert.deepEqual(
    suspicions.map(({ path }) => path),
    ['fine.ts'],
  );
});

test('any number of workers gives the same results in file order, and counts every byte', async (t) => {
  const root = tree(t, {});
  const paths = Array.from({ length: 1000 }, (_, index) => `f${index}.ts`);
  const withToken = paths.filter((_, index) => index % 10 === 0);
  const harmless = paths.filter((_, index) => index % 10 !== 0);
  plantMany(root, withToken, githubToken.content);
  plantMany(root, harmless, 'export const x = 1;\n');
  const files = select(root, paths);
  const total = files.reduce((sum, { bytes }) => sum + bytes, 0);
  const progress: string[] = [];
  const onBytes = (done: number, of: number): void => void progress.push(`${done}/${of}`);
  const one = await checkApart({ root, files, workerFile, workers: 1, onBytes });
  const three = await checkApart({ root, files, workerFile, workers: 3 });
  assert.deepEqual(
    one.suspicions.map(({ path }) => path),
    withToken,
  );
  assert.deepEqual(three, one);
  assert.equal(progress.at(-1), `${total}/${total}`);
});

test('a file full of tokens is reported in at most 20 lines for each rule', async (t) => {
  const { suspicions } = await check(t, {
    'tokens.txt': Array.from({ length: 3000 }, (_, line) => `ghp_${String(line).padStart(36, 'a1B2')}`).join(
      '\n',
    ),
  });
  assert.equal(suspicions.length, 20);
});

const slowText = 'ghs_1_'.repeat(4_000_000);

test('a cancelled check ends in the middle of a file', { timeout: 200_000 }, async (t) => {
  const controller = new AbortController();
  const { promise: started, resolve: start } = Promise.withResolvers<undefined>();
  const pending = check(
    t,
    { 'a.bin': `\0${'x'.repeat(2 << 20)}`, 'slow.txt': slowText },
    { signal: controller.signal, workers: 1, onBytes: () => start(undefined) },
  );
  await started;
  const abortedAt = cpuMs();
  controller.abort();
  await assert.rejects(pending, isAbortError);
  assert.ok(cpuMs() - abortedAt < 500);
});

test('a check cancelled before it starts starts nothing', async () => {
  const signal = AbortSignal.abort();
  await assert.rejects(
    checkApart({ root: '/', files: select('/', ['tmp']), workerFile: 'no such worker', signal }),
    isAbortError,
  );
});

test('F111 a worker that cannot start is named as such and is not a result', async (t) => {
  const checked = check(t, { 'a.ts': '' }, { workerFile: resolve('no such worker.ts') });
  await assert.rejects(checked, { kind: 'workerCrashed' });
});

test('ordinary code raises no suspicion: this extension, and zod without its tests', async () => {
  for (const [root, tests] of [
    [resolve(import.meta.dirname, '../../../../src'), ''],
    [resolve(import.meta.dirname, '../../../../node_modules/zod'), '/tests/'],
  ] as const) {
    const paths = globSync('**/*', { cwd: root })
      .filter((path) => statSync(join(root, path)).isFile())
      .map((path) => path.replaceAll(sep, '/'));
    const { suspicions, unchecked } = await checkApart({ root, files: select(root, paths) });
    assert.deepEqual(suspicions.filter(({ path }) => tests === '' || !path.includes(tests)).map(brief), []);
    assert.deepEqual(unchecked, []);
  }
});
