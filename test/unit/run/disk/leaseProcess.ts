/** Child process that tries to take the lease of the folder in its first argument on each message. */
import type { Clock } from '../../../../src/core/ports.ts';
import { takeLease } from '../../../../src/core/run/disk/lease.ts';

const clock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: () => Promise.resolve(),
};

process.on('message', () => {
  void takeLease(process.argv[2] ?? '', clock).then((lease) => process.send?.(lease !== undefined));
});
// A parent that died must not leave this process behind.
process.once('disconnect', () => process.exit());
process.send?.('ready');
