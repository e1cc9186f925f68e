import { chmod, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

/**
 * Gives this process and what it starts a temporary folder of their own, and returns what removes
 * it: what was killed, or ran inside VS Code or a browser, does not tidy up after itself.
 */
export async function ownTemporary(): Promise<() => Promise<void>> {
  // On other systems the names of VS Code's sockets would be too long.
  if (process.platform !== 'linux') return () => Promise.resolve();
  const folder = await mkdtemp(path.join(os.tmpdir(), 'tests-'));
  // A test reads folders as another user.
  await chmod(folder, 0o755);
  process.env['TMPDIR'] = folder;
  return () => rm(folder, { recursive: true, force: true, maxRetries: 5 });
}
