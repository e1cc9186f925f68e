import { pathKey } from '../../paths.ts';
import { type Run, runIdOf } from '../../run/state/run.ts';
import type { Finding, Severity } from '../finding.ts';
import { type Identity, spotKeysOf } from '../identity.ts';
import type { Cut } from '../parse/parse.ts';
import type { FoundByRun, ResultFinding, ResultHead } from './result.ts';
import { readIfPossible, type WorkOutDeps } from './workOut.ts';
import type { Verdict } from './verdict.ts';

/** A finding of one run, without its texts. */
export interface TrendFinding {
  /** The local ID of the run that reports it, for an absent one the last that did. */
  readonly run: string;
  readonly severity: Severity;
  readonly finding: Pick<Finding, 'places' | 'toolDecision'>;
  readonly folder: string | undefined;
  readonly identity: Identity;
  /** The finding in all other runs, later ones included. Decisions about any of them hold for it. */
  readonly sameAs: readonly Identity[];
  readonly verdict: Verdict | undefined;
}

export interface FoundInRun {
  readonly cut: Cut | undefined;
  readonly reported: readonly TrendFinding[];
  readonly absent: readonly TrendFinding[];
}

/** What each run (newest first) found, and what it did not report again; undefined for a run that cannot be read. Only in the worker. */
export async function readTrendRows(
  runs: readonly Run[],
  deps: WorkOutDeps,
  onRun: (doneCount: number) => void,
): Promise<readonly (FoundInRun | undefined)[]> {
  const rowIds = new Set(runs.map((run) => runIdOf(run) ?? run.id));
  const rows: (Row | undefined)[] = [];
  const byFolder = new Map<string, readonly ResultFinding[]>();
  for (const [done, run] of runs.toReversed().entries()) {
    onRun(done);
    const saved = await readIfPossible(run, deps);
    const result = saved && { head: saved.head, ...saved.read() };
    rows.unshift(result && toRow(run, result, byFolder, rowIds));
  }
  const chains = new Map<string, readonly Identity[]>();
  return rows.map(
    (row) =>
      row && {
        cut: row.cut,
        reported: row.reported.map((each) => toTrendFinding(each, each.verdict, chains)),
        absent: row.absent.map((each) => toTrendFinding(each, row.verdictOf(each), chains)),
      },
  );
}

interface Row {
  readonly cut: Cut | undefined;
  readonly reported: readonly ResultFinding[];
  readonly absent: readonly ResultFinding[];
  readonly verdictOf: (finding: ResultFinding) => Verdict;
}

/** `byFolder` has, for each folder, the findings of the latest run that is about it. */
function toRow(
  run: Run,
  { head, findings, absent }: FoundByRun & { readonly head: ResultHead },
  byFolder: Map<string, readonly ResultFinding[]>,
  rowIds: ReadonlySet<string>,
): Row {
  const byHome = Map.groupBy([...findings, ...absent], ({ home }) => pathKey(home));
  const folders = run.targets.map(({ folder }) => pathKey(folder));
  for (const folder of new Set([...folders, ...byHome.keys()]))
    byFolder.set(folder, byHome.get(folder) ?? []);
  const [reported, judged] = [new Set(findings), new Set(absent)];
  const hasRow = ({ identity, sameAs, likely }: ResultFinding): boolean =>
    [identity, ...sameAs, ...likely].some((each) => [...runsOf(each)].some((id) => rowIds.has(id)));
  return {
    cut: head.cut,
    reported: findings,
    // A run of fewer folders says nothing of the findings in the others.
    absent: [...byFolder.values()].flat().filter((each) => !reported.has(each) && hasRow(each)),
    verdictOf: (finding) => (judged.has(finding) ? finding.verdict : undefined) ?? 'unknown',
  };
}

function* runsOf({ run, elsewhere }: Identity): Generator<string, void> {
  yield run;
  for (const [place, each] of elsewhere?.at.entries() ?? [])
    if (place % 2 === 0) yield elsewhere?.runs[each] ?? '';
}

/** `chains` has the identities of each finding by its run and index, from the newest row on. */
function toTrendFinding(
  { run, finding: { severity, toolDecision }, folder, identity, sameAs }: ResultFinding,
  verdict: Verdict | undefined,
  chains: Map<string, readonly Identity[]>,
): TrendFinding {
  const [own = ''] = spotKeysOf(identity);
  let chain = chains.get(own);
  if (chain === undefined) {
    chain = [identity, ...sameAs];
    for (const each of chain) for (const key of spotKeysOf(each)) chains.set(key, chain);
  }
  const finding = { places: [], toolDecision };
  return { run, severity, finding, folder, identity, sameAs: chain, verdict };
}
