import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { median } from '../pairs.ts';
import type { Row } from '../rows.ts';
import type { Outcome } from '../subjects/subject.ts';
import type { Subjects } from '../subjects/subjects.ts';

const findingsPerFile = 10;
const linesPerFile = 200;
const busy = { path: 'src/busy.js', findings: 100, lines: 5_000 };

/**
 * From a saved result to the shown findings, against the same *by hand*: also after `earlier` other runs, and with every tenth file changed. And a file with
 * 100 findings that is placed again after typing.
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
  const isLarge = count > 10_000;
  const [first, placed]: [Paired[], Paired[]] = [[], []];
  const [delays, again]: [number[], number[]] = [[], []];
  for (let time = 0; time < times; time++) {
    const peer = await byHand();
    const ours = await open();
    first.push({ ours: ours.ms[0] ?? NaN, peer: peer.ms[0] ?? NaN });
    placed.push({ ours: ours.ms[1] ?? NaN, peer: peer.ms[1] ?? NaN });
    again.push(median(ours.ms.slice(2)));
    delays.push(ours.delayMaxMs);
  }
  rows.push(
    { what: 'findings: saved result to first problem', corpus, ...compared(first, isLarge) },
    { what: 'findings: saved result to all placed', corpus, ...compared(placed, isLarge) },
    { what: 'event loop, longest delay', corpus, unit: 'ms', ours: median(delays), target: { atMost: 50 } },
    {
      what: 'findings: file with 100 placed again',
      corpus,
      unit: 'ms',
      ours: median(again),
      target: { atMost: 100 },
    },
  );
  if (earlier > 0 || isLarge) return rows;
  changeFiles(folder);
  const changed: Paired[] = [];
  for (let time = 0; time < times; time++) {
    const peer = await byHand(true);
    const ours = await open();
    changed.push({ ours: ours.ms[1] ?? NaN, peer: peer.ms[1] ?? NaN });
  }
  rows.push({ what: 'findings: the same, 10 % of the files changed', corpus, ...compared(changed, isLarge) });
  return rows;
}

async function measureWorkingOut(
  root: string,
  corpus: string,
  subjects: Subjects,
  times: number,
): Promise<Row[]> {
  const [runFolder, folder] = [join(root, 'runs', firstRun), join(root, 'shop')];
  const measured: Paired[] = [];
  for (let time = 0; time < times; time++) {
    for (const name of ['result.json', 'details.jsonl', 'source'])
      rmSync(join(runFolder, name), { recursive: true, force: true });
    const to = join(root, `by-hand-${time}`);
    const peer = await subjects.run({ kind: 'workOutByHand', runFolder, folder, to });
    const ours = await subjects.run({ kind: 'workOut', storage: root, run: firstRun });
    measured.push({ ours: ours.ms[0] ?? NaN, peer: peer.ms[0] ?? NaN });
  }
  const bytesOf = (...names: string[]): number =>
    names.reduce((sum, name) => sum + statSync(join(runFolder, name)).size, 0);
  const [written, read] = [bytesOf('result.json', 'details.jsonl'), bytesOf('findings.json')];
  return [
    {
      what: 'findings: working out a result',
      corpus,
      unit: 'ms',
      ...paired(measured),
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

interface Paired {
  readonly ours: number;
  readonly peer: number;
}

function paired(measured: readonly Paired[]): Pick<Row, 'ours' | 'peer' | 'ratio'> {
  return {
    ours: median(measured.map(({ ours }) => ours)),
    peer: median(measured.map(({ peer }) => peer)),
    ratio: median(measured.map(({ ours, peer }) => ours / peer)),
  };
}

/** Of more findings than are read there is no target. */
function compared(measured: readonly Paired[], isLarge: boolean): Omit<Row, 'what' | 'corpus'> {
  const target = isLarge ? {} : { target: { atMost: 2 } };
  return { unit: 'ms', ...paired(measured), peerName: 'by hand', ...target };
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

/** Of about 1,500 characters; every third is Japanese. */
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
  return {
    version: 1,
    state: 'succeeded',
    id: '20260101000000-bench',
    workflow: 'whitebox-assessment',
    baseUrl: 'https://assessment.example.test/v1',
    organizationId: 'invented',
    language: 'english',
    webhookEndpointIds: [],
    targets: [{ folder, name: 'shop' }],
    createdAt: 1,
    noticeDue: false,
    runId: 'invented',
    dispatchedAt: 1,
    exit: { kind: 'SUCCESS', artifacts: ['findings'] },
    exitedAt: 1,
    endedAt: 1,
    artifacts: [{ name: 'findings', file: 'findings.json' }],
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
