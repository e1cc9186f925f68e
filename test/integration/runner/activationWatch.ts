import assert from 'node:assert/strict';
import type { Profiler } from 'node:inspector/promises';
import * as vscode from 'vscode';

export interface ActivationWatch {
  /** Whether that was too late. */
  readonly isLate: boolean;
  /** The dispatchers that Node's fetch and every copy of undici in the process share, as they were. */
  readonly slots: ReadonlyMap<symbol, unknown>;
  /** The lines of our bundles that have started timers: of those that go on, and of all. */
  readonly timers: { held(): readonly string[]; readonly seen: readonly string[]; dispose(): void };
  readonly stopProfile: (() => Promise<Profiler.Profile>) | undefined;
}

/** The watch of this window, which must have begun in time. */
export async function activationWatch(): Promise<ActivationWatch> {
  const extension = vscode.extensions.getExtension<ActivationWatch>('invented.activation-watch');
  assert.ok(extension !== undefined, 'the window was not opened with the watch');
  const watch = await extension.activate();
  assert.equal(watch.isLate, false, 'our extension was activated before the watch');
  return watch;
}
