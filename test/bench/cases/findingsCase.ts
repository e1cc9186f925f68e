import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { median } from '../pairs.ts';
import type { Row } from '../rows.ts';
import type { Subjects } from '../subjects/subjects.ts';

const findingsPerFile = 10;
const linesPerFile = 200;
const busy = { path: 'src/busy.js', findings: 100, lines: 5_000 };

/** From a saved result to the shown findings, also after `earlier` other runs, and a file with 100 findings that is placed again after typing. */
export async function measureFindings(
  count: number,
  subjects: Subjects,
  scratch: string,
  times: number,
  earlier = 0,
): Promise<Row[]> {
  const root = join(scratch, `findings-${count}-${earlier}`);
  const file = makeRun(root, count);
  addLaterRuns(join(root, 'runs'), earlier);
  // Works out and saves the results.
  await subjects.run({ kind: 'findings', storage: root, file });
  const first: number[] = [];
  const placed: number[] = [];
  const delays: number[] = [];
  const again: number[] = [];
  for (let time = 0; time < times; time++) {
    const outcome = await subjects.run({ kind: 'findings', storage: root, file });
    first.push(outcome.ms[0] ?? NaN);
    placed.push(outcome.ms[1] ?? NaN);
    again.push(median(outcome.ms.slice(2)));
    delays.push(outcome.delayMaxMs);
  }
  const corpus = earlier === 0 ? `${count} findings` : `${count} findings, ${earlier} earlier runs`;
  return [
    {
      what: 'findings: saved result to first problem',
      corpus,
      unit: 'ms',
      ours: median(first),
      ...within(count, 60, 200),
    },
    {
      what: 'findings: saved result to all placed',
      corpus,
      unit: 'ms',
      ours: median(placed),
      ...within(count, 120, 500),
    },
    { what: 'event loop, longest delay', corpus, unit: 'ms', ours: median(delays), target: { atMost: 20 } },
    {
      what: 'findings: file with 100 placed again',
      corpus,
      unit: 'ms',
      ours: median(again),
      target: { atMost: 100 },
    },
  ];
}

/** Of more findings than are read there is no target. Ours share the time with the drawing of tree and panel. */
function within(count: number, few: number, many: number): Pick<Row, 'target'> {
  if (count <= 1_000) return { target: { atMost: few } };
  return count <= 10_000 ? { target: { atMost: many } } : {};
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
        description: 'Input reaches a query without being checked. '.repeat(12),
        recommendation: 'Bind parameters instead of joining texts. '.repeat(6),
        locations: [{ file: path, start_line: line, snippet: at % 2 === 0 ? lines[line - 1] : undefined }],
      };
    });
  });
  const run = join(root, 'runs', '20260101000000-bench');
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
