import type { UnreadRules } from '../ignore/readIgnoreFile.ts';
import type { IgnoreRule } from '../ignore/ignoreRules.ts';
import type { UnreadIndex } from '../ignore/trackedFiles.ts';

export interface SelectedFile {
  /** Relative to the selection's root, with `/`, exactly as on disk. */
  readonly path: string;
  readonly bytes: number;
  readonly mode: 0o644 | 0o755;
  /** Set for a file that stands for a content that Git LFS has elsewhere. */
  readonly isLfsPointer?: true;
}

export function countLfsPointers(files: readonly SelectedFile[]): number {
  return files.reduce((sum, { isLfsPointer }) => sum + (isLfsPointer === true ? 1 : 0), 0);
}

export type Reason =
  | { readonly kind: 'ignored'; readonly rule: IgnoreRule }
  /** A file that Git tracks and that only rules of Git's own (`isGitsOwn`) exclude. */
  | { readonly kind: 'ignoredButTracked'; readonly rule: IgnoreRule }
  | { readonly kind: 'link' }
  | { readonly kind: 'special' }
  | { readonly kind: 'nestedRepository' }
  /** A submodule that is not checked out. */
  | { readonly kind: 'submodule' }
  /** `file`: an ignore file that cannot be read, for which its whole folder is excluded. */
  | { readonly kind: 'unreadable'; readonly code: string; readonly file?: string }
  /** Not UTF-8, or unsafe to unpack on another system. */
  | { readonly kind: 'unusableName' }
  /**
   * It is, or is inside, data of a version control system. A `.git` inside the folder has no entry.
   */
  | { readonly kind: 'repositoryData' }
  /** It, or a folder above it, became a link while it was read. */
  | { readonly kind: 'outsideRoot' };

/**
 * A path that is not uploaded. A folder's path ends in `/` and includes all that the folder holds,
 * but files there that Git tracks follow it; the root is `./`.
 */
export interface Excluded {
  readonly path: string;
  readonly reason: Reason;
}

/**
 * What would be uploaded of a folder, and what would not; each in the byte order of paths,
 * submodules at the end.
 */
export interface Selection {
  /** Absolute and free of links. */
  readonly root: string;
  readonly files: readonly SelectedFile[];
  readonly excluded: readonly Excluded[];
  readonly bytes: number;
  /** Ordered by file. */
  readonly unreadRules: readonly UnreadRules[];
  /**
   * Indexes that could not be read: ignored files that Git tracks there have the reason `ignored`.
   */
  readonly unreadIndexes: readonly UnreadIndex[];
}
