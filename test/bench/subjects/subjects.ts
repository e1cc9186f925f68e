import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import type { Job, Outcome } from './subject.ts';

const source = resolve(import.meta.dirname, '../../..');

/**
 * Runs jobs in child processes, bundled like the product: loading sources would count as memory and
 * time.
 */
export interface Subjects {
  run(job: Job): Promise<Outcome>;
  /** Starts the sink; its address takes uploads until it is closed. */
  openSink(): Promise<{ url: string; close(): void }>;
}

export async function bundleSubjects(folder: string): Promise<Subjects> {
  await build({
    entryPoints: {
      subject: join(import.meta.dirname, 'subject.ts'),
      archiverSubject: join(import.meta.dirname, 'archiverSubject.ts'),
      archiveWorker: join(source, 'src/core/upload/archive/archiveWorker.ts'),
      secretWorker: join(source, 'src/core/upload/secrets/secretWorker.ts'),
    },
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'node',
    target: 'node22',
    logLevel: 'error',
    // CommonJS dependencies call `require`, which a module does not have.
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
  });
  const subject = join(folder, 'subject.mjs');
  return {
    async run(job) {
      const { stdout } = await promisify(execFile)(process.execPath, [subject, JSON.stringify(job)]);
      return JSON.parse(stdout) as Outcome;
    },
    async openSink() {
      const job: Job = { kind: 'sink' };
      const sink = spawn(process.execPath, [subject, JSON.stringify(job)], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const { port } = await firstOutcome(sink);
      return { url: `http://127.0.0.1:${port}/`, close: () => void sink.kill() };
    },
  };
}

async function firstOutcome({ stdout }: ChildProcess): Promise<Outcome> {
  if (stdout === null) throw new Error('no output to read');
  const [line] = (await once(createInterface(stdout), 'line')) as [string];
  return JSON.parse(line) as Outcome;
}
