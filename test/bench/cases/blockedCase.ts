import { join } from 'node:path';
import { longestBlockMs } from '../../unit/core/blockedLoop.ts';
import { median } from '../pairs.ts';
import type { Row } from '../rows.ts';

const unit = join(import.meta.dirname, '../../unit');

/** Hostile and huge inputs as the unit tests have them, with the longest time that each may block the editor's thread. */
const inputs = [
  ['workflows/hostileTargetFiles', 'F145 of 30,000 unknown members the first 100 are reported', 100],
  ['workflows/hostileTargetFiles', 'F145 1,000 passwords are taken out of a target file', 100],
  [
    'findings/drift/hostileLines',
    'F146 quotes that a line of 1 MB has almost everywhere cannot be checked',
    200,
  ],
  ['findings/drift/hostileLines', 'F146 200 findings in a line of 2 MB: keys are typed in it', 100],
  [
    'findings/drift/hostileLines',
    'F146 200 findings in a line of 2 MB: two runs are compared, and what is not compared is not called absent',
    200,
  ],
  [
    'features/hostileArtifacts',
    'F146 of 1,200,000 features the first 10,000 are read, and how many are not',
    200,
  ],
  [
    'features/hostileArtifacts',
    'F146 of the progress of 600,000 pairs as many are read as features have, and others are unknown',
    200,
  ],
  ['findings/importExport/hostileBundles', 'F146 a bundle of a run of 190,000 files is read', 200],
  ['findings/importExport/hostileBundles', 'F146 a run of 190,000 files is shown', 200],
  [
    'findings/triage/hostileDecisions',
    'F146 30,000 decisions about one kind of finding in one file are found for as many findings of another run',
    200,
  ],
  ['upload/ignore/hostileIndex', 'F167 an index of version 2 with 100,000 files is read', 200],
  ['upload/ignore/hostileIndex', 'F167 an index of version 4 with 100,000 files is read', 200],
] as const;

/** How long the event loop is blocked, in processor time, while what comes from outside is read. */
export function measureBlocks(times: number): Row[] {
  return inputs.map(([file, name, atMost]) => {
    const blocks = Array.from({ length: times }, () => longestBlockMs(join(unit, `${file}.test.ts`), name));
    const corpus = name.replace(/^F\d+ /, '');
    return { what: 'longest block', corpus, unit: 'ms', ours: median(blocks), target: { atMost } };
  });
}
