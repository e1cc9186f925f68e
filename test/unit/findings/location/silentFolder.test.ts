import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { lookup } from 'node:dns/promises';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { eventually } from '../../core/eventually.ts';
import { setUpFindings } from '../findingFixture.ts';
import { parseWorker } from '../parse/bundledWorker.ts';

const withShares = {
  skip: spawnSync('bindfs', ['--version']).status !== 0 && 'bindfs, which makes shares, is not installed',
};

/** The share answers while `answers` was last called with true. */
async function mountShare(t: TestContext) {
  const folder = await mkdtemp(path.join(tmpdir(), 'share-'));
  const [source, mounted] = ['source', 'mounted'].map((name) => path.join(folder, name)) as [string, string];
  for (const each of [source, mounted]) await mkdir(each);
  const uncached = 'attr_timeout=0,entry_timeout=0,negative_timeout=0';
  const share = spawn('bindfs', ['-f', '-o', uncached, source, mounted]);
  // A test that hangs ends with its share.
  const limit = setTimeout(() => share.kill('SIGKILL'), 120_000);
  t.after(async () => {
    clearTimeout(limit);
    share.kill('SIGKILL');
    spawnSync('umount', ['-l', mounted]);
    await rm(folder, { recursive: true });
  });
  const isMounted = (): boolean => readFileSync('/proc/self/mounts', 'utf8').includes(` ${mounted} `);
  await eventually(() => isMounted() || share.exitCode !== null, 'a mounted share');
  if (!isMounted()) t.skip('this machine mounts no shares');
  return {
    folder: mounted,
    isMounted: isMounted(),
    answers: (isAnswering: boolean) => share.kill(isAnswering ? 'SIGCONT' : 'SIGSTOP'),
  };
}

test(
  'F201 while a share does not answer, all else goes on; its findings are found when it does',
  withShares,
  async (t) => {
    const fixture = await setUpFindings(t, 'share', 'here');
    const share = await mountShare(t);
    if (!share.isMounted) return;
    await symlink(share.folder, path.join(fixture.root, 'share'));
    const names = Array.from({ length: 20 }, (_, at) => `${String(at)}.js`);
    const files = Object.fromEntries(names.map((name) => [name, 'one\ntwo\nthree\n']));
    const findings = names.map((file) => ({ title: 'Invented', severity: 'high', file, line: 2 }));
    for (const folder of ['share', 'here']) await fixture.storeRun([folder], JSON.stringify(findings), files);
    const store = fixture.reopen(parseWorker);
    const driftsIn = (name: string) => {
      const locations = store.all().flatMap((shown) => shown.locations);
      return new Set(locations.flatMap(({ folder, drift }) => (folder.endsWith(name) ? drift : [])));
    };

    share.answers(false);
    const loading = store.load();
    await eventually(() => driftsIn('share').size > 0, 'findings as they were uploaded');
    const others = Array.from({ length: 20 }, () => readFile(import.meta.filename));
    await Promise.all([...others, lookup('localhost')]);
    await loading;
    assert.deepEqual(['here', 'share'].map(driftsIn), [new Set(['same']), new Set(['unknown'])]);
    const [edited, unread] = ['here', 'share'].map((folder) => path.join(fixture.root, folder, '0.js'));
    await writeFile(edited!, '// new\none\ntwo\nthree\n');
    await store.locateAgain(new Set([edited!, unread!]));
    assert.deepEqual(['here', 'share'].map(driftsIn), [new Set(['moved', 'same']), new Set(['unknown'])]);

    share.answers(true);
    await eventually(() => driftsIn('share').has('same'), 'the findings of the share');
  },
);
