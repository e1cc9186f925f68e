import { pathKey } from '../../paths.ts';
import { inSlices } from '../../yieldingWork.ts';
import { comparable } from '../drift/compareLines.ts';
import { followLines } from '../drift/followLines.ts';
import { type LineRange, splitLines } from '../drift/lineText.ts';
import type { ShownFinding, ShownLocation } from '../shownFinding.ts';

/** Tells whether the range, or the whole file, differs from the base. Undefined means unknown. */
export type FileChanges = (range?: LineRange) => boolean | undefined;

export type BranchChange = 'changed' | 'unchanged' | 'unknown' | 'noFile';

export type NoBranch = 'restricted' | 'noGit' | 'noAnswer' | 'noRepository' | 'noBase';

export type ComparedBranch =
  | { readonly kind: 'unavailable'; readonly why: NoBranch }
  | {
      readonly kind: 'known';
      readonly base: string;
      readonly changeOf: (shown: Pick<ShownFinding, 'locations'>) => BranchChange;
    };

export type BranchState = { readonly kind: 'pending' } | ComparedBranch;

interface FileChange {
  readonly uri: { readonly fsPath: string };
  readonly originalUri: { readonly fsPath: string };
}

/** Yields to other work: a branch may have changed a million files. */
export function originalPaths(changes: readonly FileChange[]): Promise<ReadonlyMap<string, string>> {
  return inSlices(pathsOf(changes));
}

function* pathsOf(changes: readonly FileChange[]): Generator<undefined, ReadonlyMap<string, string>> {
  const originals = new Map<string, string>();
  for (const { uri, originalUri } of changes) {
    yield;
    originals.set(pathKey(uri.fsPath), originalUri.fsPath);
  }
  return originals;
}

/** Comparing more characters would block the extension host for too long. */
const maxLength = 1_000_000;
const maxLines = 100;
const maxRanges = 1_000;

/**
 * A range counts as unchanged if it is found, even if it was moved or indented. A whole file counts
 * as unchanged if its lines were only indented. `base` is null if the base lacks the file.
 * Undefined texts are unknown.
 */
export function compareWithBase(base: string | null | undefined, now: string | undefined): FileChanges {
  if (base === undefined || now === undefined) return () => undefined;
  if (base === null) return () => true;
  if (base.length + now.length > maxLength) return () => undefined;
  const [before, after] = [splitLines(base), splitLines(now)];
  const isSame =
    before.length === after.length &&
    before.every((line, at) => comparable(line) === comparable(after[at] ?? ''));
  const follow = followLines(after, before);
  const known = new Map<string, boolean | undefined>();
  const isChanged = (range: LineRange): boolean | undefined => {
    if (range.startLine > after.length || range.endLine - range.startLine > maxLines) return undefined;
    const { drift } = follow(range);
    return drift === 'unknown' ? undefined : drift === 'changed' || drift === 'gone';
  };
  return (range) => {
    if (isSame || range === undefined) return !isSame;
    const key = `${String(range.startLine)} ${String(range.endLine)}`;
    if (!known.has(key) && known.size < maxRanges) known.set(key, isChanged(range));
    return known.get(key);
  };
}

export function changesOf(
  files: ReadonlyMap<string, FileChanges>,
): (shown: Pick<ShownFinding, 'locations'>) => BranchChange {
  return ({ locations }) => {
    if (locations.length === 0) return 'noFile';
    const answers = locations.map((location) => files.get(location.file)?.(rangeOf(location)));
    if (answers.includes(true)) return 'changed';
    return answers.includes(undefined) ? 'unknown' : 'unchanged';
  };
}

function rangeOf({ drift, startLine, endLine = startLine }: ShownLocation): LineRange | undefined {
  return drift === 'gone' || startLine === undefined || endLine === undefined
    ? undefined
    : { startLine, endLine };
}
