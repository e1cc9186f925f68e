import type { UnreadRules } from '../ignore/readIgnoreFile.ts';
import type { IgnoreRule } from '../ignore/ignoreRules.ts';
import type { UnreadIndex } from '../ignore/trackedFiles.ts';

export interface SelectedFile {
  /** The path is relative to the selection's root, with `/`, exactly as on disk. */
  readonly path: string;
  readonly bytes: number;
  readonly mode: 0o644 | 0o755;
  /** The file stands for content that Git LFS stores elsewhere. */
  readonly isLfsPointer?: true;
}

export function countLfsPointers(files: readonly SelectedFile[]): number {
  return files.reduce((sum, { isLfsPointer }) => sum + (isLfsPointer === true ? 1 : 0), 0);
}

export type Reason =
  | { readonly kind: 'ignored'; readonly rule: IgnoreRule }
  /** Git tracks the file, and only Git's own rules (`isGitsOwn`) exclude it. */
  | { readonly kind: 'ignoredButTracked'; readonly rule: IgnoreRule }
  | { readonly kind: 'link' }
  | { readonly kind: 'special' }
  | { readonly kind: 'nestedRepository' }
  | { readonly kind: 'submodule' }
  /** If Git's ignore or configuration `file` can't be read, the whole folder is excluded. */
  | { readonly kind: 'unreadable'; readonly code: string; readonly file?: string }
  /** The name isn't valid Unicode, or is unsafe to extract on another system. */
  | { readonly kind: 'unusableName' }
  /** The path is data of a version control system. A `.git` below the root isn't listed. */
  | { readonly kind: 'repositoryData' }
  | { readonly kind: 'outsideRoot' };

/**
 * A folder's path ends in `/` and stands for all its contents, but `ignoredButTracked` files there
 * are listed after it. The root is `./`.
 */
export interface Excluded {
  readonly path: string;
  readonly reason: Reason;
}

/**
 * `files` and `excluded` are in the byte order of paths, but missing or empty submodules come last.
 */
export interface Selection {
  /** The path is absolute and free of links. */
  readonly root: string;
  readonly files: readonly SelectedFile[];
  readonly excluded: readonly Excluded[];
  readonly bytes: number;
  readonly unreadRules: readonly UnreadRules[];
  /** Ignored files in these indexes have the reason `ignored`, not `ignoredButTracked`. */
  readonly unreadIndexes: readonly UnreadIndex[];
}
