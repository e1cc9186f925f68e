import { inspect, stripVTControlCharacters } from 'node:util';
import type { Tally } from '../../integration/runner/results.ts';

export interface LayerResult {
  readonly tally: Tally;
  readonly passedNames: readonly string[];
  readonly skippedNames: readonly string[];
  /** Each failure has a one-line reason. */
  readonly failures: readonly string[];
  /** These tests passed only when they were run again. */
  readonly passedAgain: readonly string[];
  /** Each file took this long, or each program of a layer without test files. */
  readonly files: readonly (readonly [name: string, ms: number])[];
  /**
   * The time is in seconds and includes everything that the layer started. It is undefined where it
   * cannot be measured.
   */
  readonly processorTime: number | undefined;
}

/** Collects what the tests of a layer report. */
export class Results {
  readonly passedNames = new Set<string>();
  readonly skippedNames = new Set<string>();
  readonly failures: string[] = [];
  readonly passedAgain: string[] = [];
  readonly #files = new Map<string, number>();

  fail(name: string, error: unknown): void {
    this.failures.push(`  ✖ ${name}: ${firstLine(error)}`);
  }

  passAgain(name: string): void {
    this.passedAgain.push(name);
    print(`  - ${name}: passed when it was run again`);
  }

  took(file: string, ms: number): void {
    this.#files.set(file, (this.#files.get(file) ?? 0) + ms);
  }

  toResult(tally: Tally, processorTime: number | undefined): LayerResult {
    return {
      tally,
      passedNames: [...this.passedNames],
      skippedNames: [...this.skippedNames],
      failures: this.failures,
      passedAgain: this.passedAgain,
      files: [...this.#files],
      processorTime,
    };
  }
}

function firstLine(error: unknown): string {
  const said = error instanceof Error ? error.message : typeof error === 'string' ? error : inspect(error);
  return stripVTControlCharacters(said).trim().split('\n', 1)[0] ?? '';
}

export function describeTally({ passed, failed, skipped }: Tally): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
