import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { askWorker } from '../askWorker.ts';
import { AssessmentError, systemCode } from '../errors.ts';
import { fieldsOf, firstHit, hitsAt, isObject, keyPaths } from '../json.ts';
import { keptArtifact, type Run } from '../run/state/run.ts';

/** Something that a crawl found that the application does. Pairs refer to it by its name, exactly as it stands here. */
export interface Feature {
  readonly name: string;
  readonly description?: string | undefined;
  readonly method?: string | undefined;
  readonly url?: string | undefined;
}

export interface FeatureList {
  /** Those with a name that pairs can refer to, in the order of the file, each name once. */
  readonly features: readonly Feature[];
  /** How many entries have the name of an earlier one: pairs cannot tell them apart. */
  readonly repeated: number;
  /** How many entries have no name that can be sent. */
  readonly unreadable: number;
  /** How many entries come after those that are read. */
  readonly cut: number;
}

/** Why a features artifact is of no use; the subject of `badFeatures`. */
export type FeaturesFault = 'absent' | 'tooLarge' | 'malformed';

/** The artifacts that the parsing worker reads besides findings. */
export type FeatureRole = 'features' | 'scan_progress';

/** What the worker starts with to read one. */
export interface ArtifactStart {
  readonly role: FeatureRole;
  readonly path: string;
}

/** Largest features and scan_progress artifacts that are read. */
const maxBytes = 16 * 1024 * 1024;
/** Most entries that are read. */
export const maxFeatures = 10_000;
/** Longest name that a pair can have (docs/api.md, section 2.7); other texts of a feature are cut to it. */
const maxNameLength = 5_000;
const maxDepth = 4;

const LIST = keyPaths('features discovered_features items data results');
const NAME = keyPaths('name feature_name title');
const DESCRIPTION = keyPaths('description summary details');
const METHOD = keyPaths('method http_method request.method');
const URLS = keyPaths('url uri path endpoint request.url');

/** Reads a run's features from its folder, in the parsing worker. Throws `badFeatures` with a `FeaturesFault`. */
export async function readFeatures(run: Run, folder: string, workerFile: string | URL): Promise<FeatureList> {
  const list = await readArtifact<FeatureList>(run, folder, 'features', workerFile);
  if (list === undefined) throw new AssessmentError('badFeatures', { subject: 'absent' });
  return list;
}

/**
 * The features in the parsed artifact: a list or a map by name, bare, under a known key, in wrappers or groups. A string is a name.
 * Throws `badFeatures` where there is no list, or no entry of it has a name.
 */
export function toFeatures(value: unknown): FeatureList {
  const entries = listIn(value, 0);
  if (entries === undefined) throw new AssessmentError('badFeatures', { subject: 'malformed' });
  const features = new Map<string, Feature>();
  let repeated = 0;
  let unreadable = 0;
  for (const entry of entries.slice(0, maxFeatures)) {
    const feature = toFeature(entry);
    if (feature === undefined) unreadable += 1;
    else if (features.has(feature.name)) repeated += 1;
    else features.set(feature.name, feature);
  }
  if (features.size === 0 && unreadable > 0)
    throw new AssessmentError('badFeatures', { subject: 'malformed' });
  const cut = Math.max(0, entries.length - maxFeatures);
  return { features: [...features.values()], repeated, unreadable, cut };
}

/** What the parsing worker makes of an artifact; undefined where the run has none. Throws `badFeatures` for one that is too large or has another shape. */
export async function readArtifact<T>(
  run: Run,
  folder: string,
  role: FeatureRole,
  workerFile: string | URL,
): Promise<T | undefined> {
  const file = keptArtifact(run, role)?.file;
  if (file === undefined) return undefined;
  try {
    const path = join(folder, file);
    if ((await stat(path)).size > maxBytes) throw new AssessmentError('findingsTooLarge');
    return (await askWorker({ role, path }, workerFile)) as T;
  } catch (cause) {
    if (systemCode(cause) === 'ENOENT') return undefined;
    if (!(cause instanceof AssessmentError) || cause.kind === 'badFeatures') throw cause;
    const subject: FeaturesFault = cause.kind === 'findingsTooLarge' ? 'tooLarge' : 'malformed';
    throw new AssessmentError('badFeatures', { subject, detail: cause.data.detail }, { cause });
  }
}

function listIn(value: unknown, depth: number): readonly unknown[] | undefined {
  if (depth > maxDepth) return undefined;
  if (Array.isArray(value))
    return value.flatMap(
      (entry: unknown) => (nameOf(entry) === undefined ? listIn(entry, depth + 1) : undefined) ?? [entry],
    );
  if (!isObject(value)) return undefined;
  for (const { value: held } of hitsAt(fieldsOf(value), LIST)) {
    const list = listIn(held, depth + 1) ?? (isObject(held) ? byName(held) : undefined);
    if (list !== undefined) return list;
  }
  return nameOf(value) === undefined ? undefined : [value];
}

function byName(map: Readonly<Record<string, unknown>>): readonly unknown[] {
  return Object.entries(map).map(([name, entry]) => (isObject(entry) ? { name, ...entry } : { name }));
}

function toFeature(entry: unknown): Feature | undefined {
  const name = nameOf(entry);
  if (name === undefined) return undefined;
  const fields = fieldsOf(entry);
  const text = (paths: typeof NAME): string | undefined => {
    const hit = firstHit(fields, paths, toText);
    return hit !== undefined && hit.length > maxNameLength ? `${hit.slice(0, maxNameLength)}…` : hit;
  };
  return { name, description: text(DESCRIPTION), method: text(METHOD), url: text(URLS) };
}

function nameOf(entry: unknown): string | undefined {
  const name = toText(entry) ?? firstHit(fieldsOf(entry), NAME, toText);
  return name !== undefined && name.length <= maxNameLength ? name : undefined;
}

/** A text that says something. */
export function toText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
