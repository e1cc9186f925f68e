import { existsSync } from 'node:fs';
import { join, posix, sep } from 'node:path';
import { pathInside } from '../../paths.ts';
import type { IgnoreSettings } from './gitConfig.ts';
import { type IndexEntries, type IndexProblem, type ObjectFormat, readGitIndex } from './gitIndex.ts';
import { toGitBytes } from './pattern.ts';
import type { Repository } from './repository.ts';
import type { RuleSources } from './ruleLayers.ts';

export interface UnreadIndex {
  readonly file: string;
  readonly problem: IndexProblem;
}

/** Most names are ASCII. They aren't converted, because that would be slow for very many names. */
function fromLatin(name: string): string {
  return /[\x80-\xff]/.test(name) ? toGitBytes(Buffer.from(name, 'latin1')) : name;
}

/**
 * `files` and `folders` have paths like those of `TrackedFiles`, in Git's bytes, in lower case if
 * Git ignores case.
 */
interface Names {
  readonly files: Set<string>;
  readonly folders: Set<string>;
  /** Paths are relative to the selection's root, and spelled as in the index. */
  readonly submodules: string[];
  /**
   * `.gitignore` files that a sparse checkout doesn't write to disk, although their folders are
   * there. Paths are relative to the working tree.
   */
  readonly skippedRules: string[];
}

/**
 * The limit for the names of all folders of an index, with `folderBytes` more for each. A few long
 * paths can name very many folders.
 */
const maxFolderBytes = 32 << 20;
const folderBytes = 32;

/**
 * The files that Git tracks in a selection's repositories. Paths are relative to the selection's
 * root, and those of folders end in `/`.
 */
export class TrackedFiles {
  readonly unread: UnreadIndex[] = [];
  readonly #root: string;
  readonly #settings: Pick<IgnoreSettings, 'ignoreCase' | 'composeNames'>;
  readonly #sources: RuleSources;
  readonly #names: Names[] = [];

  constructor(
    root: string,
    settings: Pick<IgnoreSettings, 'ignoreCase' | 'composeNames'>,
    sources: RuleSources,
  ) {
    this.#root = root;
    this.#settings = settings;
    this.#sources = sources;
  }

  get submodules(): readonly string[] {
    return this.#names.flatMap(({ submodules }) => submodules);
  }

  has(path: string): boolean {
    return this.#isIn('files', path);
  }

  hasBelow(folder: string): boolean {
    return this.#isIn('folders', folder);
  }

  /** The working tree must contain the root, or be in it. */
  async add(repository: Repository, objectFormat = 'sha1'): Promise<void> {
    const path = join(repository.gitDir, 'index');
    const { nameOf, onUnreadRules } = this.#sources;
    const names: Names = { files: new Set(), folders: new Set(), submodules: [], skippedRules: [] };
    const problem =
      objectFormat === 'sha1' || objectFormat === 'sha256'
        ? await this.#read(path, objectFormat, repository, names)
        : 'unsupported';
    if (problem === undefined) {
      this.#names.push(names);
      for (const name of names.skippedRules)
        onUnreadRules({ file: nameOf(join(repository.root, name)), problem: 'notOnDisk' });
    } else this.unread.push({ file: nameOf(path), problem });
  }

  async #read(
    path: string,
    format: ObjectFormat,
    repository: Repository,
    names: Names,
  ): Promise<IndexProblem | undefined> {
    const below = pathInside(this.#root, repository.root);
    const added = this.#toPrefix(below);
    const cut = below === undefined ? this.#toPrefix(pathInside(repository.root, this.#root)) : '';
    const add = adding(names);
    const start = Buffer.from(repository.root + sep);
    const isOnDisk = (name: string): boolean =>
      existsSync(Buffer.concat([start, Buffer.from(name, 'latin1')]));
    const entries: IndexEntries = {
      onFile: (name, { isSubmodule, isSkipped }) => {
        const key = this.#fold(fromLatin(name));
        const isAround = key.startsWith(cut) || cut.startsWith(folderOf(key));
        const isRules = isSkipped && isAround && posix.basename(key) === '.gitignore';
        if (isRules && !isOnDisk(name) && isOnDisk(folderOf(name)))
          names.skippedRules.push(Buffer.from(name, 'latin1').toString('utf8'));
        if (!key.startsWith(cut)) return true;
        if (isSubmodule) {
          const path = Buffer.from(name.slice(cut.length), 'latin1').toString('utf8');
          names.submodules.push(`${posix.join(below ?? '', path)}/`);
        }
        return add(added + key.slice(cut.length));
      },
      isOnDisk,
    };
    return readGitIndex(path, format, entries, this.#sources.signal);
  }

  #isIn(kind: 'files' | 'folders', path: string): boolean {
    return this.#names.some((names) => names[kind].has(this.#toKey(path)));
  }

  #toKey(path: string): string {
    return this.#fold(toGitBytes(this.#settings.composeNames ? path.normalize('NFC') : path));
  }

  #toPrefix(path = ''): string {
    return path === '' ? '' : `${this.#toKey(path)}/`;
  }

  #fold(name: string): string {
    return this.#settings.ignoreCase ? name.toLowerCase() : name;
  }
}

/**
 * The returned function adds a file and the folders above it, and is fastest if paths come in byte
 * order. It returns false once the folders take more than `maxFolderBytes`.
 */
function adding({ files, folders }: Names): (path: string) => boolean {
  let last = '';
  let bytes = 0;
  return (path) => {
    files.add(path);
    if (folders.size > 0 && path.startsWith(last) && path.lastIndexOf('/') < last.length) return true;
    last = folderOf(path);
    for (let folder = last; !folders.has(folder); folder = folderOf(folder)) {
      folders.add(folder);
      bytes += folder.length + folderBytes;
    }
    return bytes <= maxFolderBytes;
  };
}

/** Ends in `/`, or is empty for the top. */
function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/', path.length - 2) + 1);
}
