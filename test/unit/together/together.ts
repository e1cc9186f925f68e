import { globSync } from 'node:fs';
import path from 'node:path';
import { before } from 'node:test';

/** Runs the tests of these folders in this process: a process for each file takes longer than what most of them do. */
export async function runTogether(folders: string): Promise<void> {
  // A test that measures pauses would count the loading of the others.
  const loaded = Promise.withResolvers<undefined>();
  before(() => loaded.promise);
  const cwd = path.resolve(import.meta.dirname, '..');
  for (const file of globSync(`${folders}/**/*.test.ts`, { cwd }).sort()) await import(path.join(cwd, file));
  loaded.resolve(undefined);
}
