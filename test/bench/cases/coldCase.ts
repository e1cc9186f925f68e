import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { type Corpus, withSizes } from './folderCases.ts';
import { inPairs, median } from '../pairs.ts';
import { peersFor } from '../peers.ts';
import type { Row } from '../rows.ts';
import type { Subjects } from '../subjects/subjects.ts';

/** Selection right after the system has forgotten all it had read from disk; needs Linux and root. */
export async function measureColdSelection(
  { name, root }: Corpus,
  subjects: Subjects,
  scratch: string,
  pairs: number,
): Promise<Row[]> {
  const peers = peersFor(root, scratch);
  const statuses: number[] = [];
  const fromCold = (peer: () => number): number => {
    forget();
    // Ours is timed inside its process, so git's program must be in memory, too.
    spawnSync('git', ['--version']);
    return peer();
  };
  const times = await inPairs(
    pairs,
    async () => {
      forget();
      return (await subjects.run({ kind: 'select', root, times: 1 })).ms[0] ?? NaN;
    },
    () => {
      statuses.push(fromCold(peers.status));
      return fromCold(peers.select);
    },
  );
  const what = 'selection, cold';
  return [
    { what, corpus: name, unit: 'ms', ...times, peerName: 'git ls-files' },
    withSizes(what, name, times.ours, median(statuses)),
  ];
}

/** Drops page cache, directory entries and inodes. */
function forget(): void {
  spawnSync('sync');
  writeFileSync('/proc/sys/vm/drop_caches', '3');
}
