import type { IgnoreRule } from '../ignore/ignoreRules.ts';

export interface SelectedFile {
  /** Relative to the selection's root, with `/`, exactly as on disk. */
  readonly path: string;
  readonly bytes: number;
  readonly mode: 0o644 | 0o755;
}

export type Reason =
  | { readonly kind: 'ignored'; readonly rule: IgnoreRule }
  | { readonly kind: 'link' }
  | { readonly kind: 'special'; readonly type: 'fifo' | 'socket' | 'device' }
  | { readonly kind: 'nestedRepository' }
  /** `file`: the ignore file that cannot be read, if it is one; its whole folder is left out then. */
  | { readonly kind: 'unreadable'; readonly code: string; readonly file?: string }
  /** Not UTF-8, or unsafe to unpack on another system. */
  | { readonly kind: 'unusableName' }
  /** The folder to send is, or lies in, the data of git, Mercurial or Subversion (`.git`, `.hg`, `.svn`). Such data inside a folder is skipped without a reason. */
  | { readonly kind: 'repositoryData' }
  /** A folder that became a link, or whose parent did, while it was read. */
  | { readonly kind: 'outsideRoot' };

/** A path that is not sent; a folder's ends in `/` and stands for all that the folder holds; the root itself is `./`. */
export interface LeftOut {
  readonly path: string;
  readonly reason: Reason;
}

/** What would be sent of a folder, and what would not, each in the byte order of the paths. */
export interface Selection {
  /** Absolute and free of links. */
  readonly root: string;
  readonly files: readonly SelectedFile[];
  readonly leftOut: readonly LeftOut[];
  readonly bytes: number;
  /** Rules that are not read as git reads them, ordered by file and line: each leaves out more than git would, or, if negated, is dropped. */
  readonly widened: readonly IgnoreRule[];
}
