import { differsFrom } from '../drift/compareLines.ts';
import type { LineRange } from '../drift/lineText.ts';
import type { ShownFinding, ShownPlace } from '../shownFinding.ts';

/** Whether lines of a file, or any lines without a range, differ from the branch's base; undefined if unknown. */
export type FileChanges = (range?: LineRange) => boolean | undefined;

export type BranchChange = 'changed' | 'unchanged' | 'unknown' | 'noFile';

export type NoBranch = 'restricted' | 'noGit' | 'noRepository' | 'noBase';

export type BranchState =
  | { readonly kind: 'pending' }
  | { readonly kind: 'unavailable'; readonly why: NoBranch }
  | {
      readonly kind: 'known';
      readonly base: string;
      readonly changeOf: (shown: Pick<ShownFinding, 'places'>) => BranchChange;
    };

/** `base` is `none` if the base has no such file; a text that cannot be read is undefined. */
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

/** `files` are by absolute path. One changed place makes a finding changed; otherwise one unknown place makes it unknown. */
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

/** Undefined for a place without lines, and for code that is gone. */
function rangeOf({ drift, startLine, endLine = startLine }: ShownPlace): LineRange | undefined {
  return drift === 'gone' || startLine === undefined || endLine === undefined
    ? undefined
    : { startLine, endLine };
}
