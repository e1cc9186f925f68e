// `npm test` runs this layer by layer: `node test/run.ts [--only unit,lint] [--grep TEXT]`.
import { fork } from 'node:child_process';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { addTallies } from './integration/runner/results.ts';
import { describeTally, type LayerResult, print } from './tools/layers/result.ts';
import { rowsOf, untestedRows } from './tools/matrix.ts';
import { ownTemporary } from './tools/ownTemporary.ts';

// Paths below are from the project's root.
process.chdir(path.resolve(import.meta.dirname, '..'));
// Each test file is a separate process, and most load the same modules.
process.env['NODE_COMPILE_CACHE'] ??= path.resolve('node_modules/.cache/compiled');

/** It runs only if it is named, since it takes long. */
const onlyNamed = 'windowsE2e';

/** Layers of one entry run concurrently, since each leaves a core idle at times. */
const order = [
  ['build'],
  ['typecheck', 'lint', 'unit', 'downloads'],
  ['integration', 'browser', 'windows'],
  ['e2e'],
  [onlyNamed],
];

/** The log names so many of the slowest files of a layer. */
const maxSlowest = 10;

const {
  values: { only, grep },
} = parseArgs({ options: { only: { type: 'string' }, grep: { type: 'string' } } });
const all = order.flat();
const chosen = only?.split(',') ?? all.filter((name) => name !== onlyNamed);
const unknown = chosen.filter((name) => !all.includes(name));
if (unknown.length > 0)
  throw new Error(`No such layer: ${unknown.join(', ')}. There are: ${all.join(', ')}.`);

const removeTemporary = await ownTemporary();
const results = new Map<string, LayerResult>();
const times: string[] = [];
for (const together of order) {
  const names = together.filter((name) => chosen.includes(name));
  if (names.length > 0) print(`\n${names.join(', ')}`);
  await Promise.all(names.map(runLayer));
}
const reports = [...results.values()];
const failures = reports.flatMap((result) => result.failures);
/** These parts are missing, beside failures of tests. */
const missing: string[] = [];
const skippedRows: string[] = [];
// A row of the fault matrix counts if one of its tests has run, which a partial run cannot tell.
if (only === undefined && grep === undefined) {
  const skipped = rowsOf(reports.flatMap((result) => result.skippedNames));
  for (const { number, title } of await untestedRows(rowsOf(reports.flatMap((result) => result.passedNames))))
    if (skipped.has(number) && process.env['REQUIRE_ORACLES'] === undefined)
      skippedRows.push(`  - F${number} ${title}`);
    else missing.push(`F${number} ${title}: no test of this row has run`);
}
const tests = [...results].filter(([name]) => !['build', 'typecheck', 'lint', 'downloads'].includes(name));
if (grep !== undefined && tests.every(([, { tally }]) => tally.passed + tally.failed + tally.skipped === 0))
  missing.push(`--grep: no title in ${chosen.join(', ')} contains “${grep}”`);
await removeTemporary();
const total = addTallies([
  ...reports.map(({ tally }) => tally),
  { passed: 0, failed: missing.length, skipped: 0 },
]);
const passedAgain = [...results].flatMap(([name, result]) =>
  result.passedAgain.map((title) => `  - ${name}: ${title}`),
);
if (skippedRows.length > 0)
  print(`\nRows of the fault matrix whose tests were all skipped:\n${skippedRows.join('\n')}`);
if (passedAgain.length > 0) print(`\nPassed only when run again:\n${passedAgain.join('\n')}`);
const failed = [...failures, ...missing.map((line) => `  ✖ ${line}`)];
if (failed.length > 0) print(`\nFailed:\n${failed.join('\n')}`);
print(`\n${times.join(', ')}`);
print(describeTally(total));
process.exitCode = total.failed > 0 || total.passed === 0 ? 1 : 0;

async function runLayer(name: string): Promise<void> {
  const start = performance.now();
  const result = await inOwnProcess(name);
  results.set(name, result);
  const { tally, files, processorTime } = result;
  const wallClock = seconds(performance.now() - start);
  const time =
    processorTime === undefined ? wallClock : `${wallClock} (processor ${seconds(processorTime * 1000)})`;
  times.push(`${name} ${time}`);
  const slowest = [...files].sort(([, one], [, other]) => other - one).slice(0, maxSlowest);
  if (slowest.length > 1)
    print(`Slowest of ${name}:\n${slowest.map(([file, ms]) => `  ${seconds(ms)}  ${file}`).join('\n')}`);
  print(`${name}: ${describeTally(tally)} in ${time}`);
}

/** In its own process, a layer's processor time can be told from that of others. */
function inOwnProcess(name: string): Promise<LayerResult> {
  return new Promise((resolve) => {
    const layer = fork('test/tools/layers/layer.ts', [name, ...(grep === undefined ? [] : ['--grep', grep])]);
    let result: LayerResult | undefined;
    layer.once('message', (message) => (result = message as LayerResult));
    layer.once('close', (code, signal) => {
      const failure = `  ✖ ${name}: its process ended early (${String(signal ?? code)})`;
      const nothing = {
        passedNames: [],
        skippedNames: [],
        passedAgain: [],
        files: [],
        processorTime: undefined,
      };
      const failed = { tally: { passed: 0, failed: 1, skipped: 0 }, failures: [failure], ...nothing };
      resolve(result ?? failed);
    });
  });
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
