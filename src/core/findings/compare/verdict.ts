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

/** What other runs tell of a finding, in the order in which people want to know of it. */
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

/** A file that a finding is about, as the run that reported it was given it and as a later run was: a SHA-256, undefined where it was not sent. */
export interface FileThenAndNow {
  readonly then: string;
  readonly now: string | undefined;
}

/** Why a whitebox run that ended well does not report a finding any more, as far as the files of its places tell, the main one first; undefined where not known. */
export function whiteboxAbsence(files: readonly (FileThenAndNow | undefined)[]): Verdict {
  const [main] = files;
  if (main === undefined) return 'unknown';
  if (main.now === undefined) return 'notSent';
  if (files.some((file) => file?.now !== undefined && file.now !== file.then)) return 'codeChanged';
  if (files.some((file) => file !== undefined && file.now === undefined)) return 'notSent';
  return files.includes(undefined) ? 'unknown' : 'sameBytes';
}

/** A pair of a live application in a run; `carried` is its state in the run that this one goes on with, undefined where it goes on with none. */
export interface PairInRun {
  readonly state: PairState;
  readonly carried: PairState | undefined;
}

/** What a blackbox run says of a finding that an earlier run reported, too, or alone: it tells of absence only where it tested the pair itself. */
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
