import { isDeepStrictEqual } from 'node:util';
import type { Run } from '../run/state/run.ts';
import { type LoadDeps, LoadedRun, type RenewedFiles } from './loadedRun.ts';
import { hasSameFiles } from './shownRun.ts';

/** The runs whose findings follow edits, files and decisions: those that are shown, and the one that they are compared with. */
export class FollowedRuns {
  #runs: readonly LoadedRun[] = [];
  /** The text of files that are being edited. */
  readonly #texts = new Map<string, string>();

  /** The text of a file (an absolute path) that is being edited. */
  textOf(file: string): string | undefined {
    return this.#texts.get(file);
  }

  /** A run as it was read, whatever was downloaded since. */
  former({ id }: Run): LoadedRun | undefined {
    return this.#runs.find(({ run }) => run.id === id);
  }

  /** A run as it was read, unless its files were downloaded anew since, or could not be read: they may be readable by now. */
  of(run: Run): LoadedRun | undefined {
    const same = this.#same(run);
    return same?.failure === undefined ? same : undefined;
  }

  /** True for a file that findings point at. */
  isPointedAt(file: string): boolean {
    return this.#runs.some((each) => each.has(file));
  }

  /** The files in these folders, at any depth, that findings point at. */
  filesBelow(folders: ReadonlySet<string>): readonly string[] {
    return this.#runs.flatMap((each) => each.filesBelow(folders));
  }

  /** True for a file or a folder in which findings may be that have no place so far. */
  isAwaited(file: string): boolean {
    return this.#runs.some((each) => each.isAwaited(file));
  }

  /** Follows these runs from now on, and no others; decisions and edits may have come while they were read. They have to be prepared. */
  follow(runs: readonly LoadedRun[]): void {
    this.#runs = [...new Set(runs)];
    for (const each of this.#runs) {
      each.renewTriage();
      for (const [file, text] of this.#texts) each.renewText(file, text);
    }
  }

  /** Until every file that is being edited can be followed at once in these runs. */
  async prepare(runs: readonly LoadedRun[]): Promise<void> {
    const unready = runs.flatMap((each) =>
      [...this.#texts.keys()].filter((file) => !each.isReady(file)).map((file) => each.prepare(file)),
    );
    if (unready.length === 0) return;
    await Promise.all(unready);
    await this.prepare(runs);
  }

  /** True when a run that could not be read can be by now, or cannot for another reason. */
  async readOtherwise(deps: LoadDeps): Promise<boolean> {
    const unread = this.#runs.filter(({ failure }) => failure !== undefined);
    const again = await Promise.all(unread.map(({ run }) => LoadedRun.load(run, deps)));
    return again.some(({ failure }, at) => !isDeepStrictEqual(failure, unread[at]?.failure));
  }

  /** Takes over what became of runs whose files are still the same, as `LoadedRun.renewRun` does; true when any of it is new. */
  async renewRuns(runs: readonly Run[], deps: LoadDeps): Promise<boolean> {
    const renewed = runs.map(async (run) => this.#same(run)?.renewRun(run, deps));
    return (await Promise.all(renewed)).includes(true);
  }

  /** Takes over decisions. */
  renewTriage(): readonly RenewedFiles[] {
    return this.#runs.map((each) => each.renewTriage());
  }

  /** From now on this text of an open document counts, and not the file on the disk; resolves when it can be followed, undefined when it can be at once. */
  edit(file: string, text: string): Promise<unknown> | undefined {
    this.#texts.set(file, text);
    const unready = this.#runs.filter((each) => !each.isReady(file));
    return unready.length === 0 ? undefined : Promise.all(unready.map((each) => each.prepare(file)));
  }

  /** Takes over the latest text of a file that is being edited. */
  renewEdited(file: string): readonly RenewedFiles[] {
    const text = this.#texts.get(file);
    return text === undefined ? [] : this.#runs.map((each) => each.renewText(file, text));
  }

  /** From now on the file on the disk counts again; false when it did already. */
  endEdit(file: string): boolean {
    return this.#texts.delete(file);
  }

  /** Takes over what became of files on the disk, but for those that are being edited. */
  async renewFromDisk(files: readonly string[]): Promise<readonly RenewedFiles[]> {
    const isEdited = (file: string): boolean => this.#texts.has(file);
    return Promise.all(
      files
        .filter((file) => !isEdited(file))
        .flatMap((file) => this.#runs.map((each) => each.renewFromDisk(file, () => isEdited(file)))),
    );
  }

  #same(run: Run): LoadedRun | undefined {
    const former = this.former(run);
    return former !== undefined && hasSameFiles(former.run, run) ? former : undefined;
  }
}
