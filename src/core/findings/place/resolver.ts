import { basename } from 'node:path';
import type { Target } from '../../run/state/run.ts';
import type { Place } from '../finding.ts';
import { filesHere, sentFilesOf } from './knownFiles.ts';
import { createVisit, type LinkReader, type NoFile, none } from './locate.ts';
import { type PathMapping, visitMapped } from './pathMappings.ts';
import { createSearch, decodingLast, type Found, namedBy, type TargetFile } from './search.ts';
import type { SentFile } from './sentFiles.ts';
import { toWorkspacePath } from './workspacePath.ts';

/** What was sent of each target of a run, by path; undefined where that is not known. */
export type SentOfRun = readonly (ReadonlyMap<string, SentFile> | undefined)[];

/**
 * What a finding is about, going by the findings file and by what was sent alone: whatever becomes of the files, it is the same on every
 * machine that knows what was sent. One that does not (the run was tracked by its ID, or came as SARIF or a table) takes paths as they were told.
 */
export interface Subject {
  /** As the run's target names it; undefined when nothing tells it, empty when it is none of the run's. */
  readonly folder: string | undefined;
  /** The path in it that was sent, else the one that was told, with `/`; empty for a finding without a place. */
  readonly path: string;
}

/** Turns the paths that a run reports into files: the one answer to what findings are about, what is opened, and whose text is kept. */
export interface Resolver {
  /** The file that was sent, by its target's position, whatever is here. */
  sentFile(place: Place): Promise<Found>;
  subjectOf(place: Place): Promise<Subject>;
  /** The file here, by its target's position. */
  locate(place: Place): Promise<Here>;
}

/** A file of a target that is here. */
export type Here =
  | { readonly kind: 'file'; readonly target: number; readonly path: string; readonly absolute: string }
  | { readonly kind: 'none'; readonly reason: NoFile };

/** What is known of a run whose paths are resolved. */
export interface ResolverFacts {
  readonly targets: readonly Pick<Target, 'folder' | 'name'>[];
  readonly sent: SentOfRun;
  /** All places of the run: together they tell what paths start with. */
  readonly places: Iterable<Place>;
  readonly mappingOf?: ((folder: string) => readonly PathMapping[]) | undefined;
  /** The real file system's, but for tests. */
  readonly links?: LinkReader | undefined;
}

/** What alone counts of a place when it is looked up: its path, and which archive it is in. A path with a NUL leads nowhere. */
export function pathKey({ path, targetIndex }: Place): string {
  return targetIndex === undefined ? path : `${String(targetIndex)}\0${path}`;
}

/** Makes the resolver of a run; each path is looked up once. */
export function createResolver(facts: ResolverFacts): Resolver {
  const { targets, sent, mappingOf = () => [] } = facts;
  const known = targets.map(({ folder, name }, target) => ({
    target,
    folder,
    // The folder's name is another one on another machine.
    names: [name, String(target), ...(sent[target] === undefined ? [basename(folder)] : [])],
    visit: remembering(createVisit(folder, facts.links), (path) => path),
  }));
  /** The targets that a place may be in. Of one archive everything is; where nobody knows how many there were, another index means another one. */
  const targetsOf = ({ targetIndex }: Place): readonly number[] => {
    if (targets.length > 1)
      return targetIndex === undefined || targets[targetIndex] === undefined
        ? [...targets.keys()]
        : [targetIndex];
    return targetIndex === undefined || targetIndex === 0 || sent[0] !== undefined ? [0] : [];
  };
  const told = targets.map(() => new Set<string>());
  for (const place of facts.places) for (const target of targetsOf(place)) told[target]?.add(place.path);
  const searchSent = createSearch(
    known.flatMap(({ target, names }) => {
      const files = sent[target];
      return files === undefined ? [] : [sentFilesOf(target, names, files.keys())];
    }),
    told,
  );
  const searchHere = createSearch(
    known
      .filter(({ target }) => sent[target] === undefined)
      .map(({ target, names, folder, visit }) => filesHere(target, names, folder, visit)),
    told,
  );

  const look = async ({ target, path }: TargetFile): Promise<Here> => {
    const located = (await known[target]?.visit(path)) ?? none('notFound');
    return located.kind === 'file' ? { ...located, target } : located;
  };
  /** A mapping helps paths that lead nowhere; it moves none whose file is here. */
  const locateMapped = async (text: string, asked: readonly number[]): Promise<Here> => {
    const hits: { readonly names: readonly string[]; readonly here: Here }[] = [];
    for (const { target, folder, names, visit } of known.filter((each) => asked.includes(each.target))) {
      const here = await visitMapped(text, { root: folder, mapping: mappingOf(folder), visit });
      if (here.kind === 'file') hits.push({ names, here: { ...here, target } });
    }
    const chosen = hits.length > 1 ? namedBy(text, hits) : hits[0];
    return chosen?.here ?? none('notFound');
  };

  const sentFile = remembering((place: Place) => searchSent(place.path, targetsOf(place)), pathKey);
  return {
    sentFile,
    subjectOf: remembering(async (place: Place) => {
      const found = await sentFile(place);
      if (found.kind === 'file')
        return { folder: targets[found.target]?.folder, path: found.path.normalize('NFC') };
      const asked = targetsOf(place);
      const [only, ...others] = asked;
      const isKnown = only !== undefined && others.length === 0;
      const path = pathAsTold(place.path, isKnown && sent[only] === undefined ? String(only) : undefined);
      return { folder: isKnown ? targets[only]?.folder : asked.length === 0 ? '' : undefined, path };
    }, pathKey),
    locate: remembering(async (place: Place) => {
      const asked = targetsOf(place);
      const meant = await sentFile(place);
      const isKnown = asked.every((target) => sent[target] !== undefined);
      const found = meant.kind === 'file' || isKnown ? meant : await searchHere(place.path, asked);
      const here = found.kind === 'file' ? await look(found) : found;
      if (here.kind === 'file') return here;
      const mapped = await decodingLast(place.path, (text) => locateMapped(text, asked));
      return mapped.kind === 'file' ? mapped : here;
    }, pathKey),
  };
}

/** Without the archive's number; its name would be another one where the folder is called otherwise, and may be that of a folder in it. */
function pathAsTold(text: string, number: string | undefined): string {
  const written = toWorkspacePath(text, '');
  const [first, ...rest] = written.kind === 'path' ? written.segments : [text];
  return (rest.length > 0 && first === number ? rest : [first, ...rest]).join('/').normalize('NFC');
}

function remembering<From, To>(
  ask: (from: From) => Promise<To>,
  keyOf: (from: From) => string,
): (from: From) => Promise<To> {
  const known = new Map<string, Promise<To>>();
  return (from) => {
    const key = keyOf(from);
    const answer = known.get(key) ?? ask(from);
    known.set(key, answer);
    return answer;
  };
}
