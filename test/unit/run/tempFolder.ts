import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

/** What lasts as long as a test, or as one run of the torture. */
export type Scope = Pick<TestContext, 'after'>;

/** An empty folder that goes with the test. */
export async function tempFolder(t: Scope): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'assessment-test-')));
  t.after(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}
