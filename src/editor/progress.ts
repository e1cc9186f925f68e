import { setTimeout as sleep } from 'node:timers/promises';
import * as vscode from 'vscode';
import type { OnBytes } from '../core/ports.ts';
import { formatBytes } from './formats.ts';
import { plainLine } from './showMessage.ts';

export function withProgress<T>(
  title: string,
  work: (report: (message: string) => void, signal: AbortSignal) => Promise<T>,
  { cancellable }: { cancellable: boolean } = { cancellable: true },
): Thenable<T> {
  const options = {
    location: vscode.ProgressLocation.Notification,
    title: plainLine(title),
    cancellable,
  };
  return vscode.window.withProgress(options, (progress, cancellation) => {
    const stop = new AbortController();
    cancellation.onCancellationRequested(() => stop.abort());
    return work((message) => progress.report({ message: plainLine(message) }), stop.signal);
  });
}

const maxSilentMs = 500;

export async function withLateProgress<T>(
  title: string,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const stop = new AbortController();
  const done = work(stop.signal);
  const isLate = await Promise.race([done.then(() => false), sleep(maxSilentMs, true, { ref: false })]);
  if (!isLate) return done;
  return withProgress(title, (_report, signal) => {
    signal.addEventListener('abort', () => stop.abort());
    return done;
  });
}

export function withViewProgress<T>(work: () => Promise<T>): Thenable<T> {
  return vscode.window.withProgress({ location: { viewId: 'whitebox.runs' } }, work);
}

export function byteSteps(
  onStep: (message: string) => void,
  text: (done: string, total: string) => string,
): OnBytes {
  let shown = -1;
  return (done, total) => {
    const percent = Math.floor((100 * done) / Math.max(total, 1));
    if (percent === shown) return;
    shown = percent;
    onStep(text(formatBytes(done), formatBytes(total)));
  };
}
