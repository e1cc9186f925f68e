// What `npm test` runs, layer by layer: `node test/run.ts [--only unit,lint] [--grep TEXT]`.
import { spawn } from 'node:child_process';
import { globSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { finished } from 'node:stream/promises';
import { run } from 'node:test';
import { inspect, parseArgs } from 'node:util';
import { prepareVsCode, supportedVersions } from './host/vscode.ts';
import type { Tally } from './integration/results.ts';
import { runIntegration } from './integration/run.ts';
import { ownTemporary } from './ownTemporary.ts';

// Paths below are from the project's root.
process.chdir(path.resolve(import.meta.dirname, '..'));
// Each test file is a process of its own, and all of them load much the same modules.
process.env['NODE_COMPILE_CACHE'] ??= path.resolve('node_modules/.cache/compiled');
const { resolve: resolvePackage } = createRequire(import.meta.url);

/** A test file that runs longer hangs: it is ended and has failed. */
const maxFileMs = 10 * 60_000;

/** Six lines and more that stand in two places fail. */
const duplicates = ['--min-lines', '6', '--min-tokens', '60', '--threshold', '0', '--exitCode', '1'];

interface Filter {
  readonly grep?: string;
}

/** Build, typecheck and lint count as one test each. */
const layers: Readonly<Record<string, (filter: Filter) => Promise<Tally>>> = {
  build: () => check(['esbuild.mjs']),
  typecheck: () =>
    check(
      [program('typescript', 'bin/tsc'), '-p', '.'],
      [program('typescript', 'bin/tsc'), '-p', 'webview-ui/report'],
    ),
  lint: () =>
    check(
      [program('eslint', 'bin/eslint.js'), '.'],
      [program('prettier', 'bin/prettier.cjs'), '--check', '--log-level', 'warn', '.'],
      // Rows of the fault matrix without a test.
      ['test/matrix.ts'],
      // What nobody imports, what nothing but tests imports, and what stands in two places.
      [program('knip', 'bin/knip.js')],
      [program('knip', 'bin/knip.js'), '--production'],
      // It keeps its manifest to itself.
      ['node_modules/jscpd/bin/jscpd', '--silent', ...duplicates, 'src', 'webview-ui', 'test'],
    ),
  unit: (filter) =>
    // The longest first.
    runNodeTests(['test/unit/together.ts', 'test/unit/{,!(core|findings|report|service)/**/}*.test.ts'], {
      ...filter,
      // They wait for the disk as long as they work.
      concurrency: availableParallelism() + 1,
      listPassed: false,
    }),
  integration: async ({ grep }) => {
    const tallies: Tally[] = [];
    for (const version of [supportedVersions.newest, supportedVersions.oldest]) {
      print(`VS Code ${version}`);
      tallies.push(await runIntegration({ version, ...(grep === undefined ? {} : { grep }) }));
    }
    return sum(tallies);
  },
  e2e: async (filter) => {
    // Here, where its progress is seen; the tests' own output is not.
    for (const version of Object.values(supportedVersions)) await prepareVsCode(version);
    return runNodeTests(['test/e2e/**/*.test.ts'], { ...filter, concurrency: 1, listPassed: true });
  },
};

const { values } = parseArgs({ options: { only: { type: 'string' }, grep: { type: 'string' } } });
const chosen = values.only?.split(',') ?? Object.keys(layers);
const unknown = chosen.filter((name) => !(name in layers));
if (unknown.length > 0)
  throw new Error(`No such layer: ${unknown.join(', ')}. There are: ${Object.keys(layers).join(', ')}.`);

const removeTemporary = await ownTemporary();
const tallies: Tally[] = [];
const times: string[] = [];
for (const [name, runLayer] of Object.entries(layers).filter(([layer]) => chosen.includes(layer))) {
  print(`\n${name}`);
  const start = performance.now();
  const tally = await runLayer(values.grep === undefined ? {} : { grep: values.grep }).catch(
    (error: unknown) => {
      print(inspect(error));
      return { passed: 0, failed: 1, skipped: 0 };
    },
  );
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  tallies.push(tally);
  times.push(`${name} ${seconds} s`);
  print(`${name}: ${describeTally(tally)} in ${seconds} s`);
}
await removeTemporary();
const total = sum(tallies);
print(`\n${times.join(', ')}`);
print(describeTally(total));
process.exitCode = total.failed > 0 || total.passed === 0 ? 1 : 0;

/** Runs Node programs one after the other; all must succeed. */
async function check(...commands: readonly (readonly string[])[]): Promise<Tally> {
  for (const command of commands) {
    const code = await new Promise<number | null>((resolve, reject) => {
      const child = spawn(process.execPath, command, { stdio: 'inherit' });
      child.once('error', reject);
      child.once('exit', (exitCode) => resolve(exitCode));
    });
    if (code !== 0) return { passed: 0, failed: 1, skipped: 0 };
  }
  return { passed: 1, failed: 0, skipped: 0 };
}

function program(name: string, file: string): string {
  return path.join(path.dirname(resolvePackage(`${name}/package.json`)), file);
}

interface NodeTestOptions extends Filter {
  readonly concurrency: number;
  /** Whether passed tests are printed too. */
  readonly listPassed: boolean;
}

interface Marked {
  readonly name: string;
  readonly skip?: string | boolean;
  readonly todo?: string | boolean;
}

async function runNodeTests(
  patterns: readonly string[],
  { concurrency, listPassed, grep }: NodeTestOptions,
): Promise<Tally> {
  const files = patterns.flatMap((pattern) => globSync(pattern).sort());
  if (files.length === 0) throw new Error(`No test file matches ${String(patterns)}.`);
  const tally = { passed: 0, failed: 0, skipped: 0 };
  const literal = grep?.replaceAll(/[.*+?^${}()|[\]\\]/gu, '\\$&');
  const filter = literal === undefined ? {} : { testNamePatterns: new RegExp(literal, 'u') };
  const events = run({ files, concurrency, timeout: maxFileMs, ...filter });
  const isSkipped = ({ name, skip, todo }: Marked): boolean => {
    const reason = [skip, todo].find((mark) => mark !== undefined && mark !== false);
    if (reason === undefined) return false;
    tally.skipped += 1;
    print(`  - ${name}: skipped, ${reason === true || reason === '' ? 'no reason given' : reason}`);
    return true;
  };
  events.on('test:stderr', ({ message }) => process.stdout.write(message));
  events.on('test:pass', (data) => {
    if (data.details.type === 'suite' || isSkipped(data)) return;
    // A file that registers no test passes under its own name.
    if (path.resolve(data.name) === data.file) {
      if (grep !== undefined) return;
      tally.failed += 1;
      print(`  ✖ ${data.name} holds no test`);
      return;
    }
    tally.passed += 1;
    if (listPassed) print(`  ✔ ${data.name} (${Math.round(data.details.duration_ms)} ms)`);
  });
  events.on('test:fail', (data) => {
    const { error } = data.details;
    // What fails only because a test inside it does, is counted there.
    if (isOnlyOfSubtests(error) || isSkipped(data)) return;
    tally.failed += 1;
    print(`  ✖ ${data.name} (${path.relative('', data.file ?? '')})`);
    print(inspect(causeOf(error)).replaceAll(/^/gmu, '      '));
  });
  await finished(events.resume());
  return tally;
}

function isOnlyOfSubtests(error: Error): boolean {
  return (error as { failureType?: string }).failureType === 'subtestsFailed';
}

/** The runner wraps what a test threw. */
function causeOf(error: Error): unknown {
  return error.cause ?? error;
}

function sum(all: readonly Tally[]): Tally {
  const add = (key: keyof Tally): number => all.reduce((total, tally) => total + tally[key], 0);
  return { passed: add('passed'), failed: add('failed'), skipped: add('skipped') };
}

function describeTally({ passed, failed, skipped }: Tally): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
