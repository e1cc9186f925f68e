import { type FSWatcher, watch } from 'node:fs';
import type { Disposable } from './ports.ts';

const pollMs = 10_000;

/**
 * Tells the names of a folder's own entries that were made, removed or touched, by any process; undefined stands for any of them. The system
 * tells, at no cost in between; where it does not, the caller hears every ten seconds that something may have changed.
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
    poll(); // the system's watches are used up, or its file system has none
  }
  return {
    dispose: () => {
      watcher?.close();
      clearInterval(timer);
    },
  };
}
