import type * as vscode from 'vscode';

/** Resolves when `condition` holds, checked now and after each event; rejects with `describe()` before mocha's limit. */
export async function until(
  event: vscode.Event<unknown>,
  condition: () => boolean,
  describe: () => unknown = () => '',
): Promise<void> {
  if (condition()) return;
  await new Promise<void>((resolve, reject) => {
    const subscription = event(() => {
      if (!condition()) return;
      clearTimeout(timer);
      subscription.dispose();
      resolve();
    });
    const timer = setTimeout(() => {
      subscription.dispose();
      reject(new Error(`It did not come about within 2 minutes: ${JSON.stringify(describe())}`));
    }, 120_000);
  });
}
