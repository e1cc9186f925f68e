import { constants } from 'node:fs';
import { access, cp, lstat, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemCode } from '../../errors.ts';
import { makePrivateFolder } from '../../files.ts';
import { processExists } from './lease.ts';

const namePattern = /^whitebox-runs-(\d+)-/;

/** Why a folder cannot be made or written by this user, as the system's code; undefined when it can. A full disk is not meant: it may have room again. */
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

/** The names of the folders in a folder; none where it cannot be read. */
export async function foldersIn(folder: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM'].includes(systemCode(error) ?? '')) return [];
    throw error;
  }
}

/** A private temporary folder that stands in, for one window, for the folder of the runs that cannot be written: a run is copied there when it is first written to. */
export class StandInFolder {
  readonly #root: string;
  readonly #folder: string;
  readonly #ids = new Set<string>();
  /** The system's word for why it is needed. */
  readonly problem: string;

  private constructor(root: string, folder: string, problem: string) {
    this.#root = root;
    this.#folder = folder;
    this.problem = problem;
  }

  /** Makes one, and removes those that windows left which are no more. */
  static async make(root: string, problem: string): Promise<StandInFolder> {
    await sweep();
    const folder = await mkdtemp(join(tmpdir(), `whitebox-runs-${String(process.pid)}-`));
    return new StandInFolder(root, folder, problem);
  }

  /** The folder of a run that is kept here; undefined while it still is where it was. */
  folderOf(id: string): string | undefined {
    return this.#ids.has(id) ? join(this.#folder, id) : undefined;
  }

  /** From now on a run is kept here. */
  add(id: string): void {
    this.#ids.add(id);
  }

  /** Copies a run here, unless it is here already; leases and locks stay behind. */
  async bring(id: string): Promise<void> {
    if (this.#ids.has(id)) return;
    const from = join(this.#root, id);
    const left = [join(from, 'lease'), join(from, 'lock')];
    await cp(from, join(this.#folder, id), { recursive: true, filter: (path) => !left.includes(path) });
    this.#ids.add(id);
  }
}

/** The temporary folder may be shared: what belongs to somebody else, or is a link, is left alone. What cannot be removed stays: the stand-in does not need it. */
async function sweep(): Promise<void> {
  const inUse = (name: string): boolean => {
    const pid = namePattern.exec(name)?.[1];
    return pid === undefined || processExists(Number(pid));
  };
  try {
    for (const name of (await readdir(tmpdir())).filter((each) => !inUse(each))) {
      await removeOwnFolder(join(tmpdir(), name));
    }
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
  }
}

async function removeOwnFolder(path: string): Promise<void> {
  try {
    const stat = await lstat(path);
    const isOwn = process.getuid === undefined || stat.uid === process.getuid();
    if (stat.isDirectory() && isOwn) await rm(path, { recursive: true, force: true });
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
  }
}
