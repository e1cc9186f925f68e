import assert from 'node:assert/strict';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { takeLease } from '../../../../src/core/run/disk/lease.ts';
import { RunStore } from '../../../../src/core/run/disk/runStore.ts';
import { silent } from '../../../silentLog.ts';
import { runOf } from '../sampleRuns.ts';
import { tempFolder } from '../tempFolder.ts';
import { VirtualClock } from '../virtualClock.ts';

/**
 * While a file is open with libuv's `UV_FS_O_EXLOCK`, nothing else can open, replace, or remove it.
 */
const exclusive = 0x10000000;

/** Looks at a file as a scanner does. Resolves to the end of that. */
async function hold(file: string): Promise<() => Promise<void>> {
  const handle = await open(file, constants.O_RDONLY | exclusive);
  return () => handle.close();
}

describe(
  'F176 a file that another program holds',
  { skip: process.platform !== 'win32' && 'only Windows keeps a program from a file that another has open' },
  () => {
    test('is a journal that is read, and takes an event, once it is free', async (t) => {
      const root = join(await tempFolder(t), 'runs');
      const store = new RunStore(root, { clock: new VirtualClock(), log: silent });
      const { id } = runOf.running;
      await store.create(runOf.running);
      const release = await hold(join(root, id, 'run.json'));
      const read = store.refresh(id);
      const applied = store.apply(id, { type: 'cancelSent', sentAt: 0, answer: 'accepted', at: 0 });
      // This is long enough for a first look.
      await setTimeout(100);
      await release();
      assert.equal((await read)?.id, id);
      assert.equal((await applied).state, 'cancelling');
    });

    test('is a lease that a later one replaces: it is taken at once, and the next one as well', async (t) => {
      const folder = join(await tempFolder(t), 'lease');
      const clock = new VirtualClock();
      const first = await takeLease(folder, { clock, log: silent });
      await first?.release();
      const release = await hold(join(folder, 'lease-1.json'));
      const second = await takeLease(folder, { clock, log: silent });
      await second?.release();
      const third = await takeLease(folder, { clock, log: silent });
      await release();
      assert.deepEqual([second !== undefined, third !== undefined], [true, true]);
    });
  },
);
