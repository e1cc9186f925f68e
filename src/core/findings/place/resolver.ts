import { basename } from 'node:path';
import type { Target } from '../../run/state/run.ts';
import type { Place } from '../finding.ts';
import {
  createVisit,
  type LinkReader,
  type NoFile,
  none,
  spellingsOf,
  toWorkspacePath,
} from './workspacePath.ts';
import { type PathMapping, visitMapped } from './mappings.ts';
import { createSearch, filesOnDisk, namedBy, type SearchResult, sentFilesOf } from './search.ts';

/**
 * Where a place is according to the findings file and what was sent: the same on every machine that knows what was sent. Where that is not known, as for
 * a run that was imported or tracked by its ID, paths are as reported.
 */
export interface SentPath {
  /** As the run's target names it. Undefined if several targets are possible, empty if none is. */
  readonly folder: string | undefined;
  /** The path in the folder that was sent, else the one that was reported, with `/`; empty for a finding without a place. */
  readonly path: string;
}

/** Turns the paths that a run reports into files. */
export interface Resolver {
  /** The file that was sent, whether it is still on the disk or not. */
  sentFile(place: Place): Promise<SearchResult>;
  sentPath(place: Place): Promise<SentPath>;
  /** The file on the disk; `sent` is the sent file, if it is known already. */
  locate(place: Place, sent?: SentPosition): Promise<FileOnDisk>;
}

/** `target` is a position. */
export interface SentPosition {
  readonly target: number;
  readonly path: string;
}

/** `target` is a position. */
export type FileOnDisk =
  | { readonly kind: 'file'; readonly target: number; readonly path: string; readonly absolute: string }
  | NoFile;

export interface ResolverFacts {
  readonly targets: readonly Pick<Target, 'folder' | 'name'>[];
  /** By target, with the sent paths as keys; undefined where that is not known. */
  readonly sent: readonly (ReadonlyMap<string, unknown> | undefined)[];
  /** All places of the run, which show the common prefix of its paths. */
  readonly places: Iterable<Place>;
  readonly mappingOf?: ((folder: string) => readonly PathMapping[]) | undefined;
  /** For tests. */
  readonly links?: LinkReader | undefined;
}

/** Each path is looked up once. */
export function createResolver({ targets, sent, places, mappingOf, links }: ResolverFacts): Resolver {
  const searched = targets.map(({ folder, name }, target) => {
    const sentPaths = sent[target]?.keys();
    // The folder's name differs between machines, so it only counts where nothing is known of what was sent.
    const names = [name, String(target), ...(sentPaths === undefined ? [basename(folder)] : [])];
    const roots = spellingsOf(folder);
    const visit = memoized(createVisit(folder, links), (path) => path);
    const files =
      sentPaths === undefined
        ? filesOnDisk(target, names, roots, visit)
        : sentFilesOf(target, names, sentPaths);
    return { target, folder, names, roots, visit, files };
  });

  /** The positions of the targets that a place may be in. */
  const targetsOf = ({ targetIndex }: Place): readonly number[] => {
    if (targets.length > 1)
      return targetIndex === undefined || targets[targetIndex] === undefined
        ? [...targets.keys()]
        : [targetIndex];
    // Where it is not known how many archives were sent, another index means another archive.
    return targetIndex === undefined || targetIndex === 0 || sent[0] !== undefined ? [0] : [];
  };

  const reported = targets.map(() => new Set<string>());
  for (const place of places) for (const target of targetsOf(place)) reported[target]?.add(place.path);
  const search = createSearch(
    searched.map(({ files }) => files),
    reported,
  );
  const find = memoized((place: Place) => search(place.path, targetsOf(place)), placeKey);

  const sentFile = async (place: Place): Promise<SearchResult> => {
    const isKnown = targetsOf(place).every((target) => sent[target] !== undefined);
    return isKnown ? find(place) : none('notFound');
  };

  const sentPath = async (place: Place): Promise<SentPath> => {
    const found = await sentFile(place);
    if (found.kind === 'file')
      return { folder: targets[found.target]?.folder, path: found.path.normalize('NFC') };
    const possible = targetsOf(place);
    const only = possible.length === 1 ? possible[0] : undefined;
    if (only === undefined)
      return { folder: possible.length === 0 ? '' : undefined, path: reportedPath(place.path) };
    const number = sent[only] === undefined ? String(only) : undefined;
    return { folder: targets[only]?.folder, path: reportedPath(place.path, number) };
  };

  const locate = async (place: Place, known?: SentPosition): Promise<FileOnDisk> => {
    const found: SearchResult = known === undefined ? await find(place) : { kind: 'file', ...known };
    const onDisk = found.kind === 'file' ? await searched[found.target]?.visit(found.path) : undefined;
    if (found.kind === 'file' && onDisk?.kind === 'file') return { ...onDisk, ...found };
    // A mapping helps only paths without a file.
    const mapped = await locateMapped(place.path, targetsOf(place));
    if (mapped.kind === 'file') return mapped;
    return found.kind === 'none' ? found : onDisk?.kind === 'none' ? onDisk : none('notFound');
  };

  const locateMapped = async (text: string, among: readonly number[]): Promise<FileOnDisk> => {
    const hits: { readonly names: readonly string[]; readonly file: FileOnDisk }[] = [];
    for (const { target, folder, names, roots, visit } of searched.filter((each) =>
      among.includes(each.target),
    )) {
      const found = await visitMapped(text, { roots, mapping: mappingOf?.(folder) ?? [], visit });
      if (found.kind === 'file') hits.push({ names, file: { ...found, target } });
    }
    return namedBy(text, hits)?.file ?? none('notFound');
  };

  return {
    sentFile,
    sentPath,
    locate: memoized(locate, placeKey),
  };
}

/** Remembers the answers. */
function memoized<From, Args extends readonly unknown[], To>(
  ask: (from: From, ...args: Args) => Promise<To>,
  keyOf: (from: From) => string,
): (from: From, ...args: Args) => Promise<To> {
  const cache = new Map<string, Promise<To>>();
  return (from, ...args) => {
    const key = keyOf(from);
    const answer = cache.get(key) ?? ask(from, ...args);
    cache.set(key, answer);
    return answer;
  };
}

/** Equal for places with one answer. No file has a path with NUL. */
function placeKey({ path, targetIndex }: Place): string {
  return targetIndex === undefined ? path : `${String(targetIndex)}\0${path}`;
}

/** Without `number`, the archive's number. Its name stays, since a folder in it may have the same name. */
export function reportedPath(text: string, number?: string): string {
  const parsed = toWorkspacePath(text);
  const [first, ...others] = parsed.kind === 'path' ? parsed.segments : [text];
  const segments = others.length > 0 && first === number ? others : [first, ...others];
  return segments.join('/').normalize('NFC');
}
