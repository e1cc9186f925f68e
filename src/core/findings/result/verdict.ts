import type { PairState } from '../../features/scanProgress.ts';

const REPORTED = ['new', 'backAgain', 'stillThere', 'reportedAgain', 'carriedOver'] as const;
const ABSENT = [
  'codeChanged',
  'sameBytes',
  'notSent',
  'pairTested',
  'notApplicable',
  'pairNotTested',
  'unknown',
] as const;

/** The most important first. */
export const VERDICTS = [...REPORTED, ...ABSENT] as const;

/** What comparing runs says about a finding. `unknown`: the finding is absent, and the cause cannot be known. */
export type Verdict = (typeof VERDICTS)[number];

/** True for a finding that the run reports, also before it is compared. */
export function isReported(verdict: Verdict | undefined): boolean {
  return verdict === undefined || REPORTED.some((each) => each === verdict);
}

export function countVerdicts(
  shown: readonly { readonly verdict?: Verdict | undefined }[],
): readonly { readonly verdict: Verdict; readonly count: number }[] {
  const counts = Map.groupBy(shown, ({ verdict }) => verdict);
  return VERDICTS.map((verdict) => ({ verdict, count: counts.get(verdict)?.length ?? 0 }));
}

/** The SHA-256 of a file as it was sent in two runs. */
export interface SentHashes {
  readonly earlier: string;
  /** Undefined if the file was not sent. */
  readonly later: string | undefined;
}

/** Why a successful whitebox run no longer reports a finding. `files` are those of its places, the main one first; undefined where not known. */
export function whiteboxAbsence(files: readonly (SentHashes | undefined)[]): Verdict {
  const [main] = files;
  if (main === undefined) return 'unknown';
  if (main.later === undefined) return 'notSent';
  if (files.some((file) => file?.later !== undefined && file.later !== file.earlier)) return 'codeChanged';
  if (files.some((file) => file !== undefined && file.later === undefined)) return 'notSent';
  return files.includes(undefined) ? 'unknown' : 'sameBytes';
}

/** `carried` is the pair's state in the run that this run continues; undefined if it continues none. */
export interface PairInRun {
  readonly state: PairState;
  readonly carried: PairState | undefined;
}

/** Verdict for a finding of an earlier run; absence counts only if this run tested the pair. */
export function blackboxVerdict(isFound: boolean, { state, carried }: PairInRun): Verdict {
  const isCarried = carried === 'tested' || carried === 'notApplicable';
  if (isFound) return isCarried ? 'carriedOver' : 'reportedAgain';
  if (isCarried) return 'pairNotTested';
  switch (state) {
    case 'tested':
      return carried === 'unknown' ? 'unknown' : 'pairTested';
    case 'notApplicable':
      return 'notApplicable';
    case 'notTested':
      return 'pairNotTested';
    case 'unknown':
      return 'unknown';
  }
}
