import type { Failure, Run } from '../run/state/run.ts';
import type { Drift } from './drift/drift.ts';
import type { Finding, Place } from './finding.ts';
import type { Identity } from './identity.ts';
import type { Cut } from './parse/parse.ts';
import type { TriageDecision } from './triage/triage.ts';

/** A place that is a file here; lines are 1-based, as they are now, and absent when unknown; columns only where the line is the one that was told. */
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
  /** The place as the findings file tells it. */
  readonly told: Place;
  /** What became of the code there since it was scanned. */
  readonly drift: Drift;
}

/** A finding with its run and those of its places that are files here, in their order: the first stands for it, whether it is the main one or not. */
export interface ShownFinding {
  readonly run: Run;
  readonly finding: Finding;
  readonly places: readonly ShownPlace[];
  /** The folder it is about, whatever is on the disk: see `Subject`. */
  readonly folder: string | undefined;
  /** Tells the finding from others, in its run and in others. */
  readonly identity: Identity;
  readonly triage: TriageDecision;
  /** How it relates to the run before of the same folders; absent when there is none. */
  readonly change?: 'new' | 'unchanged' | undefined;
}

/** True for a finding whose main place is no file here, though others of its places may be. */
export function lacksMainPlace({
  finding: {
    places: [main],
  },
  places,
}: ShownFinding): boolean {
  return main !== undefined && !places.some(({ told }) => told === main);
}

/** What changed in the findings that are shown: everything, or only those whose main place is in one of these files (absolute paths). */
export type FindingsChange =
  { readonly kind: 'all' } | { readonly kind: 'files'; readonly files: ReadonlySet<string> };

/** A run with its findings, or why they cannot be read; of a run that is shown, only those of the folders that show it. */
export interface ShownRun {
  readonly run: Run;
  readonly shown: readonly ShownFinding[];
  readonly cut?: Cut | undefined;
  readonly failure?: Failure | undefined;
}
