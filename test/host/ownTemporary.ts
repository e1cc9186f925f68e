import { chmod, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

/** Gives this process and what it starts a temporary folder of their own, and returns what removes it: what was killed, or ran inside VS Code or a browser, does not tidy up after itself. */
export async function ownTemporary(): Promise<() => Promise<void>> {
  // Elsewhere the names of VS Code's sockets would grow too long.
  if (process.platform !== 'linux') return () => Promise.resolve();
  const folder = await mkdtemp(path.join(os.tmpdir(), 'tests-'));
  // A test looks at folders as somebody else.
  await chmod(folder, 0o755);
  process.env['TMPDIR'] = folder;
  return () => rm(folder, { recursive: true, force: true, maxRetries: 5 });
}
