import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { runOf } from '../../unit/run/sampleRuns.ts';
import { inPairs, median, valuesInPairs } from '../pairs.ts';
import type { Row } from '../rows.ts';
import type { Job, Outcome } from '../subjects/subject.ts';
import type { Subjects } from '../subjects/subjects.ts';

const findingsPerFile = 10;
const linesPerFile = 200;
const busy = { path: 'src/busy.js', findings: 100, lines: 5_000 };

/**
 * Compares a saved result with the same *by hand*, also after `earlier` other runs, and with every
 * tenth file changed. Also places a file with 100 findings again after typing.
 */
export async function measureFindings(
  count: number,
  subjects: Subjects,
  scratch: string,
  times: number,
  earlier = 0,
): Promise<Row[]> {
  const root = join(scratch, `findings-${count}-${earlier}`);
  const file = makeRun(root, count);
  const folder = join(root, 'shop');
  const runFolder = join(root, 'runs', firstRun);
  addLaterRuns(join(root, 'runs'), earlier);
  const rows: Row[] = [];
  const corpus = earlier === 0 ? `${count} findings` : `${count} findings, ${earlier} earlier runs`;
  if (earlier === 0) rows.push(...(await measureWorkingOut(root, corpus, subjects, times)));
  // Works out and saves the results.
  else await subjects.run({ kind: 'findings', storage: root, file });
  const lastFolder = earlier === 0 ? runFolder : join(root, 'runs', `${firstRun}${earlier}`);
  const open = (): Promise<Outcome> => subjects.run({ kind: 'findings', storage: root, file });
  const byHand = (worker = false): Promise<Outcome> =>
    subjects.run({ kind: 'byHand', runFolder: lastFolder, folder, worker });
  const [delays, again]: [number[], number[]] = [[], []];
  const [first, located] = await valuesInPairs(
    times,
    async () => {
      const { ms, delayMaxMs } = await open();
      again.push(median(ms.slice(2)));
      delays.push(delayMaxMs);
      return ms;
    },
    async () => (await byHand()).ms,
  );
  const compared = { corpus, unit: 'ms', peerName: 'by hand', target: { atMost: 2 } } as const;
  rows.push(
    { what: 'findings: saved result to first problem', ...compared, ...first! },
    { what: 'findings: saved result to all placed', ...compared, ...located! },
    { what: 'event loop, longest delay', corpus, unit: 'ms', ours: median(delays), target: { atMost: 50 } },
  );
  const locatedAgain = { what: 'findings: file with 100 placed again', ours: median(again) };
  rows.push({ ...locatedAgain, corpus, unit: 'ms', target: { atMost: 100 } });
  if (earlier > 0) return rows;
  changeFiles(folder);
  const msOf = async (run: Promise<Outcome>): Promise<number> => (await run).ms[1] ?? NaN;
  const changed = await inPairs(
    times,
    () => msOf(open()),
    () => msOf(byHand(true)),
  );
  rows.push({ what: 'findings: the same, 10 % of the files changed', ...compared, ...changed });
  return rows;
}

async function measureWorkingOut(
  root: string,
  corpus: string,
  subjects: Subjects,
  times: number,
): Promise<Row[]> {
  const [runFolder, folder] = [join(root, 'runs', firstRun), join(root, 'shop')];
  const msOf = async (job: Job): Promise<number> => (await subjects.run(job)).ms[0] ?? NaN;
  const measured = await inPairs(
    times,
    () => msOf({ kind: 'workOut', storage: root, run: firstRun }),
    () => {
      for (const name of ['result.json', 'details.jsonl', 'source', 'by-hand'])
        rmSync(join(runFolder, name), { recursive: true, force: true });
      return msOf({ kind: 'workOutByHand', runFolder, folder, to: join(runFolder, 'by-hand') });
    },
  );
  const bytesOf = (...names: string[]): number =>
    names.reduce((sum, name) => sum + statSync(join(runFolder, name)).size, 0);
  const [written, read] = [bytesOf('result.json', 'details.jsonl'), bytesOf('findings.json')];
  return [
    {
      what: 'findings: working out a result',
      corpus,
      unit: 'ms',
      ...measured,
      peerName: 'by hand',
      target: { atMost: 8 },
    },
    {
      what: 'findings: bytes of result and details',
      corpus,
      unit: 'kB',
      ours: written / 1e3,
      peer: read / 1e3,
      peerName: 'findings file',
      ratio: written / read,
      target: { atMost: 1.5 },
      note: `result ${(bytesOf('result.json') / 1e6).toFixed(1)} MB`,
    },
  ];
}

/** Writes a line above all others into every tenth file. */
function changeFiles(folder: string): void {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.js'),
  );
  for (const [at, name] of files.entries())
    if (at % 10 === 0)
      writeFileSync(join(folder, name), `// above\n${readFileSync(join(folder, name), 'utf8')}`);
}

const firstRun = '20260101000000-bench';
const textLength = 1_500;

/** The text has about 1,500 characters, of which every third is Japanese. */
function proseOf(at: number): string {
  const sentence =
    at % 3 === 0
      ? '入力が検査されずに問い合わせへ渡るため、攻撃者は任意の行を読み書きできます。'
      : 'Input reaches a query without being checked, so an attacker can read and write any row. ';
  return `${String(at)} ${sentence}`.repeat(Math.ceil(textLength / sentence.length)).slice(0, textLength);
}

export function makeRun(root: string, count: number): string {
  const folder = join(root, 'shop');
  const files = new Map<string, string>([[busy.path, textOf('busy', busy.lines)]]);
  for (let at = 0; at < (count - busy.findings) / findingsPerFile; at++) {
    files.set(`src/part${at % 40}/file${at}.js`, textOf(`file${at}`, linesPerFile));
  }
  for (const [path, text] of files) put(join(folder, path), text);
  const findings = [...files].flatMap(([path, text]) => {
    const lines = text.split('\n');
    const many = path === busy.path ? busy.findings : findingsPerFile;
    return Array.from({ length: many }, (_, at) => {
      const line = 1 + at * Math.floor((lines.length - 2) / many);
      return {
        title: `Invented weakness ${at}`,
        severity: ['critical', 'high', 'medium', 'low'][at % 4],
        cwe: 79 + (at % 20),
        description: proseOf(at),
        recommendation: 'Bind parameters instead of joining texts. '.repeat(6),
        locations: [{ file: path, start_line: line, snippet: at % 2 === 0 ? lines[line - 1] : undefined }],
      };
    });
  });
  const run = join(root, 'runs', firstRun);
  put(join(run, 'findings.json'), JSON.stringify({ findings }));
  const entries = [...files].map(([path, text]) => ({
    path,
    bytes: Buffer.byteLength(text),
    sha256: createHash('sha256').update(text).digest('hex'),
  }));
  put(join(run, 'manifest-0.json'), JSON.stringify({ entries, omitted: [] }));
  put(join(run, 'run.json'), JSON.stringify(journal(folder)));
  return join(folder, busy.path);
}

/** Copies the run of `makeRun`; every copy misses some other findings. */
export function addLaterRuns(stored: string, runs: number): void {
  const first = join(stored, '20260101000000-bench');
  const { findings } = JSON.parse(readFileSync(join(first, 'findings.json'), 'utf8')) as {
    findings: object[];
  };
  const run = JSON.parse(readFileSync(join(first, 'run.json'), 'utf8')) as object;
  for (let at = 1; at <= runs; at++) {
    const id = `20260101000000-bench${at}`;
    const copy = join(stored, id);
    cpSync(first, copy, { recursive: true });
    const some = findings.filter((_, index) => index % 20 !== at % 20);
    writeFileSync(join(copy, 'findings.json'), JSON.stringify({ findings: some }));
    const times = { createdAt: at + 1, dispatchedAt: at + 1 };
    writeFileSync(join(copy, 'run.json'), JSON.stringify({ ...run, id, runId: id, ...times }));
  }
}

function journal(folder: string): unknown {
  const artifacts = [{ name: 'findings', file: 'findings.json' }];
  return {
    ...runOf.succeeded,
    id: firstRun,
    targets: [{ folder, name: 'shop' }],
    artifacts,
    createdAt: 1,
    dispatchedAt: 1,
  };
}

function textOf(name: string, lines: number): string {
  return Array.from({ length: lines }, (_, at) =>
    at % 9 === 0 ? '' : `  const value${at} = compute('${name}', ${at}, other${at % 30});`,
  ).join('\n');
}

function put(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
