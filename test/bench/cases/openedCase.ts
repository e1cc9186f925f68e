import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cpSync, mkdirSync } from 'node:fs';
import { storeLiveRun } from '../../integration/storedRuns.ts';
import { startService } from '../../service/assessmentService.ts';
import { inPairs } from '../pairs.ts';
import type { Row } from '../rows.ts';
import { addLaterRuns, makeRun } from './findingsCase.ts';

const outdated = 30;
const findings = 1_000;
const subject = join(import.meta.dirname, '../subjects/openedSubject.ts');

/**
 * Measures from the opening of a window with a live run to its first poll and answered command,
 * with and without results that must be worked out again.
 */
export async function measureOpened(scratch: string, pairs: number): Promise<Row[]> {
  const service = await startService();
  const { baseUrl, organizationId, token } = service;
  let windows = 0;
  const made = join(scratch, 'opened');
  makeRun(made, findings);
  addLaterRuns(join(made, 'runs'), outdated - 1);
  const open = async (hasResults: boolean): Promise<number> => {
    // What a window works out is saved, so each has its own storage.
    const storage = join(scratch, `opened-${String((windows += 1))}`);
    if (hasResults) cpSync(join(made, 'runs'), join(storage, 'runs'), { recursive: true });
    else mkdirSync(join(storage, 'runs'), { recursive: true });
    const folder = join(made, 'shop');
    await storeLiveRun(storage, { id: '20260102000000-live', folder, baseUrl, organizationId });
    const { stdout } = await promisify(execFile)(process.execPath, [subject, storage, folder, token]);
    return Number(stdout);
  };
  try {
    const { ours, peer, ratio } = await inPairs(
      pairs,
      () => open(true),
      () => open(false),
    );
    const corpus = `${outdated} outdated results of ${findings} findings`;
    return [
      {
        what: 'window opened → polled, command answered',
        corpus,
        unit: 'ms',
        ours,
        peer,
        peerName: 'no results',
        ratio,
        target: { atMost: 1.2 },
      },
    ];
  } finally {
    await service.close();
  }
}
