import type { RunIn } from '../../../src/core/run/state/run.ts';
import { runOf } from '../run/sampleRuns.ts';

export function crawledWith(role: string): RunIn<'succeeded'> {
  const ended = runOf.succeeded as RunIn<'succeeded'>;
  return { ...ended, workflow: 'blackbox-crawl', artifacts: [{ name: role, file: `${role}.json` }] };
}
