import { basename } from 'node:path';
import type { Target } from '../../run/state/run.ts';
import type { Place } from '../finding.ts';
import {
  createVisit,
  decodingLast,
  type LinkReader,
  type NoFile,
  none,
  toWorkspacePath,
} from './workspacePath.ts';
import { type PathMapping, visitMapped } from './mappings.ts';
import { createSearch, filesHere, type Found, namedBy, sentFilesOf } from './search.ts';

/**
 * Where a place is, going by the findings file and by what was sent alone: it does not depend on the files here, and is the same on every
 * machine that knows what was sent. One that does not (the run was tracked by its ID, or imported) takes paths as they were reported.
 */
export interface SentPath {
  /** As the run's target names it; undefined when nothing tells it, empty when it is none of the run's. */
  readonly folder: string | undefined;
  /** The path in it that was sent, else the one that was reported, with `/`; empty for a finding without a place. */
  readonly path: string;
}

/** Turns the paths that a run reports into files: the one answer to what findings are about, what is opened, and whose text is kept. */
export interface Resolver {
  /** The file that was sent, by its target's position, whatever is here. */
  sentFile(place: Place): Promise<Found>;
  sentPath(place: Place): Promise<SentPath>;
  /** The file here, by its target's position. */
  locate(place: Place): Promise<Here>;
  /** Looks at the disk again: files may have come or gone. */
  forget(): void;
}

/** A file of a target that is here. */
export type Here =
  | { readonly kind: 'file'; readonly target: number; readonly path: string; readonly absolute: string }
  | NoFile;

/** What is known of a run whose paths are resolved. */
export interface ResolverFacts {
  readonly targets: readonly Pick<Target, 'folder' | 'name'>[];
  /** The paths that were sent of each target, as keys; undefined where that is not known. */
  readonly sent: readonly (ReadonlyMap<string, unknown> | undefined)[];
  /** All places of the run: together they tell what paths start with. */
  readonly places: Iterable<Place>;
  readonly mappingOf?: ((folder: string) => readonly PathMapping[]) | undefined;
  /** The real file system's, but for tests. */
  readonly links?: LinkReader | undefined;
}

/** Makes the resolver of a run; each path is looked up once, until `forget` is called. */
export function createResolver({ targets, sent, places, mappingOf, links }: ResolverFacts): Resolver {
  const answers: Map<string, unknown>[] = [];
  const remembering = <From, To>(
    ask: (from: From) => Promise<To>,
    keyOf: (from: From) => string,
  ): ((from: From) => Promise<To>) => {
    const known = new Map<string, Promise<To>>();
    answers.push(known);
    return (from) => {
      const key = keyOf(from);
      const answer = known.get(key) ?? ask(from);
      known.set(key, answer);
      return answer;
    };
  };
  const folders = targets.map(({ folder, name }, target) => {
    const paths = sent[target]?.keys();
    // The folder's name is another one on another machine.
    const names = [name, String(target), ...(paths === undefined ? [basename(folder)] : [])];
    const visit = remembering(createVisit(folder, links), (path) => path);
    const files =
      paths === undefined ? filesHere(target, names, folder, visit) : sentFilesOf(target, names, paths);
    return { target, folder, names, visit, files };
  });
  /** The targets that a place may be in. Of one archive everything is; where nobody knows how many there were, another index means another one. */
  const targetsOf = ({ targetIndex }: Place): readonly number[] => {
    if (targets.length > 1)
      return targetIndex === undefined || targets[targetIndex] === undefined
        ? [...targets.keys()]
        : [targetIndex];
    return targetIndex === undefined || targetIndex === 0 || sent[0] !== undefined ? [0] : [];
  };
  const reported = targets.map(() => new Set<string>());
  for (const place of places) for (const target of targetsOf(place)) reported[target]?.add(place.path);
  const search = createSearch(
    folders.map(({ files }) => files),
    reported,
  );
  const find = remembering((place: Place) => search(place.path, targetsOf(place)), pathKey);
  const sentFile = async (place: Place): Promise<Found> => {
    // The search among files of which nobody knows whether they were sent looks at the disk.
    const isKnown = targetsOf(place).every((target) => sent[target] !== undefined);
    return isKnown ? find(place) : none('notFound');
  };

  /** A mapping helps paths that lead nowhere; it moves none whose file is here. */
  const locateMapped = async (text: string, asked: readonly number[]): Promise<Here> => {
    const hits: { readonly names: readonly string[]; readonly here: Here }[] = [];
    for (const { target, folder, names, visit } of folders.filter((each) => asked.includes(each.target))) {
      const here = await visitMapped(text, { root: folder, mapping: mappingOf?.(folder) ?? [], visit });
      if (here.kind === 'file') hits.push({ names, here: { ...here, target } });
    }
    return namedBy(text, hits)?.here ?? none('notFound');
  };
  const locate = async (place: Place): Promise<Here> => {
    const found = await find(place);
    const here =
      found.kind === 'file' ? ((await folders[found.target]?.visit(found.path)) ?? none('notFound')) : found;
    if (found.kind === 'file' && here.kind === 'file') return { ...here, target: found.target };
    const mapped = await decodingLast(place.path, (text) => locateMapped(text, targetsOf(place)));
    return mapped.kind === 'file' || here.kind === 'file' ? mapped : here;
  };

  return {
    sentFile,
    sentPath: async (place) => {
      const found = await sentFile(place);
      if (found.kind === 'file')
        return { folder: targets[found.target]?.folder, path: found.path.normalize('NFC') };
      const asked = targetsOf(place);
      const [only, ...others] = asked;
      const isOne = only !== undefined && others.length === 0;
      const number = isOne && sent[only] === undefined ? String(only) : undefined;
      return {
        folder: isOne ? targets[only]?.folder : asked.length === 0 ? '' : undefined,
        path: pathAsReported(place.path, number),
      };
    },
    locate: remembering(locate, pathKey),
    forget: () => {
      for (const known of answers) known.clear();
    },
  };
}

/** What alone counts of a place when it is looked up: its path, and which archive it is in. A path with a NUL leads nowhere. */
function pathKey({ path, targetIndex }: Place): string {
  return targetIndex === undefined ? path : `${String(targetIndex)}\0${path}`;
}

/** Without the archive's number; its name would be another one where the folder is called otherwise, and may be that of a folder in it. */
function pathAsReported(text: string, number: string | undefined): string {
  const written = toWorkspacePath(text, '');
  const [first, ...rest] = written.kind === 'path' ? written.segments : [text];
  return (rest.length > 0 && first === number ? rest : [first, ...rest]).join('/').normalize('NFC');
}
