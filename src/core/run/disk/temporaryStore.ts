import { constants } from 'node:fs';
import { access, cp, lstat, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemCode } from '../../errors.ts';
import { makePrivateFolder } from '../../files.ts';
import { processExists } from './lease.ts';

const namePattern = /^whitebox-runs-(\d+)-/;

/** Why this user cannot make or write a folder, as the system's code; undefined when they can. A full disk is thrown: it may have room again. */
export async function writeProblem(folder: string): Promise<string | undefined> {
  try {
    await makePrivateFolder(folder);
    await access(join(folder, '.'), constants.W_OK);
    return undefined;
  } catch (error) {
    const code = systemCode(error) ?? '';
    if (['EROFS', 'EACCES', 'EPERM', 'ENOTDIR', 'EEXIST'].includes(code)) return code;
    throw error;
  }
}

/** The names of the folders in a folder; none when it cannot be read. */
export async function foldersIn(folder: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM'].includes(systemCode(error) ?? '')) return [];
    throw error;
  }
}

/** A private temporary folder that replaces, for one window, a folder of runs that cannot be written. A run is copied there when it is first written to: all of them may be gigabytes. */
export class TemporaryStore {
  readonly #root: string;
  readonly #folder: string;
  readonly #ids = new Set<string>();
  /** The system's code for why it is needed. */
  readonly problem: string;

  private constructor(root: string, folder: string, problem: string) {
    this.#root = root;
    this.#folder = folder;
    this.problem = problem;
  }

  /** Makes one, and removes those of windows that are gone. */
  static async make(root: string, problem: string): Promise<TemporaryStore> {
    await removeAbandoned();
    const folder = await mkdtemp(join(tmpdir(), `whitebox-runs-${String(process.pid)}-`));
    return new TemporaryStore(root, folder, problem);
  }

  /** The folder of a run that is here; undefined while it is in its original place. */
  folderOf(id: string): string | undefined {
    return this.#ids.has(id) ? join(this.#folder, id) : undefined;
  }

  /** Declares a run as being here. */
  add(id: string): void {
    this.#ids.add(id);
  }

  /** Copies a run here, unless it is here already; leases and locks are not copied. */
  async copyHere(id: string): Promise<void> {
    if (this.#ids.has(id)) return;
    const from = join(this.#root, id);
    const skipped = [join(from, 'lease'), join(from, 'lock')];
    await cp(from, join(this.#folder, id), { recursive: true, filter: (path) => !skipped.includes(path) });
    this.#ids.add(id);
  }
}

/** Other users may share the system's temporary folder: only own folders, and no links, are removed. What cannot be removed stays. */
async function removeAbandoned(): Promise<void> {
  for (const name of await foldersIn(tmpdir())) {
    const pid = namePattern.exec(name)?.[1];
    if (pid === undefined || processExists(Number(pid))) continue;
    const path = join(tmpdir(), name);
    try {
      const isOwn = process.getuid === undefined || (await lstat(path)).uid === process.getuid();
      if (isOwn) await rm(path, { recursive: true, force: true });
    } catch (error) {
      if (systemCode(error) === undefined) throw error;
    }
  }
}
