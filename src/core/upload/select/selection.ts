import { realpath, stat } from 'node:fs/promises';
import { sep } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { AssessmentError, systemCode } from '../../errors.ts';
import { isRepositoryData } from '../ignore/entryName.ts';
import { type Found, walkFolder } from './walk.ts';
import type { IgnoreRule } from '../ignore/ignoreRules.ts';
import { findRepository, type GitSurroundings } from '../ignore/repository.ts';
import { layersAt, nameBelow, type RuleSources } from '../ignore/ruleLayers.ts';
import type { Suspicion } from '../secrets/secretScan.ts';

/** A regular file that would be sent. */
export interface SelectedFile {
  /** Relative to the selection's root, with `/`, exactly as on disk. */
  readonly path: string;
  readonly bytes: number;
  /** As it will stand in the archive. */
  readonly mode: 0o644 | 0o755;
}

/** Why something is not sent. */
export type Reason =
  | { readonly kind: 'ignored'; readonly rule: IgnoreRule }
  | { readonly kind: 'link' }
  | { readonly kind: 'special'; readonly type: 'fifo' | 'socket' | 'device' }
  | { readonly kind: 'nestedRepository' }
  /** `file`: the ignore file that could not be read, when it was one: then its whole folder stays out. */
  | { readonly kind: 'unreadable'; readonly code: string; readonly file?: string }
  /** Not UTF-8, or unsafe to unpack somewhere else. */
  | { readonly kind: 'unusableName' }
  /** What git, Mercurial or Subversion keeps for itself (`.git`, `.hg`, `.svn`), chosen as the folder to send; inside a folder it is passed over. */
  | { readonly kind: 'repositoryData' }
  /** A folder that turned into a link, or lay behind one, while it was read. */
  | { readonly kind: 'outsideRoot' }
  /** A person left it out by name. */
  | { readonly kind: 'choice' }
  /** It looks like it holds a credential, and nobody has decided to send it. */
  | { readonly kind: 'secret'; readonly suspicions: readonly Suspicion[] };

/** Something that is not sent; folders end in `/` and stand for all they hold; the root itself is `./`. */
export interface LeftOut {
  readonly path: string;
  readonly reason: Reason;
}

/** What would be sent of a folder, and what would not, in the byte order of their paths; what people or suspicions leave out is at the end. */
export interface Selection {
  /** Absolute and free of links. */
  readonly root: string;
  readonly files: readonly SelectedFile[];
  readonly leftOut: readonly LeftOut[];
  /** Of all files. */
  readonly bytes: number;
  /** Rules that leave out more than git would, by the place where they stand: what is not written plainly is not read as git reads it, and is not counted when it is negated. */
  readonly widened: readonly IgnoreRule[];
}

/** How to select. */
export interface SelectOptions {
  /** Lists of patterns in gitignore syntax, rooted at `within`, else at the folder; each can only leave out more, and none undoes another. */
  readonly exclude: readonly (readonly string[])[];
  /** The workspace folder that holds the folder, absolute: ignore files from there down count too. Without effect when it does not hold it. */
  readonly within?: string | undefined;
  readonly includeNestedRepositories: boolean;
  /** Paths that a person chose to send although ignore files leave them out; a path ending in `/` means what lies below, less what rules leave out that do not leave out the folder itself. */
  readonly include?: readonly string[] | undefined;
  readonly surroundings: GitSurroundings;
  readonly signal?: AbortSignal | undefined;
  /** Called now and then with the number of files found so far. */
  readonly onProgress?: ((files: number) => void) | undefined;
}

const itemsPerSlice = 20_000;

/**
 * Selects the files to send: what `git ls-files --others --exclude-standard` lists with an empty index, without links and nested
 * repositories, less what the person's own excludes file, `.whiteboxignore` and `exclude` leave out. Starts no process. Throws `notAFolder`, `sourceUnreadable`.
 */
export async function selectFiles(root: string, options: SelectOptions): Promise<Selection> {
  const realRoot = await realFolder(root);
  options.signal?.throwIfAborted();
  if (realRoot.split(sep).some(isRepositoryData)) {
    const leftOut = [{ path: './', reason: { kind: 'repositoryData' } }] as const;
    return { root: realRoot, files: [], leftOut, bytes: 0, widened: [] };
  }
  const { surroundings, signal } = options;
  const widened = new Map<string, IgnoreRule>();
  const onWidened = (rule: IgnoreRule): void => {
    widened.set(JSON.stringify([rule.source, rule.file, rule.line]), rule);
  };
  const sources: RuleSources = { surroundings, nameOf: nameBelow(realRoot), onWidened, signal };
  const repository = await findRepository(realRoot, surroundings.home);
  const rules = await layersAt(realRoot, repository, sources, options);
  const walk = {
    ...options,
    root: realRoot,
    sources,
    ignoreCase: rules.ignoreCase,
    composeNames: rules.composeNames,
  };
  const found = await walkFolder(walk, rules.layers, rules.ignoredBy);
  return { ...(await flatten(realRoot, found)), widened: [...widened.values()].sort(byPlace) };
}

function byPlace(one: IgnoreRule, other: IgnoreRule): number {
  const [file, otherFile] = [one.file ?? '', other.file ?? ''];
  return file < otherFile ? -1 : file > otherFile ? 1 : one.line - other.line;
}

async function realFolder(path: string): Promise<string> {
  try {
    const real = await realpath(path);
    if ((await stat(real)).isDirectory()) return real;
  } catch (error) {
    throw new AssessmentError(
      'notAFolder',
      { subject: path, detail: systemCode(error) ?? '' },
      { cause: error },
    );
  }
  throw new AssessmentError('notAFolder', { subject: path });
}

/** Turns the tree of what was found into lists, without keeping the event loop for long. */
async function flatten(root: string, found: readonly Found[]): Promise<Omit<Selection, 'widened'>> {
  const files: SelectedFile[] = [];
  const leftOut: LeftOut[] = [];
  let bytes = 0;
  const open = [found.values()];
  for (let count = 1; open.length > 0; count++) {
    if (count % itemsPerSlice === 0) await setImmediate();
    const next = open.at(-1)?.next();
    if (next?.done !== false) open.pop();
    else if ('below' in next.value) open.push(next.value.below.values());
    else if ('reason' in next.value) leftOut.push(next.value);
    else {
      files.push(next.value);
      bytes += next.value.bytes;
    }
  }
  return { root, files, leftOut, bytes };
}
