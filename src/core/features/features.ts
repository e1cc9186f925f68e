import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { askWorker } from '../askWorker.ts';
import { AssessmentError, systemCode } from '../errors.ts';
import { isObject } from '../json.ts';
import { keptArtifact, type Run } from '../run/state/run.ts';

/**
 * A crawl finds features: functions of the application. A pair is a feature's exact name and a
 * perspective. A worker reads the features from an artifact of a run. `scanProgress` tells which
 * pairs were tested, `chosenPairs` which a user chose, and `continuedRuns` how a run can be
 * continued.
 */
export interface Feature {
  readonly name: string;
  readonly description?: string | undefined;
  readonly method?: string | undefined;
  readonly url?: string | undefined;
}

export interface FeatureList {
  readonly features: readonly Feature[];
  readonly repeated: number;
  readonly unreadable: number;
  readonly cut: number;
}

export type FeaturesFault = 'absent' | 'tooLarge' | 'malformed';

export type FeatureRole = 'features' | 'scan_progress';

export interface ArtifactStart {
  readonly kind: 'artifact';
  readonly role: FeatureRole;
  readonly path: string;
}

/** The reader is the parsing worker's entry file or, inside a worker, a function. */
export type ArtifactReader = string | URL | ((start: ArtifactStart) => unknown);

const maxBytes = 16 * 1024 * 1024;
const maxReadMs = 60_000;
export const maxFeatures = 10_000;
/** The limit for names (docs/api.md, section 8). Other texts are cut to this length. */
const maxNameLength = 5_000;

export async function readFeatures(run: Run, folder: string, workerFile: string | URL): Promise<FeatureList> {
  const list = await readArtifact<FeatureList>(run, folder, 'features', workerFile);
  if (list === undefined) throw new AssessmentError('badFeatures', { subject: 'absent' });
  return list;
}

/** Accepts a list (docs/api.md, section 2.4), or an object with the list as `features`. */
export function toFeatures(value: unknown): FeatureList {
  const entries: unknown = isObject(value) ? value['features'] : value;
  if (!Array.isArray(entries)) throw new AssessmentError('badFeatures', { subject: 'malformed' });
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

/**
 * Returns undefined if this machine doesn't have the artifact. Throws `badFeatures` if the artifact
 * is too large or malformed.
 */
export async function readArtifact<T>(
  run: Run,
  folder: string,
  role: FeatureRole,
  reader: ArtifactReader,
): Promise<T | undefined> {
  const file = keptArtifact(run, role)?.file;
  if (file === undefined) return undefined;
  try {
    const path = join(folder, file);
    if ((await stat(path)).size > maxBytes) throw new AssessmentError('findingsTooLarge');
    const start: ArtifactStart = { kind: 'artifact', role, path };
    return (
      typeof reader === 'function'
        ? reader(start)
        : await askWorker(start, reader, { maxMs: maxReadMs, limitError: 'findingsTooLarge' })
    ) as T;
  } catch (cause) {
    if (systemCode(cause) === 'ENOENT') return undefined;
    const { kind, data }: Partial<AssessmentError> = cause instanceof AssessmentError ? cause : {};
    if (kind !== 'findingsTooLarge' && kind !== 'malformedFindings') throw cause;
    const subject: FeaturesFault = kind === 'findingsTooLarge' ? 'tooLarge' : 'malformed';
    throw new AssessmentError('badFeatures', { subject, detail: data?.detail }, { cause });
  }
}

function toFeature(entry: unknown): Feature | undefined {
  if (!isObject(entry)) return undefined;
  const { name, description, method, url } = entry;
  if (typeof name !== 'string' || name === '' || name.length > maxNameLength) return undefined;
  return { name, description: toText(description), method: toText(method), url: toText(url) };
}

function toText(value: unknown): string | undefined {
  if (typeof value !== 'string' || value === '') return undefined;
  return value.length > maxNameLength ? `${value.slice(0, maxNameLength)}…` : value;
}
