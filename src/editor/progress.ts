import * as vscode from 'vscode';

/** Runs long work behind a progress notification that can be cancelled; `report` shows what it is doing. */
export function withProgress<T>(
  title: string,
  work: (report: (message: string) => void, signal: AbortSignal) => Promise<T>,
): Thenable<T> {
  const options = { location: vscode.ProgressLocation.Notification, title, cancellable: true };
  return vscode.window.withProgress(options, (progress, cancellation) => {
    const stop = new AbortController();
    cancellation.onCancellationRequested(() => stop.abort());
    return work((message) => progress.report({ message }), stop.signal);
  });
}
