import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import type { AssessmentError } from '../../../../src/core/errors.ts';
import type { RunEvent } from '../../../../src/core/run/state/advance.ts';
import type { Run } from '../../../../src/core/run/state/run.ts';
import { RunStore } from '../../../../src/core/run/disk/runStore.ts';
import { storeWithoutSpaceFor } from '../hookedStore.ts';
import { openWindow, setUpFixture, setUpWindow } from '../runWindow.ts';
import { asJournaled } from '../sampleRuns.ts';

async function startOnFullDisk(t: TestContext) {
  const { fixture, window } = await setUpWindow(t, { store: storeWithoutSpaceFor('dispatched', 3) });
  const failures: AssessmentError[] = [];
  window.tracker.onDidFailToSave(({ error }) => failures.push(error));
  return { fixture, window, failures };
}

test('F66 a run accepted on a full disk is reported with its ID, and saved once there is space', async (t) => {
  const { fixture, window, failures } = await startOnFullDisk(t);
  const run = await window.start();
  const [remote] = fixture.service.runs();
  assert.ok(run.state === 'running');
  assert.equal(run.runId, remote?.id);
  assert.deepEqual(
    failures.map(({ kind, data }) => [kind, data.subject, data.detail]),
    [['notSaved', remote?.id, 'ENOSPC']],
  );
  assert.equal(fixture.sent('/dispatch'), 1);
});

/** The journals are removed or damaged once a dispatch is answered. */
class RobbedStore extends RunStore {
  #rob: ((folder: string) => Promise<void>) | undefined;

  constructor(rob: (folder: string) => Promise<void>, ...rest: ConstructorParameters<typeof RunStore>) {
    super(...rest);
    this.#rob = rob;
  }

  override async apply(id: string, event: RunEvent): Promise<Run> {
    if (event.type === 'dispatched' || event.type === 'dispatchLost') {
      await this.#rob?.(this.folderOf(id));
      this.#rob = undefined;
    }
    return super.apply(id, event);
  }
}

const robberies = [
  ['whose folder is gone', (folder: string) => rm(folder, { recursive: true })],
  ['whose journal is damaged', (folder: string) => writeFile(join(folder, 'run.json'), '{')],
] as const;
for (const [what, rob] of robberies) {
  test(`F65 a run ${what} when the service accepts it is recovered and watched to its end`, async (t) => {
    const { fixture, window } = await setUpWindow(t, {
      store: (root, deps) => new RobbedStore(rob, root, deps),
    });
    const failures: AssessmentError[] = [];
    window.tracker.onDidFailToSave(({ error }) => failures.push(error));
    const run = await window.start();
    const [remote] = fixture.service.runs();
    assert.ok(run.state === 'running');
    assert.deepEqual([run.runId, failures], [remote?.id, []]);
    const other = openWindow(t, fixture);
    await other.tracker.resume();
    assert.deepEqual(other.store.get(run.id), asJournaled(run));
    await fixture.service.finishRun(run.runId);
    await window.untilEnded(run.id);
    const ended = [...window.ended, ...other.ended].map(({ state }) => state);
    assert.deepEqual([ended, fixture.sent('/dispatch')], [['succeeded'], 1]);
  });

  test(`F65 a run ${what} when the answer to its dispatch is lost is reported as unknown`, async (t) => {
    const fixture = await setUpFixture(t);
    fixture.service.addFault({ match: { path: '/dispatch', nth: 1 }, after: { kind: 'reset' } });
    const window = openWindow(t, fixture, { store: (root, deps) => new RobbedStore(rob, root, deps) });
    const { id } = await window.start();
    assert.deepEqual(
      window.ended.map((run) => [run.id, run.state, run.targets[0]?.upload?.state]),
      [[id, 'unknown', 'confirmed']],
    );
    assert.equal((await fixture.passUntil(window.tracker.resend(id))).state, 'running');
  });
}
