import { open } from 'node:fs/promises';
import type { TestContext } from 'node:test';

/** Has every flush of a file or folder to the disk fail with a code. */
export async function refuseFlushes(t: TestContext, code: string): Promise<void> {
  const file = await open(import.meta.filename);
  await file.close();
  const refuse = (): Promise<never> => Promise.reject(Object.assign(new Error('refused'), { code }));
  t.mock.method(Object.getPrototypeOf(file) as typeof file, 'sync', refuse);
}
