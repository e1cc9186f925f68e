// `npm run bench [-- --big] [--pairs N] [--only
// activation,folders,start,upload,secrets,findings,opened,trend,mcp,blocks,matching,reports]`: ours
// against the native tools, in one run, on folders it makes. Ratios carry over to other machines,
// times do not. Exits 1 when a target is missed.
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { measureActivation } from './cases/activationCase.ts';
import { measureBlocks } from './cases/blockedCase.ts';
import { makeCorpus } from './corpus.ts';
import { measureFindings } from './cases/findingsCase.ts';
import { type Corpus, measureFolder } from './cases/folderCases.ts';
import { measureMatching } from './cases/ignoreCase.ts';
import { measureMcp } from './cases/mcpCase.ts';
import { measureOpened } from './cases/openedCase.ts';
import { measureReports } from './cases/reportCase.ts';
import { isKept, type Row, toTable } from './rows.ts';
import { measureSecretCheck } from './cases/secretCase.ts';
import { measureStart } from './cases/startCase.ts';
import { bundleSubjects } from './subjects/subjects.ts';
import { measureTrend } from './cases/trendCase.ts';
import { measureUpload, writeNoise } from './cases/uploadCase.ts';

const { values } = parseArgs({
  options: {
    big: { type: 'boolean', default: false },
    pairs: { type: 'string', default: '5' },
    only: {
      type: 'string',
      default: 'activation,folders,start,upload,secrets,findings,opened,trend,mcp,blocks,matching,reports',
    },
  },
});
const pairs = Number(values.pairs);
const only = values.only.split(',');
const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'whitebox-bench-')));
process.on('SIGINT', () => process.exit(130));
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }));

const load = loadavg()[0] ?? 0;
say(
  `${availableParallelism()} cores, load ${load.toFixed(1)}, Node ${process.version}, medians of ${pairs} pairs`,
);
const subjects = await bundleSubjects(folder('bundles'));
const rows: Row[] = [];
if (only.includes('activation')) rows.push(...(await measureActivation(folder('activation'), pairs)));
const corpora = only.some((part) => ['folders', 'start', 'secrets'].includes(part)) ? folders() : [];
for (const corpus of corpora) {
  say(`measuring ${corpus.name} …`);
  if (only.includes('folders'))
    rows.push(...(await measureFolder(corpus, subjects, folder(`peers-${corpus.name}`), pairs)));
  if (only.includes('start')) rows.push(...(await measureStart(corpus, subjects, scratch, pairs)));
}
if (values.big && only.includes('folders')) rows.push(await measureOneLargeFile());
if (only.includes('secrets')) {
  for (const corpus of corpora.slice(0, 2)) rows.push(await measureSecretCheck(corpus, subjects, pairs));
}
if (only.includes('upload')) {
  const scratchUpload = folder('upload');
  for (const megabytes of values.big ? [256, 1024] : [64, 256]) {
    rows.push(...(await measureUpload(megabytes, subjects, scratchUpload, pairs)));
  }
}
if (only.includes('findings')) {
  for (const count of [1_000, 10_000]) {
    rows.push(...(await measureFindings(count, subjects, scratch, pairs)));
  }
  rows.push(...(await measureFindings(1_000, subjects, scratch, pairs, 200)));
}
if (only.includes('opened')) rows.push(...(await measureOpened(scratch, pairs)));
if (only.includes('trend')) rows.push(...(await measureTrend(scratch)));
if (only.includes('mcp')) rows.push(...(await measureMcp(scratch, pairs)));
if (only.includes('blocks')) rows.push(...measureBlocks(pairs));
if (only.includes('matching')) rows.push(...(await measureMatching(pairs)));
if (only.includes('reports')) rows.push(...(await measureReports(pairs)));
say(`load ${(loadavg()[0] ?? 0).toFixed(1)} at the end`);
console.log(toTable(rows));
process.exitCode = rows.some((row) => isKept(row) === false) ? 1 : 0;

function folders(): Corpus[] {
  const sizes = [
    { name: 'small', files: 1000, ignored: 500 },
    { name: 'medium', files: 10_000, ignored: 30_000 },
    ...(values.big ? [{ name: 'big', files: 100_000, ignored: 100_000 }] : []),
  ];
  return sizes.map(({ name, ...size }) => {
    const root = folder(name);
    const bytes = makeCorpus(root, size);
    say(`made ${name}: ${size.files} files, ${(bytes / 1e6).toFixed(0)} MB, and ${size.ignored} ignored`);
    return { name, root };
  });
}

async function measureOneLargeFile(): Promise<Row> {
  const root = folder('one-file');
  writeNoise(join(root, 'large.bin'), 2000);
  const outcome = await subjects.run({
    kind: 'package',
    root,
    format: 'tar_gz',
    to: join(scratch, 'archive'),
  });
  rmSync(root, { recursive: true });
  return {
    what: 'peak memory',
    corpus: 'one file of 2 GB',
    unit: 'MB',
    ours: outcome.peakBytes / 1e6,
    target: { atMost: 250 },
  };
}

function folder(name: string): string {
  const path = join(scratch, name);
  mkdirSync(path);
  return path;
}

function say(line: string): void {
  console.error(line);
}
