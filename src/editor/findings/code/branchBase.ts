import { AssessmentError, asUnknown } from '../../../core/errors.ts';
import { maxTextBytes } from '../../../core/findings/location/uploadedFiles.ts';
import {
  compareWithBase,
  type FileChanges,
  originalPaths,
} from '../../../core/findings/view/branchChanges.ts';
import { atOrBelow, pathKey } from '../../../core/paths.ts';
import type { Logger } from '../../../core/ports.ts';
import { answerOfGit, type GitRepository } from '../../folders.ts';
import { contentAt, toText } from './fileTexts.ts';

/** Limits the total size of the files at the base. Files beyond the limit are not compared. */
const maxBytes = 64 * 1024 * 1024;

export interface Base {
  readonly repository: GitRepository;
  readonly name: string;
  readonly commit: string;
  /** Has absolute paths at the base, by `pathKey` of the present paths. */
  readonly originals: ReadonlyMap<string, string>;
}

/** Returns undefined if none of `names` has a merge base with `HEAD`. Failures throw `noAnswer`. */
export async function findBase(
  repository: GitRepository,
  picked: string | undefined,
  log: Logger,
): Promise<Base | undefined> {
  const { name: branch = '', upstream } = repository.state.HEAD ?? {};
  const isDefault = branch === 'main' || branch === 'master';
  const names = [
    picked,
    isDefault && upstream ? `${upstream.remote}/${upstream.name}` : undefined,
    'origin/HEAD',
    'origin/main',
    'origin/master',
  ];
  try {
    for (const name of names) {
      const commit = name && (await answerOfGit(repository.getMergeBase('HEAD', name)));
      if (name === undefined || commit === undefined || !/^[0-9a-f]{40,64}$/.test(commit)) continue;
      const changes = await answerOfGit(repository.diffWith(commit));
      return { repository, name, commit, originals: await originalPaths(changes) };
    }
  } catch (error) {
    log.warn(`The base of the branch could not be found: ${String(error)}`);
    throw new AssessmentError('noAnswer', { subject: 'Git' }, { cause: error });
  }
  return undefined;
}

interface BaseText {
  readonly bytes: number;
  /** The text is null if the base has no such file, and undefined if it is unknown. */
  readonly text: string | null | undefined;
}

interface ComparedFile {
  readonly commit: string;
  readonly original: string;
  readonly before: BaseText;
  readonly changes: FileChanges;
}

export class FilesAtBase {
  readonly #files = new Map<string, ComparedFile>();
  readonly #stale = new Set<string>();
  #heldBytes = 0;

  changes(): ReadonlyMap<string, FileChanges> {
    return new Map([...this.#files].map(([file, compared]) => [file, compared.changes]));
  }

  reread(changed: ReadonlySet<string>): boolean {
    const stale = [...this.#files.keys()].filter(atOrBelow(changed));
    for (const file of stale) this.#stale.add(file);
    return stale.length > 0;
  }

  keepOnly(files: ReadonlyMap<string, unknown>): void {
    for (const file of this.#files.keys()) if (!files.has(file)) this.#forget(file);
  }

  forgetUnknown(): void {
    for (const [file, { before }] of this.#files) if (before.text === undefined) this.#forget(file);
  }

  /** A file that cannot be read now is read again by the next comparison. */
  async compare(
    file: string,
    { repository, commit, originals }: Base,
    readNow: () => Promise<string | undefined>,
  ): Promise<void> {
    const original = originals.get(pathKey(file)) ?? file;
    const known = this.#files.get(file);
    const isSameBase = known?.commit === commit && known.original === original;
    if (isSameBase && !this.#stale.has(file)) return;
    this.#stale.delete(file);
    if (!isSameBase) this.#forget(file);
    const before = isSameBase ? known.before : await this.#readAtBase(repository, commit, original);
    const now = await readNow().catch((error: unknown) => {
      asUnknown(error);
      this.#stale.add(file);
      return undefined;
    });
    const changes = compareWithBase(before.text, now);
    this.#files.set(file, { commit, original, before, changes });
  }

  async #readAtBase(repository: GitRepository, commit: string, file: string): Promise<BaseText> {
    const maxHere = Math.min(maxTextBytes, maxBytes - this.#heldBytes);
    const content = await contentAt(repository, commit, file, maxHere);
    const bytes = content?.length ?? 0;
    this.#heldBytes += bytes;
    return { bytes, text: content && toText(content, file) };
  }

  #forget(file: string): void {
    this.#heldBytes -= this.#files.get(file)?.before.bytes ?? 0;
    this.#files.delete(file);
  }
}
