import assert from 'node:assert/strict';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { writeFileAtomic } from '../../../../src/core/files.ts';
import { RunNotes } from '../../../../src/core/run/disk/runNotes.ts';
import { silent } from '../../../silentLog.ts';
import { dayMs, minuteMs, pass, stayAwake } from '../passTime.ts';
import { type Fixture, openWindow, setUpFixture, setUpWindow } from '../runWindow.ts';
import { runOf } from '../sampleRuns.ts';
import { trackRemoteRun, setUpRun } from '../seededRuns.ts';

type Journal = Record<string, unknown>;

/** Rewrites the journal of a run as another version would. */
async function rewrite(fixture: Fixture, id: string, change: (journal: Journal) => Journal): Promise<string> {
  const path = join(fixture.root, id, 'run.json');
  const text = JSON.stringify(change(JSON.parse(await readFile(path, 'utf8')) as Journal));
  await writeFileAtomic(path, text);
  return text;
}

describe('a journal of another version', () => {
  const others: readonly (readonly [string, Journal])[] = [
    ['of a later version', { version: 2 }],
    ['of a later version, in an unknown state', { version: 2, state: 'levitating', targets: 'elsewhere' }],
    ['of an unknown workflow', { workflow: 'binary-assessment' }],
    ['of an unknown workflow without a time', { workflow: 'binary-assessment', createdAt: 'yesterday' }],
  ];
  for (const [what, change] of others) {
    test(`F99 ${what} is listed but neither polled, swept nor offered for recovery`, async (t) => {
      const fixture = await setUpFixture(t);
      const memory = new Map<string, unknown>();
      const notes = new RunNotes(
        {
          keys: () => [...memory.keys()],
          get: (key) => memory.get(key),
          update: (key, value) => Promise.resolve(void memory.set(key, value)),
        },
        { log: silent },
      );
      const first = openWindow(t, fixture, { notes });
      const following = notes.follow(first.store);
      const { id } = await trackRemoteRun(fixture, first);
      await first.close();
      following.dispose();
      const text = await rewrite(fixture, id, (journal) => ({ ...journal, ...change, more: { here: true } }));
      const folder = join(fixture.root, id);
      await writeFile(join(folder, 'archive-0.tar.gz'), 'source');
      const asked = fixture.sent(/./);
      fixture.clock.advance(100 * dayMs);
      const next = openWindow(t, fixture, { notes });
      await fixture.passUntil(next.tracker.resume());
      notes.follow(next.store);
      await stayAwake(fixture, 26);
      await fixture.passUntil(next.tracker.resume());
      assert.deepEqual([next.store.all(), next.store.unread().map((run) => run.id)], [[], [id]]);
      assert.equal(await readFile(join(folder, 'run.json'), 'utf8'), text);
      const kept = (await readdir(folder)).filter((name) => !/^(lease|lock)$/.test(name));
      assert.deepEqual(kept.toSorted(), ['archive-0.tar.gz', 'run.json']);
      assert.deepEqual([fixture.sent(/./), notes.lost(next.store), memory.size], [asked, [], 1]);
    });
  }

  const upload = { fileId: 'file-1', state: 'frozen', at: 1 };
  const archive = { file: 'a', type: 'tar_zst', bytes: 1, sha256: 'a', sourceBytes: 1 };
  for (const [what, change] of [
    ['state', { state: 'levitating' }],
    ['state of an upload', { targets: [{ folder: '/shop', name: 'shop', upload }] }],
    ['language', { language: 'klingon' }],
    ['type of an archive', { targets: [{ folder: '/shop', name: 'shop', archive }] }],
  ] as const)
    test(`F99 with a ${what} that only a later version knows is left where it is, and listed`, async (t) => {
      const fixture = await setUpFixture(t);
      const { store } = openWindow(t, fixture);
      await store.create(runOf.succeeded);
      const { id } = runOf.succeeded;
      const text = await rewrite(fixture, id, (journal) => ({ ...journal, ...change }));
      await store.reload();
      assert.deepEqual([store.all(), store.unread().map((run) => run.id)], [[], [id]]);
      assert.equal(await readFile(join(fixture.root, id, 'run.json'), 'utf8'), text);
    });

  test('F99 fires an event when it appears and when it disappears', async (t) => {
    const { fixture, window } = await setUpWindow(t);
    const heard: string[][] = [];
    const { id } = await trackRemoteRun(fixture, window);
    window.store.onDidChange(() => heard.push(window.store.unread().map((run) => run.id)));
    await rewrite(fixture, id, (journal) => ({ ...journal, version: 2 }));
    await window.store.reload();
    await rewrite(fixture, id, (journal) => ({ ...journal, version: 1 }));
    await window.store.reload();
    assert.deepEqual([heard, window.store.all().map((run) => run.id)], [[[id], []], [id]]);
  });

  test('F164 with a kind of failure that this version does not know shows it as unexpected', async (t) => {
    const { fixture, id } = await setUpRun(t);
    const trouble = { kind: 'eclipsed', firstSeen: 1 };
    await rewrite(fixture, id, (journal) => ({ ...journal, trouble }));
    const { store } = openWindow(t, fixture);
    await store.reload();
    const [run] = store.all();
    assert.ok(run?.state === 'running');
    assert.equal(run.trouble?.kind, 'unexpected');
  });

  test('F99 with unknown members keeps them to the end of the run', async (t) => {
    const fixture = await setUpFixture(t);
    const first = openWindow(t, fixture);
    const run = await first.start();
    assert.ok(run.state === 'running');
    await first.close();
    await rewrite(fixture, run.id, (journal) => {
      const [target] = journal['targets'] as [Record<string, Journal>];
      const { archive, upload } = target;
      return {
        ...journal,
        more: { here: [1] },
        targets: [{ ...target, more: 2, archive: { ...archive, more: 3 }, upload: { ...upload, more: 4 } }],
      };
    });
    const next = openWindow(t, fixture);
    await fixture.passUntil(next.tracker.resume());
    await fixture.service.finishRun(run.runId);
    await next.untilEnded(run.id);
    await pass(fixture, minuteMs);
    const ended = JSON.parse(await readFile(join(fixture.root, run.id, 'run.json'), 'utf8')) as Journal;
    const [target] = ended['targets'] as [Record<string, Journal>];
    assert.deepEqual([ended['state'], target['upload']?.['state']], ['succeeded', 'deleted']);
    assert.deepEqual(
      [ended['more'], target['more'], target['archive']?.['more'], target['upload']?.['more']],
      [{ here: [1] }, 2, 3, 4],
    );
    assert.ok(!('lastAnswerAt' in ended), 'what belongs to a state goes with it');
  });

  test('F99 with unknown members of its input keeps them, and the run continues', async (t) => {
    const { fixture, window, id } = await setUpRun(t);
    const input = {
      target_urls: ['https://staging.example.com/'],
      depth: 3,
      authentication: { credentials: [{ id: 'alice', role: 'buyer', otp: 'app' }], realm: 'shop' },
      preference: { preferences: [{ kind: 'DONT', preference: 'Do not order.', weight: 1 }] },
      resume: { workflow_id: 'blackbox-crawl', workflow_run_id: 'run-1', from: 'start' },
    };
    await rewrite(fixture, id, (journal) => ({ ...journal, workflow: 'blackbox-crawl', input }));
    await window.store.reload();
    await window.tracker.rename(id, 'Staging');
    const kept = JSON.parse(await readFile(join(fixture.root, id, 'run.json'), 'utf8')) as Journal;
    assert.deepEqual([kept['label'], kept['input']], ['Staging', input]);
  });
});
