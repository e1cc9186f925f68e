import assert from 'node:assert/strict';
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, utimesSync } from 'node:fs';
import { mkdir, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { AssessmentError } from '../../../../src/core/errors.ts';
import type { Clock } from '../../../../src/core/ports.ts';
import { awaitLease, deadMs, type Lease, staleMs, takeLease } from '../../../../src/core/run/disk/lease.ts';
import { asNobody, testTree } from '../../upload/trees.ts';
import { deadPid } from '../deadProcess.ts';
import { tempFolder } from '../tempFolder.ts';
import { VirtualClock, watchTraffic } from '../virtualClock.ts';
import { withRights } from '../../core/systemSkips.ts';
import { silent } from '../../../silentLog.ts';

const depsOf = (clock: Clock) => ({ clock, log: silent });

/** The holder's own clock stands still, so it renews its lease only when a test says so. */
const takeStill = (folder: string): Promise<Lease | undefined> =>
  takeLease(folder, depsOf(new VirtualClock()));

async function renews(lease: Lease | undefined): Promise<boolean> {
  try {
    await lease?.renew();
    return true;
  } catch (error) {
    if (error instanceof AssessmentError && error.kind === 'busyElsewhere') return false;
    throw error;
  }
}

/** Looks at a lease each second until it is taken, at most a minute; also returns the seconds. */
async function takeStale(folder: string, clock: VirtualClock): Promise<readonly [Lease | undefined, number]> {
  for (let seconds = 0; seconds < 60; seconds += 1) {
    const lease = await takeLease(folder, depsOf(clock));
    if (lease !== undefined) return [lease, seconds];
    clock.advance(1_000);
  }
  return [undefined, 60];
}

async function renewFile(path: string, clock: VirtualClock): Promise<void> {
  await utimes(path, clock.now() / 1000, clock.now() / 1000);
}

const isRoot = process.getuid?.() === 0;

/**
 * The process of another user outlives the test. Without permission to start one, returns process
 * 1.
 */
function strangersPid(t: TestContext): number {
  if (!isRoot) return 1;
  const child = spawn('sleep', ['600'], { uid: 65_533, stdio: 'ignore' });
  t.after(() => child.kill());
  return child.pid ?? 0;
}

describe('a lease', () => {
  test('F63 is acquired by one of many concurrent attempts, repeatedly', async (t) => {
    const folder = join(await tempFolder(t), 'lease');
    const clock = new VirtualClock();
    for (let round = 0; round < 20; round += 1) {
      const takers = await Promise.all(Array.from({ length: 12 }, () => takeLease(folder, depsOf(clock))));
      const [holder, ...more] = takers.filter((lease) => lease !== undefined);
      assert.ok(
        holder !== undefined && more.length === 0,
        `${String(more.length)} more in round ${String(round)}`,
      );
      assert.equal(await renews(holder), true);
      await holder.release();
    }
    assert.ok((await readdir(folder)).length <= 2, 'old files go');
  });

  test('F63 is acquired by one of several processes, and taken over once when that one is killed', async (t) => {
    const folder = join(await tempFolder(t), 'lease');
    const children = Array.from({ length: 3 }, () =>
      fork(join(import.meta.dirname, 'leaseProcess.ts'), [folder]),
    );
    t.after(() => children.forEach((child) => child.kill('SIGKILL')));
    await Promise.all(children.map((child) => once(child, 'message')));
    const tryAll = async (among: typeof children): Promise<boolean[]> =>
      Promise.all(
        among.map(async (child) => {
          const answer = once(child, 'message');
          child.send('take');
          return ((await answer) as [boolean])[0];
        }),
      );
    const first = await tryAll(children);
    assert.equal(first.filter(Boolean).length, 1, String(first));
    const holder = children[first.indexOf(true)]!;
    const others = children.filter((child) => child !== holder);
    assert.deepEqual(await tryAll(others), [false, false], 'held');
    const gone = once(holder, 'exit');
    holder.kill('SIGKILL');
    await gone;
    let second = await tryAll(others);
    assert.deepEqual(second, [false, false], 'not at first sight');
    while (!second.includes(true)) second = await tryAll(others);
    assert.equal(second.filter(Boolean).length, 1, String(second));
    assert.deepEqual(await tryAll(others), [false, false], 'held');
  });

  test('is taken over if it was not renewed for 30 s, and the former holder notices', async (t) => {
    const folder = await tempFolder(t);
    const clock = new VirtualClock();
    const former = await takeStill(folder);
    assert.ok(former !== undefined);
    const [next, seconds] = await takeStale(folder, clock);
    assert.ok(next !== undefined);
    assert.equal(seconds, staleMs / 1_000);
    assert.deepEqual([await renews(former), await renews(next)], [false, true]);
    assert.deepEqual([former.lost.aborted, next.lost.aborted], [true, false]);
  });

  test('F54 of a window on a sleeping machine is kept if it is renewed on waking', async (t) => {
    const folder = await tempFolder(t);
    const clock = new VirtualClock();
    const lease = await takeStill(folder);
    // The monotonic clock of some systems continues.
    for (const sleep of [clock.moveWall.bind(clock), clock.advance.bind(clock)]) {
      sleep(8 * 3600_000);
      assert.equal(await takeLease(folder, depsOf(clock)), undefined, 'seen unchanged');
      clock.advance(5_000);
      await renewFile(join(folder, 'lease-1.json'), clock);
      assert.equal(lease?.lost.aborted, false);
      clock.advance(deadMs);
      assert.equal(await takeLease(folder, depsOf(clock)), undefined, 'seen to be renewed');
    }
  });

  test('F63 renewed late, while another window finds it abandoned, stays with its holder', async (t) => {
    const folder = await tempFolder(t);
    let isRenewed = false;
    // This is the last check of a stale lease, just before a new one is created.
    class LookingClock extends VirtualClock {
      override monotonic(): number {
        const now = this.now() / 1000;
        if (isRenewed) utimesSync(join(folder, 'lease-1.json'), now, now);
        return super.monotonic();
      }
    }
    const clock = new LookingClock();
    const holder = await takeStill(folder);
    for (let looks = 0; looks < 3; looks += 1) {
      assert.equal(await takeLease(folder, depsOf(clock)), undefined);
      clock.advance(deadMs);
    }
    isRenewed = true;
    assert.equal(await takeLease(folder, depsOf(clock)), undefined);
    assert.deepEqual([await renews(holder), await readdir(folder)], [true, ['lease-1.json']]);
  });

  test('F63 renews itself while it is held, and tells its holder once another window has it', async (t) => {
    const folder = await tempFolder(t);
    const clock = new VirtualClock();
    const traffic = watchTraffic(t);
    const lease = await takeLease(folder, depsOf(clock));
    for (let beat = 0; beat < 20; beat += 1) {
      clock.advance(5_000);
      await clock.rest(traffic);
      assert.equal(await takeLease(folder, depsOf(clock)), undefined);
    }
    await writeFile(join(folder, 'lease-2.json'), '');
    clock.advance(5_000);
    await clock.rest(traffic);
    assert.equal((lease?.lost.reason as AssessmentError).kind, 'busyElsewhere');
    const slept = clock.slept.length;
    clock.advance(60_000);
    await clock.rest(traffic);
    assert.equal(clock.slept.length, slept, 'it has no timer any more');
  });

  test('F63 of a process that is dead here is taken over after 10 s, by one of many that wait for it', async (t) => {
    const folder = await tempFolder(t);
    const clock = new VirtualClock();
    const holder = JSON.stringify({ pid: await deadPid(), host: hostname() });
    await writeFile(join(folder, 'lease-7.json'), holder);
    const began = clock.now();
    const waiting = Promise.all(Array.from({ length: 8 }, () => awaitLease(folder, depsOf(clock))));
    const takers = await clock.passUntil(waiting, watchTraffic(t));
    assert.equal(takers.filter((lease) => lease !== undefined).length, 1);
    assert.deepEqual(await readdir(folder), ['lease-8.json']);
    assert.equal(Math.round(clock.now() - began), deadMs);
  });

  test('F197 of a process that is not known here is held while it is renewed, and nobody waits for it', async (t) => {
    const folder = await tempFolder(t);
    const clock = new VirtualClock();
    const path = join(folder, 'lease-1.json');
    await writeFile(path, JSON.stringify({ pid: await deadPid(), host: hostname() }));
    const traffic = watchTraffic(t);
    for (let renewals = 0; renewals < 60; renewals += 1) {
      await renewFile(path, clock);
      assert.equal(await takeLease(folder, depsOf(clock)), undefined);
      clock.advance(5_000);
    }
    const waiting = awaitLease(folder, depsOf(clock));
    await clock.whenAsleep();
    await renewFile(path, clock);
    assert.equal(await clock.passUntil(waiting, traffic), undefined);
    assert.equal((await takeStale(folder, clock))[1], deadMs / 1_000, 'until it is killed');
  });

  const here = JSON.stringify({ pid: process.pid, host: hostname() });
  const elsewhere = JSON.stringify({ pid: 1, host: 'another-invented-host' });
  for (const content of ['', '{"pid":', 'null', '\0\0\0\0', here, elsewhere])
    test(`with the file content ${content.slice(0, 7)} counts until it is stale, as one dated in the future is`, async (t) => {
      const folder = await tempFolder(t);
      const clock = new VirtualClock();
      await writeFile(join(folder, 'lease-1.json'), content);
      assert.equal((await takeStale(folder, clock))[1], staleMs / 1_000);
      const later = clock.now() / 1000 + 24 * 3600;
      await writeFile(join(folder, 'lease-3.json'), content);
      await utimes(join(folder, 'lease-3.json'), later, later);
      assert.equal((await takeStale(folder, clock))[1], staleMs / 1_000);
    });

  test('F176 is taken although the file of the one before it cannot be removed', async (t) => {
    const folder = await tempFolder(t);
    // A folder by that name is not removed either.
    await mkdir(join(folder, 'lease-1.json'));
    await utimes(join(folder, 'lease-1.json'), 0, 0);
    const clock = new VirtualClock();
    const lease = await takeLease(folder, depsOf(clock));
    assert.equal(await renews(lease), true);
    assert.equal(await takeLease(folder, depsOf(clock)), undefined);
  });

  test('F176 is lost with its run, but not with the disk, which Windows reports in the same way', async (t) => {
    const root = join(await tempFolder(t), 'runs');
    await mkdir(join(root, 'one'), { recursive: true });
    const lease = await takeLease(join(root, 'one', 'lease'), depsOf(new VirtualClock()));
    await rename(root, `${root}.away`);
    await assert.rejects(async () => lease?.renew(), { code: 'ENOENT' });
    await rename(`${root}.away`, root);
    assert.equal(await renews(lease), true);
    await rm(join(root, 'one'), { recursive: true });
    assert.equal(await renews(lease), false);
    assert.equal(await takeLease(join(root, 'one', 'lease'), depsOf(new VirtualClock())), undefined);
    assert.deepEqual(await readdir(root), [], 'a removed run does not come back');
  });

  test(
    "F63 with an unreadable file or folder is not acquired, with the system's reason",
    { skip: withRights.skip || (!isRoot && 'whoever may not become somebody else owns all files') },
    async (t) => {
      const location = testTree(t);
      const folder = join(location.root, 'lease');
      const clock = new VirtualClock();
      await takeStill(folder);
      assert.equal(await takeLease(folder, depsOf(clock)), undefined);
      clock.advance(deadMs);
      chmodSync(folder, 0o755);
      const take = (): Promise<unknown> => asNobody(location, () => takeLease(folder, depsOf(clock)));
      await assert.rejects(take(), { code: 'EACCES', syscall: 'open' });
      chmodSync(folder, 0o300);
      await assert.rejects(take(), { code: 'EACCES', syscall: 'scandir' });
    },
  );

  test('F63 of a process of another user counts while that process lives', withRights, async (t) => {
    const location = testTree(t);
    const holder = { pid: strangersPid(t), host: hostname() };
    await writeFile(join(location.root, 'lease-1.json'), JSON.stringify(holder));
    if (isRoot) chmodSync(location.root, 0o777);
    const clock = new VirtualClock();
    const takers = await asNobody(location, async () => {
      const first = await takeLease(location.root, depsOf(clock));
      clock.advance(deadMs);
      return [first, await takeLease(location.root, depsOf(clock))];
    });
    assert.deepEqual(takers, [undefined, undefined]);
  });

  test('is not restored by a renewal that was running during its release', async (t) => {
    const folder = await tempFolder(t);
    const clock = new VirtualClock();
    for (let round = 0; round < 20; round += 1) {
      const lease = await takeLease(folder, depsOf(clock));
      assert.ok(lease !== undefined, `round ${String(round)}`);
      await Promise.all([lease.renew(), lease.release()]);
      assert.ok((await stat(join(folder, `lease-${String(round + 1)}.json`))).mtime < new Date(2001, 0));
    }
  });
});
