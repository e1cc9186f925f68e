import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tarGz, zip } from './archiveMaker.ts';
import { callService } from './serviceCaller.ts';

const plain = { path: 'a.js', content: 'eval(x)' };
const unsafe: [what: string, type: string, archive: Buffer][] = [
  ['a name that leads out', 'tar_gz', tarGz([plain, { path: '../outside.js', content: '' }])],
  ['an absolute name', 'tar_gz', tarGz([{ path: '/etc/invented', content: '' }])],
  ['a drive letter', 'tar_gz', tarGz([{ path: 'C:\\invented.js', content: '' }])],
  ['a symbolic link', 'tar_gz', tarGz([{ path: 'link.js', type: 'SymbolicLink', linkpath: 'a.js' }])],
  ['a hard link', 'tar_gz', tarGz([plain, { path: 'link.js', type: 'Link', linkpath: 'a.js' }])],
  ['a pipe', 'tar_gz', tarGz([{ path: 'pipe', type: 'FIFO' }])],
  ['the same name twice', 'tar_gz', tarGz([plain, plain])],
  ['no end marker', 'tar_gz', tarGz([plain], { endMarker: false })],
  ['its end cut off', 'tar_gz', tarGz([plain]).subarray(0, -12)],
  ['a tar.gz said to be zip', 'zip', tarGz([plain])],
  ['an absolute name in a zip', 'zip', zip([{ path: '/etc/invented', content: '' }])],
];

test('an archive that must not be extracted aborts the run', async (t) => {
  const caller = await callService(t);
  for (const [what, archiveType, archive] of unsafe) {
    const runId = await caller.start(archive, { archiveType });
    await caller.service.settle();
    const { output } = (await caller.describe(runId)) as { output: { abortedReason?: { code: string } } };
    assert.equal(output.abortedReason?.code, 'invalid_archive', what);
  }
});
