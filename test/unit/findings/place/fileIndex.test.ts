import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFileIndex, findFile } from '../../../../src/core/findings/place/fileIndex.ts';
import { cpuMs } from '../../cpuTime.ts';

test('a path is found among thousands of namesakes without reading all their names anew', () => {
  const pathOf = (at: number): string => `packages/パッケージ${String(at)}/src/index.ts`;
  const index = createFileIndex(Array.from({ length: 20_000 }, (_, at) => pathOf(at).normalize('NFD')));
  const before = cpuMs();
  for (let at = 0; at < 100; at += 1) {
    const found = findFile(index, ['sandbox', 'repo', ...pathOf(at).split('/')]);
    assert.deepEqual(found, { kind: 'file', path: pathOf(at).normalize('NFD') });
  }
  const ms = cpuMs() - before;
  assert.ok(ms < 400, `${String(ms)} ms`);
});
