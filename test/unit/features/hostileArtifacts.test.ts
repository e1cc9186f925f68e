import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readFeatures } from '../../../src/core/features/features.ts';
import { readScanProgress } from '../../../src/core/features/scanProgress.ts';
import { testBlocks, type Work } from '../core/blockedLoop.ts';
import { parseWorker } from '../findings/parse/bundledWorker.ts';
import { tempFolder } from '../run/tempFolder.ts';
import { crawledWith } from './crawledRun.ts';

const count = 600_000;

/** Only the transfer from the worker counts. */
const maxMs = 50;

async function folderWith(
  after: Parameters<Work['prepare']>[0],
  name: string,
  content: unknown,
): Promise<string> {
  const folder = await tempFolder({ after });
  await writeFile(join(folder, name), JSON.stringify(content));
  return folder;
}

await testBlocks(import.meta.filename, {
  'F146 of 1,200,000 features the first 10,000 are read, and how many are not': {
    maxMs,
    prepare: async (after) => {
      const names = Array.from({ length: 10_000 }, (_, at) => ({ name: `Feature ${at}` }));
      const nameless = Array.from({ length: 2 * count }, () => ({ id: 1 }));
      const folder = await folderWith(after, 'features.json', [...names, ...nameless]);
      return async () => {
        const { features, cut } = await readFeatures(crawledWith('features'), folder, parseWorker);
        assert.deepEqual([features.length, cut], [10_000, 2 * count]);
      };
    },
  },
  'F146 of the progress of 300,000 pairs as many are read as features have, and others are unknown': {
    maxMs,
    prepare: async (after) => {
      const completed = Array.from({ length: count / 2 }, (_, at) => ({
        feature_name: `F${at}`,
        perspective: 'XSS',
      }));
      const folder = await folderWith(after, 'scan_progress.json', { completed, skipped: [] });
      return async () => {
        const progress = await readScanProgress(crawledWith('scan_progress'), folder, parseWorker);
        assert.deepEqual([progress.tested, progress.problem], [110_000, 'partlyUnreadable']);
        assert.deepEqual(
          ['F109999', 'F110000'].map((feature) => progress.stateOf(feature, 'XSS')),
          ['tested', 'unknown'],
        );
      };
    },
  },
});
