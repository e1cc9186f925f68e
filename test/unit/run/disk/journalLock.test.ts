import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { withLock } from '../../../../src/core/run/disk/lock.ts';
import { RunStore } from '../../../../src/core/run/disk/runStore.ts';
import { silent } from '../../../silentLog.ts';
import { runOf } from '../sampleRuns.ts';
import { tempFolder } from '../tempFolder.ts';
import { VirtualClock, watchTraffic } from '../virtualClock.ts';

async function setUpLock(t: TestContext) {
  const path = join(await tempFolder(t), 'lock');
  const clock = new VirtualClock();
  const warnings: string[] = [];
  const deps = { clock, log: { ...silent, warn: (line: string) => void warnings.push(line) } };
  return { path, clock, deps, warnings, traffic: watchTraffic(t) };
}

describe('the lock of a journal', () => {
  test('loses no event of two processes that apply events to one run at once', async (t) => {
    const root = join(await tempFolder(t), 'runs');
    const store = new RunStore(root, { clock: new VirtualClock(), log: silent });
    const { id } = runOf.running;
    await store.create({ ...runOf.collecting, id });
    const times = 40;
    const script = join(import.meta.dirname, 'journalProcess.ts');
    const children = ['one', 'two'].map((name) =>
      fork(script, [root, id, String(times), name], { stdio: 'inherit' }),
    );
    t.after(() => children.forEach((child) => child.kill('SIGKILL')));
    await Promise.all(children.map((child) => once(child, 'message')));
    const done = children.map((child) => once(child, 'message'));
    for (const child of children) child.send('go');
    await Promise.all(done);
    const run = await store.refresh(id);
    assert.equal(run?.state === 'collecting' && run.artifacts?.length, 2 * times);
  });

  test('is held by one holder at a time, in the order of their calls', async (t) => {
    const { path, clock, deps, traffic } = await setUpLock(t);
    const inside: number[] = [];
    const visits = [1, 2, 3, 4].map((visitor) =>
      withLock(path, deps, async () => {
        inside.push(visitor);
        await clock.sleep(100);
        inside.push(visitor);
      }),
    );
    await clock.passUntil(Promise.all(visits), traffic);
    assert.deepEqual(inside, [1, 1, 2, 2, 3, 3, 4, 4]);
  });

  test('of another process is respected while it changes, and removed once it has not for 10 s', async (t) => {
    const { path, clock, deps, traffic } = await setUpLock(t);
    await writeFile(path, 'first');
    const entered = withLock(path, deps, () => Promise.resolve(clock.monotonic()));
    for (const holder of ['second', 'third']) {
      await clock.passUntil(clock.sleep(9_000), traffic);
      await writeFile(path, holder);
    }
    const changedAt = clock.monotonic();
    assert.ok((await clock.passUntil(entered, traffic)) - changedAt >= 9_900);
  });

  test('that was taken meanwhile has its holder do all of it again, and is left to who has it', async (t) => {
    const { path, clock, deps, traffic } = await setUpLock(t);
    let tries = 0;
    const done = withLock(path, deps, async (requireLock) => {
      tries += 1;
      if (tries === 1) await writeFile(path, 'somebody else');
      await requireLock();
      return tries;
    });
    await clock.whenAsleep();
    assert.equal(await readFile(path, 'utf8'), 'somebody else');
    await rm(path);
    assert.equal(await clock.passUntil(done, traffic), 2);
  });

  test('that cannot be released fails nothing that was done under it, and is logged', async (t) => {
    const { path, deps, warnings } = await setUpLock(t);
    const done = withLock(path, deps, async () => {
      await rm(path);
      // Nothing can read a folder as a file.
      await mkdir(path);
      return 'saved';
    });
    assert.equal(await done, 'saved');
    assert.match(warnings.join('\n'), /lock .* could not be released/);
  });
});
