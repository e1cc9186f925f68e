import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { scanFile, type ScannedFile, type Suspicion } from '../../../../src/core/upload/secrets/scanFile.ts';
import { memoryKey } from '../../../../src/core/upload/secrets/checkSecrets.ts';
import { brief, checkApart, githubToken, tree, select } from './secretChecks.ts';
import { onceRead } from '../trees.ts';

const invention: Suspicion = {
  path: 'main.ts',
  kind: 'content',
  rule: 'invented',
  line: 1,
  masked: '…',
  sha256: '0'.repeat(64),
};

test('F30 a file unchanged since the last check is not read again, except below another root', async () => {
  // The files were created long before the test, since recent changes are not remembered.
  const root = resolve('src/core');
  const files = select(root, ['errors.ts', 'files.ts', 'ports.ts']);
  const memory = new Map<string, ScannedFile>();
  await checkApart({ root, files, memory });
  assert.deepEqual([...memory.keys()].sort(), files.map(({ path }) => memoryKey(root, path))); // prettier-ignore
  const key = memoryKey(root, 'files.ts');
  memory.set(key, { ...memory.get(key)!, suspicions: [{ ...invention, path: 'files.ts' }] });
  const { suspicions, hashes } = await checkApart({ root, files, memory });
  assert.deepEqual(suspicions.map(brief), ['files.ts:1 invented …']);
  for (const { path } of files)
    assert.equal(hashes.get(path), hash('sha256', readFileSync(join(root, path)), 'hex'));
  const above = resolve('src');
  const other = await checkApart({ root: above, files: select(above, ['core/files.ts']), memory });
  assert.deepEqual(other.suspicions, []);
});

test('a file changed since the last check is read again', async (t) => {
  const root = tree(t, { 'main.ts': githubToken.content });
  const memory = new Map<string, ScannedFile>();
  memory.set(memoryKey(root, 'main.ts'), { fileStamp: '1:2:3:4:5', suspicions: [], sha256: '' });
  const { suspicions } = await checkApart({ root, files: select(root, ['main.ts']), memory });
  assert.deepEqual(
    suspicions.map(({ rule }) => rule),
    ['github-token'],
  );
});

test('F30 a file changed right after the check, in the same tick and with the same size, is read again', async (t) => {
  const harmless = githubToken.content.replaceAll(/[A-Za-z0-9]/g, 'x');
  const root = tree(t, { 'main.ts': harmless });
  // On a busy machine, the check begins long after.
  const soon = Date.now() / 1000 + 600;
  utimesSync(join(root, 'main.ts'), soon, soon);
  const files = select(root, ['main.ts']);
  const memory = new Map<string, ScannedFile>();
  assert.deepEqual((await checkApart({ root, files, memory })).suspicions, []);
  assert.equal(memory.get(memoryKey(root, 'main.ts')), undefined);
  writeFileSync(join(root, 'main.ts'), githubToken.content);
  const { suspicions } = await checkApart({ root, files, memory });
  assert.equal(suspicions.length, 1);
});

test('F30 a file that changes during the check is checked again', async (t) => {
  const root = tree(t, { 'a.ts': 'harmless();\n'.repeat(10) });
  onceRead(t, () => writeFileSync(join(root, 'a.ts'), githubToken.content));
  const scanned = await scanFile(root, 'a.ts');
  assert.ok('sha256' in scanned);
  assert.equal(scanned.sha256, hash('sha256', githubToken.content, 'hex'));
  assert.equal(scanned.suspicions.length, 1);
});

test('a deleted file is forgotten', async (t) => {
  const root = tree(t, {});
  const memory = new Map<string, ScannedFile>();
  memory.set(memoryKey(root, 'main.ts'), { fileStamp: '1:2:3:4:5', suspicions: [invention], sha256: '' });
  const check = await checkApart({ root, files: select(root, ['main.ts']), memory });
  assert.deepEqual(check, {
    suspicions: [],
    unchecked: [{ path: 'main.ts', reason: 'vanished' }],
    hashes: new Map(),
  });
  assert.equal(memory.size, 0);
});

test('the check returns the SHA-256 of the scanned content, for text and binary files of any size', async (t) => {
  const content = {
    empty: '',
    'small.ts': 'one();\n',
    'large.ts': 'two();\n'.repeat(100_000),
    'large.bin': Buffer.alloc(700_001, '\0\x01\x02'),
  };
  const root = tree(t, content);
  const { hashes } = await checkApart({ root, files: select(root, Object.keys(content)) });
  const expected = Object.entries(content).map(
    ([path, each]) => [path, hash('sha256', each, 'hex')] as const,
  );
  assert.deepEqual(hashes, new Map(expected));
});
