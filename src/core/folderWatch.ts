import { type FSWatcher, watch } from 'node:fs';
import type { Disposable } from './ports.ts';

const pollMs = 10_000;

/**
 * Calls `onChange` with the name of each entry of a folder that any process makes, removes or touches; undefined means any of them. Where the system
 * does not report changes, calls it with undefined every ten seconds.
 */
export function watchFolder(path: string, onChange: (name: string | undefined) => void): Disposable {
  let watcher: FSWatcher | undefined;
  let timer: NodeJS.Timeout | undefined;
  const poll = (): void => {
    watcher?.close();
    timer ??= setInterval(() => onChange(undefined), pollMs).unref();
  };
  try {
    watcher = watch(path, { persistent: false }, (_kind, name) => onChange(name ?? undefined));
    watcher.on('error', poll);
  } catch {
    poll(); // the system has no watches left, or its file system has none
  }
  return {
    dispose: () => {
      watcher?.close();
      clearInterval(timer);
    },
  };
}
