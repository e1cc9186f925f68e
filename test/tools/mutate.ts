/**
 * Runs mutation tests, room by room: `npm run mutate`, `npm run mutate -- disk`, or `npm run mutate
 * -- src/core/run/disk/lease.ts`. Mutants of unchanged code are not tested again, except with
 * `--force`. `--tests test/unit/run/disk/lease.test.ts` runs only this test file, for a quick first
 * look. `--sample 10` mutates only every tenth line, for a score in minutes. Reports are written to
 * `test-results/mutation`.
 */
import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { Stryker } from '@stryker-mutator/core';
import { ownTemporary } from './ownTemporary.ts';

process.chdir(path.resolve(import.meta.dirname, '../..'));
// Each mutant starts processes that load the same modules.
process.env['NODE_COMPILE_CACHE'] ??= path.resolve('node_modules/.cache/compiled');

interface Room {
  readonly files: readonly string[];
  /** The tests are in execution order. */
  readonly tests: readonly string[];
  /** If this is true, the score that `stryker.config.mjs` names is required. */
  readonly isHeld: boolean;
}

/**
 * Mutants of a folder of `core/run` meet only the tests of that folder, which is faster than all
 * tests. `others` are tests of other folders, without which some of its code is not called.
 */
const runFolder = (folder: string, others: readonly string[] = []): Room => ({
  files: [`src/core/run/${folder}/*.ts`],
  // The torture test is excluded, since specific tests notice mutants sooner.
  tests: [`${folder}/!(torture)`, ...others].map((name) => `test/unit/run/${name}.test.ts`),
  isHeld: true,
});

const rooms: Readonly<Record<string, Room>> = {
  tracker: {
    files: ['src/core/run/*.ts'],
    tests: ['test/unit/run/{drive,start,steps}/!(torture).test.ts'],
    isHeld: true,
  },
  state: runFolder('state', ['disk/{runStore,otherVersions}', 'drive/cancelling']),
  disk: runFolder('disk', ['drive/{watching,cancelling}']),
  start: runFolder('start', ['drive/unknownRun', 'disk/{kills,notSaved,runNotes}']),
  steps: runFolder('steps', ['drive/{cancelling,oneNotice,poll}']),
  drive: runFolder('drive', ['steps/{sendRemovals,downloadAgain}', 'disk/{notSaved,withoutStorage}']),
  ignoreRules: {
    files: ['ignoreRules', 'ruleLayers', 'pattern'].map((name) => `src/core/upload/ignore/${name}.ts`),
    tests: [
      'test/unit/upload/{ignore,select}/selection*.test.ts',
      'test/unit/upload/ignore/{readIgnoreFile,gitConditions}.test.ts',
    ],
    isHeld: true,
  },
  literal: {
    files: ['src/core/upload/secrets/literal.ts'],
    tests: ['test/unit/upload/secrets/literal.test.ts'],
    isHeld: true,
  },
  paths: {
    files: ['location/workspacePath', 'parse/pathText', 'location/resolver'].map(
      (name) => `src/core/findings/${name}.ts`,
    ),
    tests: ['test/unit/findings/{location,parse}/*.test.ts'],
    isHeld: true,
  },
  api: { files: ['src/core/api/*.ts'], tests: ['test/unit/api/*.test.ts'], isHeld: false },
};

const { values, positionals } = parseArgs({
  options: {
    force: { type: 'boolean', default: false },
    tests: { type: 'string', multiple: true },
    sample: { type: 'string' },
  },
  allowPositionals: true,
});

/** By default, the held rooms are mutated. */
function chosen(): [name: string, files: readonly string[]][] {
  const held = Object.keys(rooms).filter((name) => rooms[name]?.isHeld);
  return (positionals.length === 0 ? held : positionals).map((wish) => {
    const whole = rooms[wish];
    if (whole !== undefined) return [wish, whole.files];
    const name = Object.keys(rooms).find((room) =>
      rooms[room]?.files.some((pattern) => path.matchesGlob(wish, pattern)),
    );
    if (name === undefined)
      throw new Error(`No room holds ${wish}. There are: ${Object.keys(rooms).join(', ')}.`);
    return [name, [wish]];
  });
}

/** Whole files are mutated, or with `--sample` evenly spaced lines. */
async function linesOf(patterns: readonly string[]): Promise<string[]> {
  if (values.sample === undefined) return [...patterns];
  const step = Number(values.sample);
  let line = 0;
  const ranges: string[] = [];
  for (const file of globSync([...patterns]).sort())
    for (const [at] of (await readFile(file, 'utf8')).split('\n').entries())
      if ((line += 1) % step === 0) ranges.push(`${file}:${String(at + 1)}-${String(at + 1)}`);
  return ranges;
}

const removeTemporary = await ownTemporary();
// Property tests notice a mutant with a part of their cases, or not at all.
process.env['FUZZ_RUNS'] ??= '40';
const isWhole = values.tests === undefined && values.sample === undefined;
try {
  for (const [name, files] of chosen()) {
    const { tests, isHeld } = rooms[name] ?? { tests: [], isHeld: false };
    console.log(`\n${name}`);
    await new Stryker({
      mutate: await linesOf(files),
      tap: { testFiles: values.tests ?? [...tests] },
      incrementalFile: `test-results/mutation/${isWhole ? name : `${name}-some`}.json`,
      htmlReporter: { fileName: `test-results/mutation/${name}.html` },
      // Tests wait for the disk and for timers half of the time.
      concurrency: availableParallelism() * 4,
      force: values.force,
      ...(isHeld ? {} : { thresholds: { break: null } }),
    }).runMutationTest();
  }
} finally {
  await removeTemporary();
}
