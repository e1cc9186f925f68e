import { readFileSync } from 'node:fs';
import { readJson } from '../json.ts';
import { type ArtifactStart, toFeatures } from './features.ts';
import { listProgress } from './scanProgress.ts';

/** Large files block the thread, so only a worker may call this. */
export function readArtifactFile({ role, path }: ArtifactStart): unknown {
  const value = readJson(readFileSync(path, 'utf8'));
  return role === 'features' ? toFeatures(value) : listProgress(value);
}
