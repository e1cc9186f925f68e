import { pathKey } from '../../paths.ts';
import { inSlices } from '../../yieldingWork.ts';
import { endedEarly, type Run, runIdOf } from '../../run/state/run.ts';
import { continuesRun, hasFindings, testsOnePair, subjectOf } from '../chooseRun.ts';
import { SEVERITIES, type Severity } from '../finding.ts';
import type { Identity } from '../identity.ts';
import type { Cut } from '../parse/parse.ts';
import type { Decode, RunSource } from '../place/sentFiles.ts';
import type { ShownFinding } from '../shownFinding.ts';
import { decide } from '../triage/decide.ts';
import { isSettled, undecided } from '../triage/triage.ts';
import type { TriageStore } from '../triage/triageStore.ts';
import type { FindingsOfRun, RunFinding } from './findingsOfRun.ts';
import { absenceOf, absenceCounts, pairIn } from './history.ts';
import { pairFindings } from './match.ts';
import { blackboxVerdict, type Verdict } from './verdict.ts';

/** Only the newest runs are compared. */
export const maxTrendRuns = 24;

/** Absent findings whose code or pair has changed: a person decides whether they are fixed. */
export const reviewedVerdicts = ['codeChanged', 'pairTested'] as const satisfies readonly Verdict[];

/** Why a run may report less than others. */
export type Limitation =
  | { readonly kind: 'endedEarly' | 'onePair' | 'unreadable' }
  | { readonly kind: 'cut'; readonly cut: Cut }
  | { readonly kind: 'fewerFolders'; readonly folders: number; readonly of: number };

export interface TrendRow {
  readonly run: Run;
  readonly limitations: readonly Limitation[];
  /** `settled` counts those that a person has decided. */
  readonly reported: readonly {
    readonly severity: Severity;
    readonly count: number;
    readonly settled: number;
  }[];
  /** Absent without a known reason, and not settled. */
  readonly unexplained: number;
  /** Absent with one of `reviewedVerdicts`, and not settled. */
  readonly review: number;
}

/** A finding of one run, without its texts. */
interface Entry {
  readonly shown: ShownFinding;
  /** The finding in all runs. Decisions about any of them hold for it. */
  readonly identities: readonly Identity[];
  readonly verdict: Verdict | undefined;
}

interface TracedRun {
  readonly run: Run;
  readonly limitations: readonly Limitation[];
  readonly reported: readonly Entry[];
  readonly absent: readonly Entry[];
}

/** The newest run first. */
export type TracedRuns = readonly TracedRun[];

/** The runs of the same subject and account that share a folder with `of`, each once; without imported ones. */
export function runsOfTrend(all: readonly Run[], of: Run): readonly Run[] {
  const folders = new Set(foldersOf(of));
  const known = new Set<string | undefined>();
  return all
    .filter((run) => {
      const isOne =
        hasFindings(run) &&
        run.state !== 'imported' &&
        run.baseUrl === of.baseUrl &&
        run.organizationId === of.organizationId &&
        subjectOf(run) === subjectOf(of) &&
        foldersOf(run).some((folder) => folders.has(folder)) &&
        !known.has(runIdOf(run));
      if (isOne) known.add(runIdOf(run));
      return isOne;
    })
    .slice(0, maxTrendRuns);
}

/** A finding that is followed from the first run to the latest. */
interface Chain {
  readonly last: RunFinding;
  readonly identities: Identity[];
}

/** `runs` come newest first. `read` gives undefined for a run that cannot be read. */
export async function traceTrend(
  runs: readonly Run[],
  {
    read,
    decode,
    onRun,
    signal,
  }: {
    readonly read: (run: Run) => Promise<FindingsOfRun | undefined>;
    readonly decode: Decode;
    readonly onRun: (doneCount: number) => void;
    readonly signal: AbortSignal;
  },
): Promise<TracedRuns> {
  const allFolders = new Set(runs.flatMap(foldersOf)).size;
  const traced: TracedRun[] = [];
  const sources: RunSource[] = [];
  let chains: readonly Chain[] = [];
  for (const run of runs.toReversed()) {
    signal.throwIfAborted();
    onRun(traced.length);
    const found = await read(run);
    const limitations = limitationsOf(run, found, allFolders);
    if (found === undefined) {
      traced.unshift({ run, limitations, reported: [], absent: [] });
      continue;
    }
    const predecessor = sources.find((source) => continuesRun(run, source.run));
    sources.push(found.source);
    const open = new Map(chains.map((chain) => [chain.last, chain]));
    const pairs = await pairFindings(found.findings, [...open.keys()], decode);
    const reported = found.findings.map((each) => {
      const pair = pairs.get(each);
      const chain = pair && open.get(pair.earlier);
      if (pair !== undefined) open.delete(pair.earlier);
      // One array for the whole chain: the identity in a later run also counts for earlier ones.
      const identities = pair?.carriesDecision === true && chain !== undefined ? chain.identities : [];
      identities.push(each.identity);
      const isCarried =
        found.source.progress !== undefined &&
        blackboxVerdict(true, pairIn(each.finding, found.source, predecessor)) === 'carriedOver';
      return { last: each, identities, verdict: isCarried ? ('carriedOver' as const) : undefined };
    });
    const absent: (Chain & { verdict: Verdict })[] = [];
    for (const chain of open.values()) {
      const verdict = absenceCounts(found)
        ? await absenceOf(chain.last, found.source, predecessor)
        : 'unknown';
      absent.push({ ...chain, verdict });
    }
    traced.unshift({ run, limitations, reported: reported.map(toEntry), absent: absent.map(toEntry) });
    chains = [...reported, ...absent];
  }
  return traced;
}

/** Counts by the present decisions. */
export async function countTrend(
  traced: TracedRuns,
  decisions: Pick<TriageStore, 'get'>,
): Promise<readonly TrendRow[]> {
  const rows: TrendRow[] = [];
  for (const { run, limitations, reported, absent } of traced) {
    const settled = await inSlices(settledAmong([...reported, ...absent], decisions));
    const left = absent.filter((each) => !settled.has(each));
    const review = left.filter(({ verdict }) => reviewedVerdicts.some((each) => each === verdict)).length;
    rows.push({
      run,
      limitations,
      reported: SEVERITIES.map((severity) => {
        const some = reported.filter(({ shown }) => shown.finding.severity === severity);
        return { severity, count: some.length, settled: some.filter((each) => settled.has(each)).length };
      }),
      unexplained: left.length - review,
      review,
    });
  }
  return rows;
}

function* settledAmong(
  entries: readonly Entry[],
  decisions: Pick<TriageStore, 'get'>,
): Generator<undefined, ReadonlySet<Entry>> {
  const settled = new Set<Entry>();
  for (const entry of entries) {
    yield;
    const { shown, identities: sameAs, verdict } = entry;
    const { triage } = decide(shown, { verdict, sameAs, likely: [] }, undefined, decisions);
    if (isSettled(triage.state)) settled.add(entry);
  }
  return settled;
}

function toEntry({ last, identities, verdict }: Chain & { verdict: Verdict | undefined }): Entry {
  const { finding, folder, identity, source } = last;
  const bare = { ...finding, description: '', recommendation: '', blocks: [], places: [], raw: undefined };
  return {
    shown: { run: source.run, finding: bare, folder, identity, places: [], triage: undecided },
    identities,
    verdict,
  };
}

function limitationsOf(run: Run, found: FindingsOfRun | undefined, allFolders: number): Limitation[] {
  const folders = new Set(foldersOf(run)).size;
  return [
    ...(found === undefined ? [{ kind: 'unreadable' as const }] : []),
    ...(endedEarly(run) ? [{ kind: 'endedEarly' as const }] : []),
    ...(testsOnePair(run) ? [{ kind: 'onePair' as const }] : []),
    ...(found?.cut === undefined ? [] : [{ kind: 'cut' as const, cut: found.cut }]),
    ...(folders < allFolders ? [{ kind: 'fewerFolders' as const, folders, of: allFolders }] : []),
  ];
}

/** As keys. */
function foldersOf({ targets }: Run): string[] {
  return targets.map(({ folder }) => pathKey(folder));
}
