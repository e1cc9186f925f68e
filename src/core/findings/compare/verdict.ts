import type { PairState } from '../../features/scanProgress.ts';

/** The verdicts about what a run reports. */
const REPORTED = ['new', 'backAgain', 'stillThere', 'reportedAgain', 'carriedOver'] as const;
/** The verdicts about what a run does not report. */
const ABSENT = [
  'codeChanged',
  'sameBytes',
  'notSent',
  'pairTested',
  'notApplicable',
  'pairNotTested',
  'unknown',
] as const;

/** The verdicts of earlier runs about a finding, in the order in which people want to know of it. */
export const VERDICTS = [...REPORTED, ...ABSENT] as const;

/** The name of such a verdict; `unknown` is one of absence whose cause cannot be known. */
export type Verdict = (typeof VERDICTS)[number];

/** True for what a run reports. */
export function isReported(verdict: Verdict | undefined): boolean {
  return verdict === undefined || REPORTED.some((each) => each === verdict);
}

/** How many findings have each verdict. */
export function countVerdicts(
  shown: readonly { readonly verdict?: Verdict | undefined }[],
): readonly { readonly verdict: Verdict; readonly count: number }[] {
  const counts = Map.groupBy(shown, ({ verdict }) => verdict);
  return VERDICTS.map((verdict) => ({ verdict, count: counts.get(verdict)?.length ?? 0 }));
}

/** The SHA-256 of a file as the run that reported a finding was given it, and as a later run was; undefined where it was not sent. */
export interface SentBeforeAndNow {
  readonly hashBefore: string;
  readonly hashNow: string | undefined;
}

/** Why a whitebox run that ended well does not report a finding any more, as far as the files of its places tell, the main one first; undefined where not known. */
export function whiteboxAbsence(files: readonly (SentBeforeAndNow | undefined)[]): Verdict {
  const [main] = files;
  if (main === undefined) return 'unknown';
  if (main.hashNow === undefined) return 'notSent';
  if (files.some((file) => file?.hashNow !== undefined && file.hashNow !== file.hashBefore))
    return 'codeChanged';
  if (files.some((file) => file !== undefined && file.hashNow === undefined)) return 'notSent';
  return files.includes(undefined) ? 'unknown' : 'sameBytes';
}

/** A pair of a live application in a run; `carried` is its state in the run that this one goes on with, undefined where it goes on with none. */
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
