import { differsFrom } from '../drift/drift.ts';
import type { LineRange } from '../drift/lineText.ts';
import type { ShownFinding, ShownPlace } from '../shownFinding.ts';

/** Whether lines of a file, or without a range any of them, differ from the branch's base; undefined where that isn’t known. */
export type FileChanges = (range?: LineRange) => boolean | undefined;

/** Whether the code of a finding differs from the branch's base. */
export type BranchChange = 'changed' | 'unchanged' | 'unknown' | 'noFile';

/** Why nothing is known of a branch's changes. */
export type NoBranch = 'restricted' | 'noGit' | 'noRepository' | 'noBase';

/** What is known of a branch's changes. */
export type BranchState =
  | { readonly kind: 'pending' }
  | { readonly kind: 'unavailable'; readonly why: NoBranch }
  | {
      readonly kind: 'known';
      /** The branch and the commit that files are compared with. */
      readonly base: string;
      readonly changeOf: (shown: Pick<ShownFinding, 'places'>) => BranchChange;
    };

/** Compares the lines of a file with those at the base: `none` where the base has no such file, undefined where a text can't be read. */
export function compareWithBase(
  base: readonly string[] | 'none' | undefined,
  now: readonly string[] | undefined,
): FileChanges {
  if (base === undefined || now === undefined) return () => undefined;
  if (base === 'none') return () => true;
  const differs = differsFrom(base, now);
  const isOtherLength = base.length !== now.length;
  return (range) =>
    range ? differs(range) : isOtherLength || differs({ startLine: 1, endLine: now.length });
}

/** Gives the change of findings by the files of their places (absolute paths): one changed place is enough, and one unknown place leaves it unknown. */
export function changesOf(
  files: ReadonlyMap<string, FileChanges>,
): (shown: Pick<ShownFinding, 'places'>) => BranchChange {
  const known = new WeakMap<object, BranchChange>();
  return (shown) => {
    const change = known.get(shown) ?? lookUp(shown.places, files);
    known.set(shown, change);
    return change;
  };
}

function lookUp(places: readonly ShownPlace[], files: ReadonlyMap<string, FileChanges>): BranchChange {
  if (places.length === 0) return 'noFile';
  const answers = places.map((place) => files.get(place.file)?.(rangeOf(place)));
  if (answers.includes(true)) return 'changed';
  return answers.includes(undefined) ? 'unknown' : 'unchanged';
}

/** The lines of a place; undefined where it has none, or where its code is gone. */
function rangeOf({ drift, startLine, endLine = startLine }: ShownPlace): LineRange | undefined {
  return drift === 'gone' || startLine === undefined || endLine === undefined
    ? undefined
    : { startLine, endLine };
}
