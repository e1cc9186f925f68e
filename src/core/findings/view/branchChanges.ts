import { askWorker } from '../../askWorker.ts';
import { AssessmentError } from '../../errors.ts';
import { pathKey } from '../../paths.ts';
import { inSlices } from '../../yieldingWork.ts';
import { type CompareStart, compareTexts, differsBy, type LineDifferences } from '../drift/compareLines.ts';
import type { LineRange } from '../drift/lineText.ts';
import type { ShownFinding, ShownPlace } from '../shownFinding.ts';

/** Whether lines of a file, or any lines without a range, differ from the branch's base; undefined if unknown. */
export type FileChanges = (range?: LineRange) => boolean | undefined;

export type BranchChange = 'changed' | 'unchanged' | 'unknown' | 'noFile';

export type NoBranch = 'restricted' | 'noGit' | 'noAnswer' | 'noRepository' | 'noBase';

export type ComparedBranch =
  | { readonly kind: 'unavailable'; readonly why: NoBranch }
  | {
      readonly kind: 'known';
      readonly base: string;
      readonly changeOf: (shown: Pick<ShownFinding, 'places'>) => BranchChange;
    };

export type BranchState = { readonly kind: 'pending' } | ComparedBranch;

interface Change {
  readonly uri: { readonly fsPath: string };
  readonly originalUri: { readonly fsPath: string };
}

/** By `pathKey` of a changed file, its path before. A branch may have changed a million files. */
export function originalPaths(changes: readonly Change[]): Promise<ReadonlyMap<string, string>> {
  return inSlices(pathsOf(changes));
}

function* pathsOf(changes: readonly Change[]): Generator<undefined, ReadonlyMap<string, string>> {
  const originals = new Map<string, string>();
  for (const { uri, originalUri } of changes) {
    yield;
    originals.set(pathKey(uri.fsPath), originalUri.fsPath);
  }
  return originals;
}

/** In characters. Longer texts are compared in the worker, since the extension host must not wait for them. */
const maxLengthHere = 200_000;

/** `base` is null if the base has no such file; a text that cannot be read is undefined. */
export async function compareWithBase(
  base: string | null | undefined,
  now: string | undefined,
  workerFile: string | URL,
): Promise<FileChanges> {
  if (base === undefined || now === undefined) return () => undefined;
  if (base === null) return () => true;
  const start: CompareStart = { before: base, after: now };
  const isShort = base.length + now.length <= maxLengthHere;
  try {
    const found = isShort ? compareTexts(start) : ((await askWorker(start, workerFile)) as LineDifferences);
    const differs = differsBy(found);
    const all = { startLine: 1, endLine: found.codeUpTo.length - 1 };
    return (range) => (range ? differs(range) : found.isOtherLength || differs(all));
  } catch (error) {
    if (error instanceof AssessmentError) return () => undefined; // too large for the worker
    throw error;
  }
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
