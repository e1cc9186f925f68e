import { chmod, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

/**
 * Gives this process and all that it starts a temporary folder of their own, and returns a function
 * that removes it. Processes that are killed, VS Code, and browsers leave files behind.
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
