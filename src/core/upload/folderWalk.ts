import { setImmediate } from 'node:timers/promises';
import { type Folder, FolderVisits, type Found, type WalkOptions } from './folderVisit.ts';
import type { IgnoreRule } from './ignoreRules.ts';
import type { RuleLayer } from './ruleLayers.ts';
import type { SelectOptions } from './selection.ts';

/** Visits that wait for the file system at a time. */
const parallelVisits = 8;
/** The longest time, in ms, that the walk keeps the event loop to itself. */
const sliceMs = 5;

/** Walks a folder once. Rejects with the signal's reason when cancelled. */
export async function walkFolder(
  options: WalkOptions & Pick<SelectOptions, 'signal' | 'onProgress'>,
  layers: readonly RuleLayer[],
  ignoredBy: IgnoreRule | undefined,
): Promise<readonly Found[]> {
  if (ignoredBy !== undefined && (options.include ?? []).length === 0) {
    return [{ path: './', reason: { kind: 'ignored', rule: ignoredBy } }];
  }
  const { signal, onProgress } = options;
  const top: Folder = { path: '', layers, ignoredBy, chosen: false, found: [] };
  const open = [top];
  let files = 0;
  let running = 0;
  let failure: { readonly error: unknown } | undefined;
  let wake: (() => void) | undefined;
  let sliceStart = performance.now();
  let pausing: Promise<void> | undefined;

  /** Lets the event loop go round, once for all visits. */
  const pause = async (): Promise<void> => {
    await setImmediate();
    pausing = undefined;
    sliceStart = performance.now();
    onProgress?.(files);
  };
  const pauseWhenDue = (): Promise<void> | undefined => {
    if (pausing === undefined && performance.now() - sliceStart > sliceMs) pausing = pause();
    return pausing;
  };
  const visits = new FolderVisits(options, {
    open: (folder) => void open.push(folder),
    count: (more) => {
      files += more;
      return pauseWhenDue();
    },
  });
  const visit = async (folder: Folder): Promise<void> => {
    running++;
    try {
      await visits.visit(folder);
    } catch (error) {
      failure ??= { error };
    }
    running--;
    wake?.();
  };

  while (open.length > 0 || running > 0) {
    if (signal?.aborted !== true && failure === undefined) {
      const folder = running < parallelVisits ? open.pop() : undefined;
      if (folder !== undefined) {
        void visit(folder);
        continue;
      }
    } else open.length = 0;
    if (running > 0) await new Promise<void>((resolve) => (wake = resolve));
  }
  signal?.throwIfAborted();
  if (failure !== undefined) throw failure.error;
  onProgress?.(files);
  return top.found;
}
