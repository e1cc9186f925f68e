import type { ShownFinding } from '../../../src/core/findings/shownFinding.ts';
import { ProblemFiles } from '../../../src/core/findings/view/problemFiles.ts';
import { problemsByFile } from '../../../src/core/findings/view/problems.ts';
import type { Run } from '../../../src/core/run/state/run.ts';
import { median } from '../pairs.ts';
import type { Row } from '../rows.ts';

const run = { id: 'invented-run', targets: [] } as unknown as Run;

/** How long findings take into Problems, and the longest pause that they make; what VS Code does with them is not in it. */
export async function measureProblems(times: number): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [corpus, count, files, atMost] of [
    ['1k findings', 1_000, 200, 60],
    ['10k findings', 10_000, 2_000, 250],
    ['10k findings in a file', 10_000, 1, 250],
  ] as const) {
    const measured: Measured[] = [];
    for (let time = 0; time < times; time++) measured.push(await measure(inventFindings(count, files)));
    const first = median(measured.map(({ allMs }) => allMs));
    const again = median(measured.map(({ againMs }) => againMs));
    const pause = Math.max(...measured.map(({ pauseMs }) => pauseMs));
    rows.push(
      { what: 'findings → problems', corpus, unit: 'ms', ours: first, target: { atMost } },
      { what: 'the same findings again', corpus, unit: 'ms', ours: again },
      { what: 'longest pause', corpus, unit: 'ms', ours: pause, target: { atMost: 50 } },
    );
  }
  return rows;
}

interface Measured {
  readonly allMs: number;
  readonly againMs: number;
  readonly pauseMs: number;
}

async function measure(findings: readonly ShownFinding[]): Promise<Measured> {
  const collection = new Map<string, readonly object[]>();
  const files = new ProblemFiles({
    now: () => performance.now(),
    put: function* (file, shown) {
      const problems: object[] = [];
      for (const { finding, places } of shown) {
        problems.push({
          message: `High: ${finding.title}`,
          line: places[0]?.startLine,
          code: `CWE-${finding.cwes.join()}`,
        });
        yield;
      }
      collection.set(file, problems);
    },
  });
  const pauses = watchPauses();
  const start = performance.now();
  await files.showAll(problemsByFile(findings));
  const allMs = performance.now() - start;
  // As after a triage decision: every finding is a new object, and none makes another problem.
  await files.showAll(problemsByFile(findings.map((shown) => ({ ...shown }))));
  const againMs = performance.now() - start - allMs;
  return { allMs, againMs, pauseMs: await pauses.longest() };
}

/** Notes how long the event loop was held between two turns. */
function watchPauses(): { longest(): Promise<number> } {
  let last = performance.now();
  let longest = 0;
  let isOver = false;
  const turn = (): void => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  return {
    longest: () =>
      new Promise((resolve) => {
        isOver = true;
        setImmediate(() => resolve(longest));
      }),
  };
}

function inventFindings(count: number, files: number): ShownFinding[] {
  return Array.from({ length: count }, (_, index) => {
    const path = `src/file${String(index % files)}.js`;
    const told = { path, startLine: 1 + Math.floor(index / files) };
    return {
      run,
      finding: {
        index,
        id: `WB-${String(index)}`,
        title: `Invented finding ${String(index)}`,
        severity: 'high',
        description: '',
        blocks: [],
        recommendation: '',
        places: [told],
        cwes: [89],
        raw: '{}',
      },
      places: [
        {
          file: `/home/dev/${path}`,
          folder: '/home/dev',
          path,
          startLine: told.startLine,
          told,
          drift: 'same',
        },
      ],
      folder: undefined,
      identity: { fingerprint: String(index), spot: '', code: [], title: '', only: [], run: run.id, index },
      triage: { state: 'open', note: '', at: 0 },
    };
  });
}
