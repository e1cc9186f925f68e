import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { IntegrationEvent } from '../events.ts';

export interface Tally {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

export function addTallies(tallies: readonly Tally[]): Tally {
  const add = (key: keyof Tally): number => tallies.reduce((total, tally) => total + tally[key], 0);
  return { passed: add('passed'), failed: add('failed'), skipped: add('skipped') };
}

/**
 * Follows a results file while the tests write it, prints each test, and resolves with the tally at
 * their end. If `stopped` settles before that, one failure with `reason()` is added. `onTest`
 * receives each event except the end.
 */
export async function followResults(
  file: string,
  stopped: Promise<unknown>,
  reason: () => string,
  onTest: (event: IntegrationEvent) => void = () => undefined,
): Promise<Tally> {
  const tally = { passed: 0, failed: 0, skipped: 0 };
  let read = 0;
  const state = { isOver: false };
  const note = (): boolean => (state.isOver = true);
  const over = stopped.then(note, note);
  for (;;) {
    // Checked before reading, so that everything written before the stop is read.
    const wasOver = state.isOver;
    const lines = (await readFile(file, 'utf8')).split('\n').slice(0, -1);
    for (const line of lines.slice(read)) {
      const event = JSON.parse(line) as IntegrationEvent;
      if (event.kind === 'end') return tally;
      onTest(event);
      if (event.kind in tally) tally[event.kind as keyof Tally] += 1;
      const said = describeEvent(event);
      if (said !== undefined) process.stdout.write(`${said}\n`);
    }
    read = lines.length;
    if (wasOver) {
      const event = {
        kind: 'failed',
        title: 'the tests ended before their end',
        ms: 0,
        error: reason(),
      } as const;
      onTest(event);
      process.stdout.write(`${describeEvent(event) ?? ''}\n`);
      return { ...tally, failed: tally.failed + 1 };
    }
    await Promise.race([over, delay(200)]);
  }
}

function describeEvent(event: Exclude<IntegrationEvent, { kind: 'end' }>): string | undefined {
  switch (event.kind) {
    case 'passed':
      return `  ✔ ${event.title} (${event.ms} ms)`;
    case 'failed':
      return `  ✖ ${event.title} (${event.ms} ms)\n${indented(event.error)}`;
    case 'retried':
      return `  - ${event.title}: failed, and is run again\n${indented(event.error)}`;
    case 'skipped':
      return `  - ${event.title}: skipped, ${event.reason}`;
    case 'passedAgain':
      return `  - ${event.title}: passed when it was run again`;
    case 'uncaught':
      return `  - an error of another extension was not caught\n${indented(event.error)}`;
    case 'file':
      return undefined;
  }
}

function indented(error: string): string {
  return error.replaceAll(/^/gmu, '      ');
}
