import { pathKey } from '../../paths.ts';
import type { Run } from '../../run/state/run.ts';
import type { Finding, Severity } from '../finding.ts';
import { allNamesOf, identityOf, type Named } from '../identity.ts';
import type { Cut } from '../parse/parseFindings.ts';
import type { ResultFinding, RunResult } from './result.ts';
import type { Verdict } from './verdict.ts';

/** A finding of one run, without its texts. */
export interface TrendFinding extends Named {
  /** The local ID of the run that reports it, for an absent one the last that did. */
  readonly run: string;
  readonly severity: Severity;
  readonly finding: Pick<Finding, 'places' | 'toolDecision'>;
  readonly folder: string | undefined;
  readonly verdict: Verdict | undefined;
}

export interface FoundInRun {
  readonly cut: Cut | undefined;
  readonly reported: readonly TrendFinding[];
  /** Of what only earlier runs report, what one of the rows reports. */
  readonly absent: readonly TrendFinding[];
}

/** What each run (newest first) found, and what it did not report again; undefined for a run that cannot be read. */
export async function readTrendRows(
  runs: readonly Run[],
  read: (run: Run) => Promise<RunResult | undefined>,
  onRun: (doneCount: number) => void,
): Promise<readonly (FoundInRun | undefined)[]> {
  const rows: (FoundInRun | undefined)[] = [];
  const names = new Set<string>();
  /** What the latest run that is about a folder says of it. */
  const byFolder = new Map<string, readonly TrendFinding[]>();
  for (const [done, run] of runs.toReversed().entries()) {
    onRun(done);
    const result = await read(run);
    if (result === undefined) {
      rows.unshift(undefined);
      continue;
    }
    const reported = result.findings.map(toTrendFinding);
    const reportedNames = allNamesOf(reported);
    for (const name of reportedNames) names.add(name);
    const byHome = Map.groupBy([...result.findings, ...result.absent], ({ home }) => pathKey(home));
    const folders = run.targets.map(({ folder }) => pathKey(folder));
    const absent: TrendFinding[] = [...byFolder]
      .filter(([folder]) => !folders.includes(folder))
      // A run of fewer folders says nothing of the findings in the others.
      .flatMap(([, findings]) => findings.map((each) => ({ ...each, verdict: undefined })));
    absent.push(...result.absent.map(toTrendFinding));
    for (const folder of new Set([...folders, ...byHome.keys()]))
      byFolder.set(folder, (byHome.get(folder) ?? []).map(toTrendFinding));
    rows.unshift({
      cut: result.head.cut,
      reported,
      absent: absent
        .filter(({ name }) => names.has(name) && !reportedNames.has(name))
        .map((each) => ({ ...each, verdict: each.verdict ?? 'unknown' })),
    });
  }
  return rows;
}

function toTrendFinding(found: ResultFinding): TrendFinding {
  const { run, finding, folder, maybe, verdict } = found;
  const { severity, toolDecision } = finding;
  return {
    ...identityOf(found),
    maybe,
    run,
    severity,
    finding: { places: [], toolDecision },
    folder,
    verdict,
  };
}
