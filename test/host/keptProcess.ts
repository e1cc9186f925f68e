import { spawn, type ChildProcessByStdio } from 'node:child_process';
import path from 'node:path';
import type { Readable, Writable } from 'node:stream';

/** The process tree ends with `stop()`, and when this process ends in any way. */
export interface KeptProcess {
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Settles when the tree has ended. */
  readonly ended: Promise<void>;
  stop(): Promise<void>;
}

/** Starts `program` under `keeper.ts`. */
export function startKept(program: string, args: readonly string[], env: NodeJS.ProcessEnv): KeptProcess {
  const keeper = path.join(import.meta.dirname, 'keeper.ts');
  const child: ChildProcessByStdio<Writable, Readable, Readable> = spawn(
    process.execPath,
    [keeper, program, ...args],
    { detached: process.platform !== 'win32', env, stdio: ['pipe', 'pipe', 'pipe'], windowsHide: true },
  );
  // The pipe breaks when the tree ends by itself; see `ended`.
  child.stdin.on('error', () => undefined);
  const ended = new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', () => resolve());
  });
  return {
    stdout: child.stdout,
    stderr: child.stderr,
    ended,
    stop: () => {
      child.stdin.end();
      return ended;
    },
  };
}
