import { globSync } from 'node:fs';
import path from 'node:path';
import { finished } from 'node:stream/promises';
import { run } from 'node:test';
import { inspect } from 'node:util';
import type { Tally } from '../../integration/runner/results.ts';
import { print, type Results } from './result.ts';

/** A test file that runs longer is killed and fails. */
const maxFileMs = 30 * 60_000;

interface NodeTestOptions {
  readonly concurrency: number;
  /** Only tests whose full names contain this are run. */
  readonly grep?: string | undefined;
}

interface Marked {
  readonly name: string;
  readonly skip?: string | boolean;
  readonly todo?: string | boolean;
}

/**
 * Runs test files of `node:test`, each in a process. Nothing is run again: what passes by chance
 * has a race.
 */
export async function runNodeTests(
  patterns: readonly string[],
  results: Results,
  { concurrency, grep }: NodeTestOptions,
): Promise<Tally> {
  const files = patterns.flatMap((pattern) => globSync(pattern).sort());
  if (files.length === 0) throw new Error(`No test file matches ${String(patterns)}.`);
  const tally = { passed: 0, failed: 0, skipped: 0 };
  const filter = grep === undefined ? {} : { testNamePatterns: [new RegExp(literally(grep), 'u')] };
  const events = run({ files, concurrency, timeout: maxFileMs, ...filter });
  const isSkipped = ({ name, skip, todo }: Marked): boolean => {
    const reason = [skip, todo].find((value) => value !== undefined && value !== false);
    if (reason === undefined) return false;
    tally.skipped += 1;
    const isExplained = typeof reason === 'string' && reason !== '';
    if (isExplained) results.skippedNames.add(name);
    print(`  - ${name}: skipped, ${isExplained ? reason : 'no reason given'}`);
    return true;
  };
  const noteFailed = (name: string, file: string, error: unknown): void => {
    tally.failed += 1;
    results.fail(`${name} (${file})`, error);
    print(`  ✖ ${name} (${file})`);
    print(inspect(error).replaceAll(/^/gmu, '      '));
  };
  events.on('test:stderr', ({ message }) => process.stdout.write(message));
  events.on('test:pass', (data) => {
    const { name, file = '', nesting, details } = data;
    if (nesting === 0) results.took(path.relative('', file), details.duration_ms);
    const isSuite = details.type === 'suite';
    if (!isSuite && isSkipped(data)) return;
    results.passedNames.add(name);
    if (isSuite) return;
    // A file that registers no test passes under its own name.
    if (path.resolve(name) !== file) tally.passed += 1;
    else if (grep === undefined) noteFailed(name, path.relative('', file), 'holds no test');
  });
  events.on('test:fail', (data) => {
    const { name, file = '', nesting, details } = data;
    if (nesting === 0) results.took(path.relative('', file), details.duration_ms);
    // A suite that fails because of a test inside is counted there.
    if (!isOnlyOfSubtests(details.error) && !isSkipped(data))
      noteFailed(name, path.relative('', file), causeOf(details.error));
  });
  await finished(events.resume());
  return tally;
}

export function literally(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/gu, '\\$&');
}

function isOnlyOfSubtests(error: Error): boolean {
  return (error as { failureType?: string }).failureType === 'subtestsFailed';
}

function causeOf(error: Error): unknown {
  return error.cause ?? error;
}
