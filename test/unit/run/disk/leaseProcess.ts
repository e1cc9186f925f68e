/**
 * This child process tries to take the lease of the folder in its first argument on each message.
 * Its time runs 20 times as fast.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { silent } from '../../../silentLog.ts';
import type { Clock } from '../../../../src/core/ports.ts';
import { takeLease } from '../../../../src/core/run/disk/lease.ts';

const clock: Clock = {
  now: () => Date.now(),
  monotonic: () => 20 * performance.now(),
  sleep: (ms, signal) => sleep(ms / 20, undefined, { signal }),
};

process.on('message', () => {
  void takeLease(process.argv[2] ?? '', { clock, log: silent }).then((lease) =>
    process.send?.(lease !== undefined),
  );
});
// A parent that died must not leave this process behind.
process.once('disconnect', () => process.exit());
process.send?.('ready');
