import * as vscode from 'vscode';
import { isFinal } from '../../core/run/state/run.ts';
import type { RunStore } from '../../core/run/disk/runStore.ts';

const refreshMs = 60_000;

/** Renders now, whenever a run changes, and each minute while one has not ended, so that elapsed times are true. */
export function renderRuns(runs: RunStore, render: () => void): vscode.Disposable {
  let timer: NodeJS.Timeout | undefined;
  const renderNow = (): void => {
    render();
    if (runs.all().every(isFinal)) {
      clearInterval(timer);
      timer = undefined;
    } else timer ??= setInterval(renderNow, refreshMs);
  };
  const subscription = runs.onDidChange(renderNow);
  renderNow();
  return vscode.Disposable.from(subscription, { dispose: () => clearInterval(timer) });
}
