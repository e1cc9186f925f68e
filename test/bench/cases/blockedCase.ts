import { globSync } from 'node:fs';
import { join } from 'node:path';
import { longestBlockMs, worksIn } from '../../unit/core/blockedLoop.ts';
import { median } from '../pairs.ts';
import type { Row } from '../rows.ts';

const unit = join(import.meta.dirname, '../../unit');

/**
 * Measures, in processor time, how long hostile and huge inputs of the unit tests block the event
 * loop.
 */
export function measureBlocks(times: number): Row[] {
  return globSync('**/hostile*.test.ts', { cwd: unit }).flatMap((name) => {
    const file = join(unit, name);
    return Object.entries(worksIn(file)).map(([corpus, atMost]) => {
      const ours = median(Array.from({ length: times }, () => longestBlockMs(file, corpus)));
      return { what: 'longest block', corpus, unit: 'ms' as const, ours, target: { atMost } };
    });
  });
}
