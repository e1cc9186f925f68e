import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import type { HeldLeases } from '../../../../src/core/run/disk/heldLeases.ts';
import { RunStore } from '../../../../src/core/run/disk/runStore.ts';
import { cleanUp, removeUnneededArchives } from '../../../../src/core/run/finish/localCleanup.ts';
import type { Artifact, Run } from '../../../../src/core/run/state/run.ts';
import { WakingTime } from '../../../../src/core/run/state/wakingTime.ts';
import { silent } from '../../../silentLog.ts';
import { dayMs } from '../passTime.ts';
import { runOf } from '../sampleRuns.ts';
import { tempFolder } from '../tempFolder.ts';
import { VirtualClock } from '../virtualClock.ts';

const { targets } = runOf.running;
const archive = targets[0]!.archive!.file;

async function setUp(t: TestContext) {
  const clock = new VirtualClock();
  const store = new RunStore(join(await tempFolder(t), 'runs'), { clock, log: silent });
  const add = async (run: Run): Promise<string> => {
    await store.create(run);
    const file = join(store.folderOf(run.id), archive);
    await writeFile(file, '');
    return file;
  };
  const lease = { isFree: true, held: 0 };
  const leases = {
    take: () => Promise.resolve(lease.isFree && (lease.held += 1) > 0),
    release: () => Promise.resolve(void (lease.held -= 1)),
  };
  const deps = { store, clock, log: silent, leases: leases as unknown as HeldLeases };
  return { ...deps, add, lease, deps: { ...deps, waking: new WakingTime(clock), retainLocalDays: () => 90 } };
}

/** When the tests begin. */
const start = new VirtualClock().now();

/** An ended run that was shown and has nothing on the service. */
const ended = (id: string, artifacts: readonly Artifact[] = []): Run =>
  ({
    ...runOf.succeeded,
    id,
    noticeDue: false,
    uploadedAt: start,
    endedAt: start,
    targets: targets.map((target) => ({ ...target, upload: undefined })),
    artifacts,
  }) as Run;

describe('the archives of a run', () => {
  const here: Artifact = { name: 'findings', file: 'findings.json', bytes: 1 };
  const missing: Artifact = { name: 'report', failure: { kind: 'timeout' } };

  for (const [name, run, isKept] of [
    ['is running', { ...runOf.running }, true],
    ['has all its artifacts', ended('run', [here, here]), false],
    ['lacks an artifact', ended('run', [here, missing]), true],
    ['failed before its dispatch', { ...runOf.failed }, false],
  ] as const)
    test(`${isKept ? 'stay' : 'go'} if it ${name}`, async (t) => {
      const { add, deps } = await setUp(t);
      const file = await add({ ...run, targets });
      await removeUnneededArchives({ ...run, targets }, deps);
      assert.equal(existsSync(file), isKept);
    });

  test('that cannot be removed delay no other run', async (t) => {
    const { add, store, deps } = await setUp(t);
    await store.create(ended('a'));
    const stuck = join(store.folderOf('a'), archive, 'a file in a folder');
    await mkdir(dirname(stuck), { recursive: true });
    await writeFile(stuck, '');
    const file = await add(ended('b'));
    await removeUnneededArchives(ended('a'), deps);
    assert.deepEqual(await cleanUp(deps), { nearing: [], isDue: false });
    assert.deepEqual([existsSync(stuck), existsSync(file)], [true, false]);
  });
});

test('a run past the retention setting is not removed while another window holds it', async (t) => {
  const { add, clock, deps, lease, store } = await setUp(t);
  await add(ended('run'));
  clock.advance(91 * dayMs);
  for (let hour = 0; hour < 24; hour += 1) {
    assert.equal((await cleanUp(deps)).isDue, true);
    clock.advance(3600_000);
  }
  lease.isFree = false;
  assert.deepEqual([(await cleanUp(deps)).isDue, store.get('run')?.id], [true, 'run']);
  lease.isFree = true;
  assert.deepEqual([(await cleanUp(deps)).isDue, store.get('run'), lease.held], [false, undefined, 0]);
});

test('nothing is cleaned up while runs cannot be saved', async (t) => {
  const { deps } = await setUp(t);
  const store = { problem: 'ENOSPC' } as unknown as RunStore;
  assert.deepEqual(await cleanUp({ ...deps, store }), { nearing: [], isDue: false });
});
