import { createHook } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

/** Notes the timers that code of some files starts, from now on. */
export function watchTimers(files: readonly string[]): {
  /** The lines that started the timers which neither ended nor were cleared within two seconds. */
  held(): Promise<readonly string[]>;
  dispose(): void;
} {
  const lines = new Map<number, string>();
  const hook = createHook({
    init: (id, type) => {
      if (type !== 'Timeout') return;
      const frames = new Error().stack?.split('\n') ?? [];
      const line = frames.find((frame) => files.some((file) => frame.includes(file)));
      if (line !== undefined) lines.set(id, line.trim());
    },
    destroy: (id) => void lines.delete(id),
  }).enable();
  return {
    held: async () => {
      for (let wait = 0; wait < 40 && lines.size > 0; wait += 1) await sleep(50);
      return [...lines.values()];
    },
    dispose: () => void hook.disable(),
  };
}
