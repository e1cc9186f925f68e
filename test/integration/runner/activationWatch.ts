import assert from 'node:assert/strict';
import type { Profiler } from 'node:inspector/promises';
import * as vscode from 'vscode';

export interface ActivationWatch {
  readonly isLate: boolean;
  /** These were the shared dispatchers of Node's fetch and undici before activation. */
  readonly slots: ReadonlyMap<symbol, unknown>;
  /** Lines of our bundles that started timers: `held` has those of running timers, `seen` all. */
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
