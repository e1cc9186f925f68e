import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join, relative, resolve, sep } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';

const core = join(import.meta.dirname, '../../../src/core');

/** What each room may import, besides itself and the files directly in core. */
const below: Readonly<Record<string, readonly string[]>> = {
  '': [],
  api: [],
  upload: [],
  run: ['api', 'upload'],
  findings: ['api', 'upload', 'run'],
  report: [],
};

async function coreFiles(): Promise<string[]> {
  const names = await readdir(core, { recursive: true });
  return names.filter((name) => name.endsWith('.ts')).map((name) => name.split(sep).join('/'));
}

function roomOf(file: string): string {
  return file.includes('/') ? file.slice(0, file.indexOf('/')) : '';
}

async function importsOf(file: string): Promise<string[]> {
  const text = await readFile(join(core, file), 'utf8');
  return [...text.matchAll(/\bfrom '([^']+)'|\bimport\(?\s*'([^']+)'/g)].map(
    (found) => found[1] ?? found[2] ?? '',
  );
}

test('every file of core loads in plain Node, where there is no vscode', async () => {
  const files = await coreFiles();
  assert.ok(files.length > 20, 'the files were found');
  for (const file of files) {
    // The worker's entry does its work only in a worker.
    await import(pathToFileURL(join(core, file)).href);
  }
});

test('no file of core names vscode, not even for its types', async () => {
  for (const file of await coreFiles()) {
    assert.ok(!(await importsOf(file)).includes('vscode'), file);
  }
});

test('imports go in one direction, and none leaves core', async () => {
  for (const file of await coreFiles()) {
    const room = roomOf(file);
    for (const specifier of await importsOf(file)) {
      if (!specifier.startsWith('.')) continue;
      const target = relative(core, resolve(core, file, '..', specifier))
        .split(sep)
        .join('/');
      assert.ok(!target.startsWith('..'), `${file} imports ${specifier}`);
      const allowed = ['', room, ...(below[room] ?? [])];
      assert.ok(allowed.includes(roomOf(target)), `${file} imports ${specifier}`);
    }
  }
});
