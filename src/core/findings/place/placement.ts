import { isDeepStrictEqual } from 'node:util';
import { asUnknown } from '../../errors.ts';
import { pathKey } from '../../paths.ts';
import type { Run } from '../../run/state/run.ts';
import { type FolderCalls, inParallel, memoized, once } from '../../yieldingWork.ts';
import type { Place } from '../finding.ts';
import type { ResultFinding } from '../result/result.ts';
import type { ShownPlace } from '../shownFinding.ts';
import {
  asReported,
  type CurrentPlaces,
  type EditorTexts,
  type LocatedFile,
  type PlacesOfFile,
} from './currentPlaces.ts';
import type { PathMapping } from './mappings.ts';
import { createLocator, type Locate } from './resolver.ts';
import { readSentFiles, readUnchanged, type SentFile } from './sentFiles.ts';

/*
 * Finds where the places of a run's findings are now, on the extension host: a file with the bytes that were sent needs no worker, since places have their
 * lines in the sent text. Files in editors come first, then the others, a few at a time. Those that differ are followed in the worker, in one request.
 */

/** Findings that one run reports, and what finds their files. */
export interface FindingsOfRun {
  readonly run: Run;
  readonly runFolder: string;
  readonly locate: Locate;
  readonly found: readonly ResultFinding[];
}

/** `knowsSent` tells for each target whether it is known what was sent of it. `mappings` are by `pathKey` of a target's folder. */
export function findingsOfRun(
  run: Run,
  runFolder: string,
  found: readonly ResultFinding[],
  knowsSent: readonly boolean[],
  mappings: Readonly<Record<string, readonly PathMapping[]>>,
  calls: Pick<FolderCalls, 'ask'>,
): FindingsOfRun {
  const mappingsOf = (folder: string): readonly PathMapping[] => mappings[pathKey(folder)] ?? [];
  const isKnown = run.targets.map((_, target) => knowsSent[target] === true);
  return { run, runFolder, locate: createLocator(run.targets, isKnown, mappingsOf, calls), found };
}

type PlaceAsSent = readonly [place: Place, sent: SentFile | undefined];

function locateIn({
  run,
  runFolder,
  locate,
}: FindingsOfRun): (place: PlaceAsSent) => Promise<LocatedFile | undefined> {
  // Only a mapping leads to another sent file than the result names.
  const sentOfTarget = run.targets.map((_, target) => once(() => readSentFiles(run, target, runFolder)));
  return async ([place, named]) => {
    const found = await locate(place, named);
    if (found === undefined) return undefined;
    const { file, folder, target, path } = found;
    const isNamed = target === named?.target && path === named.path;
    const sent = isNamed ? named : (await sentOfTarget[target]?.())?.get(path);
    return { file, folder, target, path, sent };
  };
}

function keyOfFile([place, sent]: PlaceAsSent): string {
  return sent === undefined
    ? `${place.path}\0${String(place.targetIndex)}`
    : `${String(sent.target)}\0${sent.path}`;
}

export interface PlacedFiles {
  /** Undefined for a place without a file on this machine. A place that was not looked for yet has no entry. */
  readonly places: ReadonlyMap<Place, ShownPlace | undefined>;
  readonly missing: ReadonlySet<string>;
}

/** Follows files that differ from what was sent: an answer for each, or none. */
export type Follow = (
  files: readonly PlacesOfFile[],
  texts: EditorTexts,
) => Promise<readonly (CurrentPlaces | undefined)[]>;

export interface PlaceOptions {
  readonly texts: () => EditorTexts;
  readonly follow: Follow;
  /** The other places stay as they were. */
  readonly isWanted?: ((place: Place) => boolean) | undefined;
  /** Gets what is known once the first files are read. */
  readonly onFirst?: ((placed: PlacedFiles) => void) | undefined;
  readonly calls: Pick<FolderCalls, 'ask'>;
}

const filesAtOnce = 16;
/** With findings in as many files, people see something. */
const firstFiles = 32;

/**
 * Places the findings of several runs, which are where `former` says until then: those in editors first, then run by run. A place that stays the same is the
 * same object.
 */
export async function placeFindings(
  runs: readonly FindingsOfRun[],
  former: PlacedFiles,
  { texts: textsNow, follow, isWanted = () => true, onFirst, calls }: PlaceOptions,
): Promise<PlacedFiles> {
  const [texts, placed, missing] = [textsNow(), new Map(former.places), new Set(former.missing)];
  const add = ({ file, places }: PlacesOfFile, current: CurrentPlaces): void => {
    for (const [at, reported] of places.entries()) {
      const now = {
        ...file,
        drift: 'unknown' as const,
        ...current.places[at],
        isChanged: current.isChanged,
        reported,
      };
      if (!isDeepStrictEqual(placed.get(reported), now)) placed.set(reported, now);
    }
  };
  const groups = runs.flatMap((each) => {
    const { id, targets } = each.run;
    const locate = locateIn(each);
    const places: PlaceAsSent[] = [];
    for (const { finding, sent } of each.found)
      for (const [at, place] of finding.places.entries()) if (isWanted(place)) places.push([place, sent[at]]);
    return [...Map.groupBy(places, keyOfFile).values()].flatMap((group) => {
      const [first] = group;
      if (first === undefined) return [];
      const [{ path }, sent] = first;
      const isOpen = isInEditor(`${sent?.folder ?? targets[0]?.folder ?? ''}/${sent?.path ?? path}`, texts);
      return [
        {
          run: id,
          path,
          sent,
          isOpen,
          locate: () => locate(first),
          places: group.map(([place]) => place),
          was: former.places.get(first[0]),
        },
      ];
    });
  });
  groups.sort((one, other) => Number(other.isOpen) - Number(one.isOpen));
  // Runs report the same files.
  const isAsSent = memoized(
    async ({ sent }: LocatedFile) =>
      sent !== undefined && (await calls.ask(sent.folder, () => readUnchanged(sent))) !== undefined,
    ({ file, sent }) => `${file}\0${sent?.sha256 ?? ''}`,
  );
  /** `unknown`: nothing can be said about a file that is not known as it was sent, and is in no editor. */
  const stateOf = async (file: LocatedFile): Promise<'asSent' | 'other' | 'unknown'> => {
    if (!texts.edited.has(pathKey(file.file)) && (await isAsSent(file))) return 'asSent';
    return file.sent !== undefined || isInEditor(file.file, texts) ? 'other' : 'unknown';
  };
  const others: PlacesOfFile[] = [];
  const place = async (group: (typeof groups)[number]): Promise<void> => {
    const { run, path, sent, places, was } = group;
    const look = async () => {
      const file = await group.locate();
      return file && { file, state: await stateOf(file) };
    };
    const found = await look().catch((error: unknown) => {
      asUnknown(error);
      return 'unread' as const;
    });
    if (found === undefined) missing.add(sent?.path ?? path);
    if (found === undefined && was !== undefined) {
      const file = { file: was.file, folder: was.folder, target: was.target, path: was.path, sent: was.sent };
      add({ run, file, places }, { places: places.map(() => ({ drift: 'gone' })), isChanged: true });
    } else if (found === undefined) for (const each of places) placed.set(each, undefined);
    else if (found !== 'unread') {
      const each = { run, file: found.file, places };
      if (found.state === 'other') others.push(each);
      else add(each, asReported(each, { isAsSent: found.state === 'asSent' }));
    } else if (sent !== undefined && was === undefined) {
      const unread = { run, file: { ...sent, file: `${sent.folder}/${sent.path}`, sent }, places };
      add(unread, asReported(unread));
    }
  };
  await inParallel(groups.slice(0, firstFiles), filesAtOnce, place);
  onFirst?.({ places: placed, missing });
  await inParallel(groups.slice(firstFiles), filesAtOnce, place);
  const current = others.length === 0 ? [] : await follow(others, texts);
  const { edited } = textsNow();
  for (const [at, each] of others.entries()) {
    const key = pathKey(each.file.file);
    // An answer for an older text is dropped: the next request follows the present one.
    const now = edited.get(key) === texts.edited.get(key) ? current[at] : undefined;
    const wasPlaced = each.places.every((reported) => placed.has(reported));
    if (now !== undefined || !wasPlaced) add(each, now ?? asReported(each));
  }
  return { places: placed, missing };
}

function isInEditor(file: string, { edited, opened }: EditorTexts): boolean {
  const key = pathKey(file);
  return edited.has(key) || opened.has(key);
}

/** Those of a finding's places that have a file on this machine, in their order. */
export function placesOf(
  { finding }: Pick<ResultFinding, 'finding'>,
  { places }: Pick<PlacedFiles, 'places'>,
): ShownPlace[] {
  return finding.places.flatMap((place) => places.get(place) ?? []);
}
