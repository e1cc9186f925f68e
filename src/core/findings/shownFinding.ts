import type { Failure, Run } from '../run/state/run.ts';
import { shownAs } from './chooseRun.ts';
import type { Verdict } from './compare/verdict.ts';
import type { Drift } from './drift/drift.ts';
import type { Finding, Place } from './finding.ts';
import type { Identity } from './identity.ts';
import type { Cut } from './parse/parse.ts';
import type { EvidenceOfPlaces } from './place/evidence.ts';
import type { TriageDecision } from './triage/triage.ts';
import type { OwnersGap } from './view/owners.ts';

/** A place that is a file here; lines are 1-based, as they are now, and absent when unknown; columns only where the line is the one that was reported. */
export interface ShownPlace {
  /** Absolute. */
  readonly file: string;
  /** The folder it lies in, as the run's target names it. */
  readonly folder: string;
  /** Relative to its folder, with `/`. */
  readonly path: string;
  readonly startLine?: number | undefined;
  readonly endLine?: number | undefined;
  readonly startColumn?: number | undefined;
  readonly endColumn?: number | undefined;
  /** The place as the findings file reports it. */
  readonly reported: Place;
  /** What became of the code there since it was scanned. */
  readonly drift: Drift;
}

/** A finding with its run and those of its places that are files here, in their order: the first stands for it, whether it is the main one or not. */
export interface ShownFinding {
  readonly run: Run;
  readonly finding: Finding;
  readonly places: readonly ShownPlace[];
  /** The folder it is about, whatever is on the disk: see `SentPath`. */
  readonly folder: string | undefined;
  /** Distinguishes the finding from others, in its run and in others. */
  readonly identity: Identity;
  readonly triage: TriageDecision;
  /** A decision of an earlier run that may be about another finding, or may not hold any more: the finding is open, and a person has to check. */
  readonly decidedBefore?: TriageDecision | undefined;
  /** The finding in earlier runs, the latest first: decisions about these hold for it. Absent until it is compared, and where there are none. */
  readonly sameAs?: readonly Identity[] | undefined;
  /** Absent until it is compared, and where earlier runs say nothing of it. */
  readonly verdict?: Verdict | undefined;
  /** Whether what its places quote was sent; absent until that is checked. */
  readonly evidence?: EvidenceOfPlaces | undefined;
  /** Who owns the file of its main place; absent until that is known, and where no CODEOWNERS file says it. */
  readonly owners?: readonly string[] | undefined;
}

/** A run with its findings, or why they cannot be read; of a run that is shown, only those of the folders that show it. */
export interface ShownRun {
  readonly run: Run;
  readonly shown: readonly ShownFinding[];
  readonly cut?: Cut | undefined;
  readonly failure?: Failure | undefined;
  /** How many files with findings are not as they were scanned. */
  readonly changedFiles?: number | undefined;
  /** What earlier runs of its folders reported and this one does not, each with its verdict. */
  readonly absent?: readonly ShownFinding[] | undefined;
  /** The run before it that verdicts begin with, and of how many of that one's findings where not of all. */
  readonly baseline?: Run | undefined;
  readonly baselineCut?: Cut | undefined;
  /** What was not read of CODEOWNERS files. */
  readonly ownersGaps?: readonly OwnersGap[] | undefined;
}

/** True for a finding whose main place is no file here, though others of its places may be. */
export function lacksMainPlace({
  finding: {
    places: [main],
  },
  places,
}: ShownFinding): boolean {
  return main !== undefined && !places.some(({ reported }) => reported === main);
}

type Placed = Pick<ShownFinding, 'run' | 'finding' | 'folder' | 'places'>;

/** The folder that a finding is about, else the one in which its main place was found; undefined when neither is known. */
export function folderOf({ finding, folder, places }: Placed): string | undefined {
  return folder ?? places.find(({ reported }) => reported === finding.places[0])?.folder;
}

/** The folders whose decisions count for a finding: its own, and all folders of its run when it is in none of them. */
export function decisionFolders(shown: Placed): readonly string[] {
  const { targets } = shown.run;
  const own = folderOf(shown);
  const isOwn = own !== undefined && targets.some(({ folder }) => folder === own);
  return isOwn ? [own] : targets.map(({ folder }) => folder);
}

/** A finding as it is decided about, in each folder whose decisions count for it; `path` is for people who read the file. */
export function toSubjects(
  shown: ShownFinding,
): { readonly folder: string; readonly identity: Identity; readonly path: string }[] {
  const { identity, finding, places } = shown;
  const path = places[0]?.path ?? finding.places[0]?.path ?? '';
  return decisionFolders(shown).map((folder) => ({ folder, identity, path }));
}

/** A run as it is now; given the run that each folder shows of its subject, by `shownAs`, without the findings of folders that show another one. */
export function toShownRun(
  { run, shown, cut, failure, changedFiles, absent = [], baseline, baselineCut, ownersGaps }: ShownRun,
  chosen: ReadonlyMap<string, string | undefined> = new Map(),
): ShownRun {
  // What an earlier run reported may lie in a folder that is none of this run's.
  const folders = new Set([...shown, ...absent].map(folderOf));
  const elsewhere = new Set(
    [...folders].filter((folder) => {
      const key = shownAs(run, folder ?? '');
      return chosen.has(key) && chosen.get(key) !== run.id;
    }),
  );
  const isShown = (each: ShownFinding): boolean => !elsewhere.has(folderOf(each));
  const facts = { run, cut, failure, changedFiles, baseline, baselineCut, ownersGaps };
  return { ...facts, shown: shown.filter(isShown), absent: absent.filter(isShown) };
}
