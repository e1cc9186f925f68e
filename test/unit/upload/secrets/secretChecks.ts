import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { checkSecrets, type SecretCheckOptions } from '../../../../src/core/upload/secrets/checkSecrets.ts';
import type { Omission } from '../../../../src/core/upload/sourceFile.ts';
import type { Suspicion } from '../../../../src/core/upload/secrets/scanFile.ts';
import type { SelectedFile } from '../../../../src/core/upload/select/selection.ts';
import { randomOf } from '../../../torture/seededValues.ts';
import { type Seed, seeds } from './secretSeeds.ts';
import { plant, testTree } from '../trees.ts';

export const workerFile = new URL('../../../../src/core/upload/secrets/secretWorker.ts', import.meta.url);

export const invented = seeds(randomOf(30));

/** The token is recognised anywhere. */
export const githubToken = seedOf('github-token', 'ghp_');

export type Content = Readonly<Record<string, string | Uint8Array>>;

export function seedOf(rule: string, prefix = ''): Seed {
  const seed = invented.find((one) => one.rule === rule && one.content.includes(prefix));
  assert.ok(seed);
  return seed;
}

export function tree(t: TestContext, content: Content): string {
  const { root } = testTree(t);
  plant(root, content);
  return root;
}

/** The selected files may not exist. */
export function select(root: string, paths: readonly string[]): SelectedFile[] {
  return paths.map((path) => ({
    path,
    bytes: statSync(join(root, path), { throwIfNoEntry: false })?.size ?? 0,
    mode: 0o644,
  }));
}

/** Checks files, and takes the results apart. */
export async function checkApart(
  options: Omit<SecretCheckOptions, 'workerFile'> & Partial<SecretCheckOptions>,
) {
  const check = await checkSecrets({ workerFile, ...options });
  const suspicions: Suspicion[] = [];
  const unchecked: Omission[] = [];
  const hashes = new Map<string, string>();
  for (const [path, result] of check) {
    if ('reason' in result) unchecked.push(result);
    else {
      suspicions.push(...result.suspicions);
      hashes.set(path, result.sha256);
    }
  }
  return { suspicions, unchecked, hashes };
}

export function brief({ path, line, rule, masked }: Suspicion): string {
  return `${path}${line === undefined ? '' : `:${line}`} ${rule} ${masked}`.trim();
}
