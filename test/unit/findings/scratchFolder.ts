import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';

/** The content of each file is its path. */
export async function scratchFolder(
  t: Pick<TestContext, 'after'>,
  files: readonly string[],
): Promise<string> {
  const parent = await realpath(await mkdtemp(join(tmpdir(), 'whitebox-locate-')));
  t.after(() => rm(parent, { recursive: true, force: true }));
  const root = join(parent, 'shop');
  await mkdir(root);
  for (const file of files) {
    await mkdir(dirname(join(root, file)), { recursive: true });
    await writeFile(join(root, file), file);
  }
  return root;
}
