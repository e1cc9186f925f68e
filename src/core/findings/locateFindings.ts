import { setImmediate } from 'node:timers/promises';
import type { Run } from '../run/run.ts';
import type { Finding, Place } from './finding.ts';
import { createLocator, type PathMapping } from './locate.ts';
import { type LocatorFolder, locateAmong } from './locateAmong.ts';
import type { SentFile } from './sentFiles.ts';
import type { SentOfRun, Subject } from './subjects.ts';

/** A file here that a place is in. */
export interface Spot {
  /** Absolute. */
  readonly file: string;
  /** The folder it lies in, as the run's target names it, and that target's position. */
  readonly folder: string;
  readonly target: number;
  /** Relative to its folder, with `/`. */
  readonly path: string;
  /** What was sent of it; undefined when that is not known. */
  readonly sent: SentFile | undefined;
}

/** Where the places of findings are. */
export interface Located {
  /** Those places that are files here. */
  readonly spots: ReadonlyMap<Place, Spot>;
  /** The names, without folders, of files that are not here. */
  readonly missing: ReadonlySet<string>;
}

const chunk = 100;

/** Looks the places of a run's findings up, each in the folder that it is about; other work goes on meanwhile. */
export async function locateFindings(
  { targets }: Run,
  findings: readonly Finding[],
  {
    sent,
    subjectOf,
    mappingOf,
  }: {
    sent: SentOfRun;
    subjectOf: (place: Place) => Subject;
    mappingOf: (folder: string) => readonly PathMapping[];
  },
): Promise<Located> {
  const here = targets.map(({ folder }, index) => ({
    folder,
    locate: createLocator({ root: folder, files: sent[index]?.keys(), mapping: mappingOf(folder) }),
  }));
  const spots = new Map<Place, Spot>();
  const missing = new Set<string>();
  const find = async (place: Place): Promise<void> => {
    const found = await fileAmong(place, here, subjectOf(place).folder);
    if (found === undefined) {
      missing.add(place.path.split(/[\\/]/).at(-1) ?? '');
      return;
    }
    const target = targets.findIndex(({ folder }) => folder === found.folder);
    spots.set(place, { ...found, target, sent: sent[target]?.get(found.path) });
  };
  for (let start = 0; start < findings.length; start += chunk) {
    const some = findings.slice(start, start + chunk);
    await Promise.all(some.flatMap(({ places }) => places.map(find)));
    await setImmediate();
  }
  return { spots, missing };
}

async function fileAmong(
  { path }: Place,
  folders: readonly LocatorFolder[],
  origin: string | undefined,
): Promise<Pick<Spot, 'file' | 'folder' | 'path'> | undefined> {
  const found = await locateAmong(path, folders, origin);
  if (found.kind !== 'inFolder' || found.located.kind !== 'file') return undefined;
  return { file: found.located.absolute, folder: found.folder, path: found.located.path };
}
