import assert from 'node:assert/strict';
import type { Profiler } from 'node:inspector/promises';
import * as vscode from 'vscode';

export interface ActivationWatch {
  readonly isLate: boolean;
  /** These were the shared dispatchers of Node's fetch and undici before activation. */
  readonly slots: ReadonlyMap<symbol, unknown>;
  /** Each entry is a line of our bundles that started a timer. Only `held` forgets ended timers. */
  readonly timers: { held(): readonly string[]; readonly seen: readonly string[]; dispose(): void };
  readonly stopProfile: (() => Promise<Profiler.Profile>) | undefined;
}

/** The watch of this window must have started before activation. */
export async function activationWatch(): Promise<ActivationWatch> {
  const extension = vscode.extensions.getExtension<ActivationWatch>('invented.activation-watch');
  assert.ok(extension !== undefined, 'the window was not opened with the watch');
  const watch = await extension.activate();
  assert.equal(watch.isLate, false, 'our extension was activated before the watch');
  return watch;
}
