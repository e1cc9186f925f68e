import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import type { ResultFinding } from '../../../../src/core/findings/result/result.ts';
import { locateFindings, placesOf } from '../../../../src/core/findings/place/placement.ts';
import type { Locate } from '../../../../src/core/findings/place/resolver.ts';
import { utf8Only } from '../../../../src/core/findings/place/sentFiles.ts';
import { runOf } from '../../run/sampleRuns.ts';
import { asUploaded } from '../../../../src/core/findings/runView.ts';
import { FolderCalls } from '../../../../src/core/yieldingWork.ts';
import { silent } from '../../../silentLog.ts';
import { finding, setUpFindings } from '../findingFixture.ts';
import { invent } from '../shownFindings.ts';

test('the code of a deleted file is gone until it is back, also while the file is replaced', async (t) => {
  const fixture = await setUpFindings(t, 'shop');
  await fixture.addRun(['shop'], finding('here', { file: 'a.js', line: 2 }));
  const file = path.join(fixture.root, 'shop', 'a.js');
  const place = () => fixture.store.all()[0]?.places[0];
  await rm(file);
  await fixture.store.rePlace(new Set([file]));
  assert.deepEqual([place()?.drift, place()?.startLine], ['gone', undefined]);
  await writeFile(file, 'one\ntwo\nthree\n');
  await fixture.store.rePlace(new Set([file]));
  assert.equal(place()?.startLine, 2);
});

test('findings in a file that is too large to read keep their reported lines', async (t) => {
  const fixture = await setUpFindings(t);
  const folder = path.join(fixture.root, 'shop');
  fixture.open.add(folder);
  const text = 'line of a very long file\n'.repeat(250_000);
  await fixture.addRun(['shop'], finding('far', { file: 'large.js', line: 77 }), { 'large.js': text });
  const [place] = fixture.store.all()[0]?.places ?? [];
  assert.deepEqual([place?.drift, place?.startLine], ['unknown', 77]);
});

test('F201 findings in a folder that does not answer are as reported, and it gets two calls', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const folder = '/share';
  const run = { ...runOf.succeeded, targets: [{ folder, name: 'share' }] };
  const found = Array.from({ length: 100 }, (_, index): ResultFinding => {
    const place = { path: `${String(index)}.js`, startLine: index + 1 };
    const sent = [{ target: 0, folder, path: place.path, bytes: 1, sha256: '' }];
    const { finding: each, ...identity } = invent({ index, places: [place] });
    return { ...identity, finding: each, run: run.id, home: folder, path: '', sent, quotes: [], since: 1 };
  });
  const calls = new FolderCalls(silent);
  let asked = 0;
  const neverAnswer = (): Promise<undefined> => {
    asked += 1;
    if (asked === 2) setImmediate(() => t.mock.timers.tick(2_000));
    return new Promise(() => undefined);
  };
  const locate: Locate = () => calls.ask(folder, neverAnswer);
  const uploaded = asUploaded({ run, found, names: new Set() });
  const located = await locateFindings([{ run, runFolder: '', locate, found }], uploaded, {
    texts: () => ({ edited: new Map(), encodings: utf8Only }),
    follow: () => Promise.resolve([]),
    isWanted: () => true,
    calls,
  });
  assert.deepEqual(
    found.map((each) => placesOf(each, located).map(({ startLine, drift }) => [startLine, drift])),
    found.map((_, index) => [[index + 1, 'unknown']]),
  );
  assert.deepEqual([asked, [...located.unread], [...located.missing]], [2, [folder], []]);
});
