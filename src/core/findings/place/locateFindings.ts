import { setImmediate } from 'node:timers/promises';
import type { Run } from '../../run/run.ts';
import type { Finding, Place } from '../finding.ts';
import { createLocator, type PathMapping } from './locate.ts';
import { type LocatorFolder, locateAmong, pathNamesOf } from './locateAmong.ts';
import type { SentFile } from './sentFiles.ts';
import { pathKey, type SentOfRun, type Subject } from './subjects.ts';

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
  /** The files here, each with places in it; a file that is told in several ways is there several times. */
  readonly spots: readonly { readonly spot: Spot; readonly places: readonly Place[] }[];
  /** The names of files that are not here, and of the folders on the way to them: either may come back. */
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
  const here = targets.map((target, index) => ({
    folder: target.folder,
    names: pathNamesOf(target, index),
    locate: createLocator({
      root: target.folder,
      files: sent[index]?.keys(),
      mapping: mappingOf(target.folder),
    }),
  }));
  const spots: { spot: Spot; places: readonly Place[] }[] = [];
  const missing = new Set<string>();
  const find = async (places: readonly [Place, ...Place[]]): Promise<void> => {
    const [{ path }] = places;
    const found = await fileAmong(path, here, subjectOf(places[0]).folder);
    if (found === undefined) {
      for (const name of path.split(/[\\/]/)) missing.add(name);
      return;
    }
    const target = targets.findIndex(({ folder }) => folder === found.folder);
    spots.push({ spot: { ...found, target, sent: sent[target]?.get(found.path) }, places });
  };
  const waiting = byPath(findings);
  for (let start = 0; start < waiting.length; start += chunk) {
    await Promise.all(waiting.slice(start, start + chunk).map(find));
    await setImmediate();
  }
  return { spots, missing };
}

/** The places of findings, those together that tell the same path of the same archive: they are looked up once. */
function byPath(findings: readonly Finding[]): readonly (readonly [Place, ...Place[]])[] {
  const groups = new Map<string, [Place, ...Place[]]>();
  for (const { places } of findings) {
    for (const place of places) {
      const key = pathKey(place);
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [place]);
      else group.push(place);
    }
  }
  return [...groups.values()];
}

async function fileAmong(
  path: string,
  folders: readonly LocatorFolder[],
  origin: string | undefined,
): Promise<Pick<Spot, 'file' | 'folder' | 'path'> | undefined> {
  const found = await locateAmong(path, folders, origin);
  if (found?.located.kind !== 'file') return undefined;
  return { file: found.located.absolute, folder: found.folder, path: found.located.path };
}
