import { setImmediate } from 'node:timers/promises';
import type { Run } from '../run/run.ts';
import type { Finding, Place } from './finding.ts';
import { createLocator, type PathMapping } from './locate.ts';
import { type LocatorFolder, locateAmong } from './locateAmong.ts';
import { locatorAmongSent, readSentFiles, type SentFile } from './sentFiles.ts';
import { toWorkspacePath } from './workspacePath.ts';

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

/** What a finding is about: its folder, empty when nothing tells it, and the path in it, whether or not that file is still here. */
export interface Subject {
  readonly folder: string;
  readonly path: string;
}

/** Where the places of findings are. */
export interface Located {
  /** Those places that are files here. */
  readonly spots: ReadonlyMap<Place, Spot>;
  /** The names, without folders, of files that are not here. */
  readonly missing: ReadonlySet<string>;
  /** One for each finding. */
  readonly subjects: readonly Subject[];
}

const chunk = 100;

/** Looks the places of a run's findings up; other work goes on meanwhile. */
export async function locateFindings(
  run: Run,
  runFolder: string,
  findings: readonly Finding[],
  mappingOf: (folder: string) => readonly PathMapping[],
): Promise<Located> {
  const sent = await Promise.all(run.targets.map((_, index) => readSentFiles(runFolder, index)));
  const here = run.targets.map(({ folder }, index) => ({
    folder,
    locate: createLocator({ root: folder, files: sent[index]?.keys(), mapping: mappingOf(folder) }),
  }));
  const asSent = run.targets.flatMap((target, index) => {
    const files = sent[index];
    return files === undefined ? [] : [{ folder: target.folder, locate: locatorAmongSent(target, files) }];
  });
  const originOf = ({ targetIndex }: Place): string | undefined =>
    run.targets[run.targets.length === 1 ? 0 : (targetIndex ?? -1)]?.folder;

  const spots = new Map<Place, Spot>();
  const missing = new Set<string>();
  const find = async (place: Place): Promise<void> => {
    const found = await fileAmong(place, here, originOf(place));
    if (found === undefined) {
      missing.add(place.path.split(/[\\/]/).at(-1) ?? '');
      return;
    }
    const target = run.targets.findIndex(({ folder }) => folder === found.folder);
    spots.set(place, { ...found, target, sent: sent[target]?.get(found.path) });
  };
  const subjectOf = async ({ places: [place] }: Finding): Promise<Subject> => {
    if (place === undefined) return { folder: originOf({ path: '' }) ?? '', path: '' };
    const found = spots.get(place) ?? (await fileAmong(place, asSent, originOf(place)));
    if (found !== undefined) return { folder: found.folder, path: found.path.normalize('NFC') };
    const folder = originOf(place) ?? '';
    const written = toWorkspacePath(place.path, folder);
    const path = written.kind === 'path' ? written.segments.join('/') : place.path;
    return { folder, path: path.normalize('NFC') };
  };

  const subjects: Subject[] = [];
  for (let start = 0; start < findings.length; start += chunk) {
    const some = findings.slice(start, start + chunk);
    await Promise.all(some.flatMap(({ places }) => places.map(find)));
    subjects.push(...(await Promise.all(some.map(subjectOf))));
    await setImmediate();
  }
  return { spots, missing, subjects };
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
