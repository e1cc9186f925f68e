/**
 * This child process applies events to the journal of a run as fast as it can, on a message.
 * Arguments: folder of the journals, run ID, count, and a name of its own.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../../../src/core/ports.ts';
import { RunStore } from '../../../../src/core/run/disk/runStore.ts';
import { silent } from '../../../silentLog.ts';

const [root = '', id = '', times = '0', name = ''] = process.argv.slice(2);
const clock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) => sleep(ms, undefined, signal === undefined ? {} : { signal }),
};
const store = new RunStore(root, { clock, log: silent });

process.once('message', () => {
  void (async () => {
    for (let at = 0; at < Number(times); at += 1)
      await store.apply(id, { type: 'artifactDownloaded', artifact: { name: `${name}-${String(at)}` }, at });
    process.send?.('done');
  })();
});
// A parent that died must not leave this process behind.
process.once('disconnect', () => process.exit());
process.send?.('ready');
