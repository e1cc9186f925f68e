import { createServer } from 'node:http';
import { readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { AddressInfo } from 'node:net';
import type { HashedFile } from '../../../src/core/api/http.ts';
import { putFile } from '../../../src/core/api/http.ts';
import { isAbortError } from '../../../src/core/errors.ts';
import { gitHome } from '../../../src/core/upload/ignore/repository.ts';
import type { ArchiveFormat } from '../../../src/core/upload/archive/packing.ts';
import { writeArchive } from '../../../src/core/upload/archive/writeArchive.ts';
import { checkSecrets } from '../../../src/core/upload/secrets/checkSecrets.ts';
import { selectFiles } from '../../../src/core/upload/select/selectFiles.ts';
import type { Selection } from '../../../src/core/upload/select/selection.ts';
import type { packWithArchiver } from './archiverSubject.ts';
import { readByHand, workOutByHand } from './byHand.ts';
import { openFindings, workOutStored } from './findingsSubject.ts';
import { type Destination, startWhole } from './startSubject.ts';

export type Job =
  | { readonly kind: 'select'; readonly root: string; readonly times: number }
  /** Selects and packages; `ms` is the total, `packagingMs` the packaging. */
  | { readonly kind: 'package'; readonly root: string; readonly format: ArchiveFormat; readonly to: string }
  /** Selects and packs a zip with archiver; `packagingMs` is the packing. */
  | { readonly kind: 'archiver'; readonly root: string; readonly to: string }
  | { readonly kind: 'start'; readonly root: string; readonly service: Destination; readonly storage: string }
  /**
   * Packages and cancels after the first progress; `ms` is from there until everything is cleaned
   * up.
   */
  | { readonly kind: 'cancel'; readonly root: string; readonly to: string }
  | { readonly kind: 'secrets'; readonly root: string }
  | { readonly kind: 'upload'; readonly url: string; readonly file: HashedFile }
  /**
   * Opens the findings of a stored run and types; `ms`: first problem, all placed, first key,
   * further keys.
   */
  | { readonly kind: 'findings'; readonly storage: string; readonly file: string }
  /**
   * Reads what a list of findings needs, in as few lines as possible; `ms`: record and first files,
   * all files.
   */
  | { readonly kind: 'byHand'; readonly runFolder: string; readonly folder: string; readonly worker: boolean }
  | { readonly kind: 'workOut'; readonly storage: string; readonly run: string }
  /**
   * Parses a findings file, reads, hashes and copies the files of its folder, and writes JSON; in
   * as few lines as possible.
   */
  | {
      readonly kind: 'workOutByHand';
      readonly runFolder: string;
      readonly folder: string;
      readonly to: string;
    }
  /** Accepts and discards uploads on loopback until it is stopped. */
  | { readonly kind: 'sink' };

export interface Outcome {
  /** There is one for each repetition. The first one is in a fresh process. */
  readonly ms: readonly number[];
  readonly packagingMs: number;
  readonly files: number;
  readonly sourceBytes: number;
  readonly archiveBytes: number;
  /** The process needed this much memory at most, and that much before the job. */
  readonly peakBytes: number;
  readonly startBytes: number;
  readonly delayP99Ms: number;
  readonly delayMaxMs: number;
  readonly port: number;
}

const empty: Outcome = {
  ms: [],
  packagingMs: 0,
  files: 0,
  sourceBytes: 0,
  archiveBytes: 0,
  peakBytes: 0,
  startBytes: 0,
  delayP99Ms: 0,
  delayMaxMs: 0,
  port: 0,
};

const job = JSON.parse(process.argv[2] ?? '') as Job;
const startBytes = process.memoryUsage.rss();
const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
const outcome = await perform(job);
delay.disable();
console.log(
  JSON.stringify({
    ...empty,
    startBytes,
    peakBytes: process.resourceUsage().maxRSS * 1024,
    delayP99Ms: delay.percentile(99) / 1e6,
    delayMaxMs: delay.max / 1e6,
    ...outcome,
  }),
);

async function perform(job: Job): Promise<Partial<Outcome>> {
  switch (job.kind) {
    case 'select':
      return repeatSelection(job.root, job.times);
    case 'package':
      return selectAndPackage(job.root, job.format, job.to);
    case 'archiver':
      return selectAndArchive(job.root, job.to);
    case 'start': {
      const start = performance.now();
      const { files } = await startWhole(
        job.service,
        job.storage,
        () => select(job.root),
        worker('archiveWorker'),
      );
      return { ms: [performance.now() - start], files: files.length };
    }
    case 'cancel':
      return { ms: [await cancelPackaging(job.root, job.to)] };
    case 'secrets': {
      const { root, files, bytes } = await select(job.root);
      const ms = await timed(() => checkSecrets({ root, files, workerFile: worker('secretWorker') }));
      return { ms: [ms], files: files.length, sourceBytes: bytes };
    }
    case 'upload': {
      const clock = { now: () => Date.now(), monotonic: () => performance.now(), sleep: async () => {} };
      const options = { idleMs: 60_000, clock, secrets: [] };
      return { ms: [await timed(() => putFile(new URL(job.url), job.file, options))] };
    }
    case 'findings': {
      const { firstMs, locatedMs, findings, againMs } = await openFindings(job.storage, job.file);
      return { ms: [firstMs, locatedMs, ...againMs], files: findings };
    }
    case 'byHand':
      return { ms: await readByHand(job) };
    case 'workOut':
      return { ms: [await timed(() => workOutStored(job.storage, job.run))] };
    case 'workOutByHand':
      return { ms: [await timed(() => workOutByHand(job))] };
    case 'sink':
      return { port: await openSink() };
  }
}

async function repeatSelection(root: string, times: number): Promise<Partial<Outcome>> {
  const ms: number[] = [];
  let selection: Selection | undefined;
  for (let time = 0; time < times; time++) {
    ms.push(await timed(async () => (selection = await select(root))));
  }
  return { ms, files: selection?.files.length ?? 0, sourceBytes: selection?.bytes ?? 0 };
}

async function selectAndPackage(root: string, format: ArchiveFormat, to: string): Promise<Partial<Outcome>> {
  const start = performance.now();
  const { root: real, files, bytes } = await select(root);
  const selected = performance.now();
  const archive = await writeArchive({
    root: real,
    files,
    format,
    to,
    maxBytes: Number.MAX_SAFE_INTEGER,
    workerFile: worker('archiveWorker'),
  });
  const end = performance.now();
  return {
    ms: [end - start],
    packagingMs: end - selected,
    files: files.length,
    sourceBytes: bytes,
    archiveBytes: archive.bytes,
  };
}

async function selectAndArchive(root: string, to: string): Promise<Partial<Outcome>> {
  const { root: real, files } = await select(root);
  // It is loaded only here, because it would count as memory in other jobs.
  const { packWithArchiver: pack } = (await import(worker('archiverSubject'))) as {
    packWithArchiver: typeof packWithArchiver;
  };
  const paths = files.map(({ path }) => path);
  return { packagingMs: await timed(() => pack(real, paths, to)), files: files.length };
}

async function cancelPackaging(root: string, to: string): Promise<number> {
  const { root: real, files } = await select(root);
  const controller = new AbortController();
  let cancelledAt = NaN;
  const onBytes = (): void => {
    if (controller.signal.aborted) return;
    cancelledAt = performance.now();
    controller.abort();
  };
  const options = { root: real, files, to, maxBytes: Number.MAX_SAFE_INTEGER, onBytes };
  await writeArchive({
    ...options,
    format: 'zip',
    workerFile: worker('archiveWorker'),
    signal: controller.signal,
  }).catch((error: unknown) => {
    if (!isAbortError(error)) throw error;
  });
  if (readdirSync(dirname(to)).includes(basename(to))) throw new Error('a cancelled archive was left');
  return performance.now() - cancelledAt;
}

function select(root: string): Promise<Selection> {
  const surroundings = { home: gitHome(), env: process.env };
  return selectFiles(root, {
    exclude: [],
    includeNestedRepositories: false,
    surroundings,
  });
}

/** Workers are bundled beside this file. */
function worker(name: string): string {
  return join(import.meta.dirname, `${name}.mjs`);
}

async function timed(run: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await run();
  return performance.now() - start;
}

async function openSink(): Promise<number> {
  const server = createServer((request, response) => {
    request.on('end', () => response.end());
    request.resume();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}
