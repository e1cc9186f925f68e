/** What is said of a finding in the light of other runs, in the order in which people want to know of it: of one that a run reports, and of one that a later complete run does not. */
export const VERDICTS = [
  'new',
  'backAgain',
  'stillThere',
  'codeChanged',
  'sameBytes',
  'notSent',
  'unknown',
] as const;

/** The name of such a verdict; `unknown` is one of absence whose cause cannot be known. */
export type Verdict = (typeof VERDICTS)[number];

/** True for what a run reports. */
export function isReported(verdict: Verdict | undefined): boolean {
  return verdict === undefined || verdict === 'new' || verdict === 'backAgain' || verdict === 'stillThere';
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
  if (files.some((file) => file !== undefined && file.now !== file.then)) return 'codeChanged';
  return files.includes(undefined) ? 'unknown' : 'sameBytes';
}
