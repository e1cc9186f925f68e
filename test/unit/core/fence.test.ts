import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';

const core = join(import.meta.dirname, '../../../src/core');

test('every file of core loads in plain Node, where there is no vscode', async () => {
  const files = (await readdir(core, { recursive: true })).filter((name) => name.endsWith('.ts'));
  assert.ok(files.length > 20, 'the files were found');
  for (const file of files) {
    // The worker's entry does its work only in a worker.
    await import(pathToFileURL(join(core, file)).href);
  }
});
