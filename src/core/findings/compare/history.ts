import { setImmediate } from 'node:timers/promises';
import type { PairState, ScanProgress } from '../../features/scanProgress.ts';
import { isContinued } from '../../run/state/continuations.ts';
import type { Run } from '../../run/state/run.ts';
import { perspectives } from '../../workflows/application.ts';
import { goesOnWith, hasAllFindings, isOfSameFolders } from '../chooseRun.ts';
import type { Finding } from '../finding.ts';
import type { Identity } from '../identity.ts';
import { normalKey } from '../../json.ts';
import type { Cut } from '../parse/parse.ts';
import { type Decode, type RunSource, sentFileOf, sentIn } from '../place/sentFiles.ts';
import { type NamedFinding, pairFindings } from './match.ts';
import {
  blackboxVerdict,
  type FileThenAndNow,
  type PairInRun,
  type Verdict,
  whiteboxAbsence,
} from './verdict.ts';

/** The findings of one run, each with its identity. */
export interface NamedFindings {
  readonly source: RunSource;
  readonly cut: Cut | undefined;
  /** In the order of the file. */
  readonly names: readonly NamedFinding[];
}

/** What other runs tell of a finding. */
export interface Told {
  readonly verdict: Verdict | undefined;
  /** The same finding, as far as anybody can tell, in earlier runs; the latest of them first. */
  readonly former: readonly Identity[];
}

/** What the runs before a run tell of its findings. */
export interface History {
  /** The local ID of the run before it, and of how many findings of that one, if not of all; undefined where it cannot be read. */
  readonly baseline?: { readonly id: string; readonly cut: Cut | undefined } | undefined;
  /** Of each finding, in their order. */
  readonly told: readonly Told[];
  /** What earlier runs reported, and no later one, by run, the latest first: nothing where the run itself may not have reached it. */
  readonly absent: readonly (NamedFindings & { readonly told: readonly Told[] })[];
}

/** A finding of the run, or one that was last reported before it, while the runs before are gone through. */
interface Track {
  /** As the latest run has it. */
  readonly last: NamedFinding;
  /** As the earliest run so far has it. */
  first: NamedFinding;
  readonly former: Identity[];
  /** Whether a run between did not report it. */
  isMissed: boolean;
  verdict: Verdict | undefined;
}

/** Goes through the runs before a run, the latest first, those that can be read; the baseline is one of them. */
export async function traceBack(
  now: NamedFindings,
  earlier: AsyncIterable<NamedFindings>,
  baselineId: string | undefined,
  decode: Decode,
): Promise<History> {
  const own = now.names.map(toTrack);
  const gone: Track[] = [];
  let baseline: History['baseline'];
  let predecessor: RunSource | undefined;
  for await (const run of earlier) {
    const isBaseline = run.source.run.id === baselineId;
    if (isBaseline) baseline = { id: run.source.run.id, cut: run.cut };
    const names = run.names.filter(({ folder }) => isAbout(now.source.run, folder, run.source.run));
    const tracks = [...own, ...gone];
    const firsts = tracks.map(({ first }) => first);
    const pairs = await pairFindings(firsts, names, decode);
    for (const track of tracks) {
      const pair = pairs.get(track.first);
      if (pair !== undefined) {
        if (track.verdict === undefined || track.verdict === 'new')
          track.verdict = track.isMissed ? 'backAgain' : 'stillThere';
        track.former.push(pair.identity);
        track.first = pair;
      } else if (isWhole(run) && isOfSameFolders(run.source.run, now.source.run)) {
        track.isMissed = true;
        if (isBaseline) track.verdict ??= 'new';
      }
    }
    const known = new Set(pairs.values());
    if (goesOnWith(now.source.run, run.source.run)) predecessor = run.source;
    if (canLack(now)) gone.push(...names.filter((named) => !known.has(named)).map(toTrack));
  }
  for (const [at, track] of gone.entries()) {
    if (at % 200 === 0) await setImmediate();
    track.verdict = await absenceOf(track.last, now.source, predecessor);
  }
  for (const track of own.filter(({ former }) => former.length > 0 && now.source.progress))
    track.verdict = blackboxVerdict(true, pairIn(track.last.finding, now.source, predecessor));
  return {
    baseline,
    told: own,
    absent: [...Map.groupBy(gone, ({ last }) => last.source)].map(([source, tracks]) => ({
      source,
      cut: undefined,
      names: tracks.map(({ last }) => last),
      told: tracks,
    })),
  };
}

function toTrack(named: NamedFinding): Track {
  return { last: named, first: named, former: [], isMissed: false, verdict: undefined };
}

/** Whether all that a run has found is known, so that what is not among it was not found. */
function isWhole({ source, cut }: NamedFindings): boolean {
  return hasAllFindings(source.run) && cut === undefined;
}

/** Whether what a run does not report can be said of it: of a live application it is known pair by pair, also of a run that ended early. */
function canLack(run: NamedFindings): boolean {
  return isWhole(run) || (run.source.progress !== undefined && run.cut === undefined);
}

/** Whether a finding of an earlier run is about a folder of a run; one that names none is, where both are of the same folders. */
function isAbout(run: Run, folder: string | undefined, earlier: Run): boolean {
  const about = folder ?? earlier.targets[0]?.folder;
  return run.targets.some((target) => target.folder === about) || isOfSameFolders(run, earlier);
}

/** Why a run does not report a finding of an earlier one. */
async function absenceOf(
  { finding, source }: NamedFinding,
  now: RunSource,
  predecessor: RunSource | undefined,
): Promise<Verdict> {
  if (now.progress !== undefined) return blackboxVerdict(false, pairIn(finding, now, predecessor));
  const files: (FileThenAndNow | undefined)[] = [];
  for (const place of finding.places) {
    const then = await sentFileOf(source, place);
    const here = then && sentIn(now, source.run.targets[then.target]?.folder, then.file.path);
    const isKnown = then !== undefined && here !== 'unknown';
    files.push(isKnown ? { then: then.file.sha256, now: here?.file.sha256 } : undefined);
  }
  return whiteboxAbsence(files);
}

/** What is known of a finding's pair in a run, and in the run that it goes on with. */
function pairIn(
  { feature, perspective }: Finding,
  { run, progress }: RunSource,
  predecessor: RunSource | undefined,
): PairInRun {
  const word = perspectives.find((each) => normalKey(each) === normalKey(perspective ?? ''));
  const stateIn = (known: ScanProgress | undefined): PairState =>
    feature === undefined || word === undefined ? 'unknown' : (known?.stateOf(feature, word) ?? 'unknown');
  return { state: stateIn(progress), carried: isContinued(run) ? stateIn(predecessor?.progress) : undefined };
}
