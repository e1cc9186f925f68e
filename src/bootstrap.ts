import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { watchFolder } from './core/folderWatch.ts';
import { once } from './core/once.ts';
import type { Disposable } from './core/ports.ts';
import { type LazyView, lazyView } from './lazyView.ts';

/** What must be there before the main part is loaded: empty views, an idle status item and commands that load it. */
export interface Surfaces {
  readonly status: vscode.StatusBarItem;
  readonly runs: LazyView;
  readonly findings: LazyView;
  readonly uploadPreview: LazyView;
}

/** Called by the editor at startup; loads the main part only when there is something to watch, show or do. */
export async function activate(context: vscode.ExtensionContext): Promise<void> {
  let isLoaded = false;
  const load = once(async () => {
    const made: Disposable[] = [];
    const dispose = (): void => made.forEach((each) => each.dispose());
    try {
      const { startExtension } = await import('./extension.ts');
      const extension = await startExtension(context, surfaces, made);
      context.subscriptions.push({ dispose });
      isLoaded = true;
      return extension;
    } catch (error) {
      dispose(); // else what is registered stood in the way of the next attempt
      throw error;
    }
  });
  const status = vscode.window.createStatusBarItem('whitebox.status', vscode.StatusBarAlignment.Left, 0);
  status.name = vscode.l10n.t('Whitebox Assessment');
  status.text = '$(shield)';
  status.command = 'whitebox.showMenu';
  status.tooltip = status.name;
  status.accessibilityInformation = { label: status.name };
  status.show();
  const surfaces: Surfaces = {
    status,
    runs: lazyView('whitebox.runs', load),
    findings: lazyView('whitebox.findings', load),
    uploadPreview: lazyView('whitebox.uploadPreview', load),
  };
  const { contributes } = context.extension.packageJSON as {
    contributes: { commands: { command: string }[]; languageModelTools: { name: string }[] };
  };
  const ids = [
    ...contributes.commands.map(({ command }) => command),
    'whitebox.showMenu',
    'whitebox.revealFinding',
  ];
  context.subscriptions.push(
    status,
    surfaces.runs.view,
    surfaces.findings.view,
    surfaces.uploadPreview.view,
    ...ids.map((id) =>
      vscode.commands.registerCommand(id, async (...args: unknown[]) => (await load()).run(id, args)),
    ),
    ...contributes.languageModelTools.map(({ name }) =>
      vscode.lm.registerTool<object>(name, {
        prepareInvocation: async (options, token) =>
          (await load()).tools.get(name)?.prepareInvocation?.(options, token),
        invoke: async (options, token) => (await load()).tools.get(name)?.invoke(options, token),
      }),
    ),
  );
  const loadForRuns = async (): Promise<void> => {
    try {
      if (!isLoaded && (await hasRuns(context))) await load();
    } catch (error) {
      console.error(error); // nobody waits for this; a command tries again, and says what is wrong
    }
  };
  context.subscriptions.push(
    await watchForRuns(context, () => void loadForRuns()),
    // What another window started is seen here, too, where the system tells nothing of folders.
    vscode.window.onDidChangeWindowState(({ focused }) => {
      if (focused) void loadForRuns();
    }),
  );
  await loadForRuns();
}

/** Calls back when another window makes or touches a run. */
async function watchForRuns(context: vscode.ExtensionContext, onChange: () => void): Promise<Disposable> {
  const folder = join(context.globalStorageUri.fsPath, 'runs');
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
  } catch {
    return { dispose: () => undefined }; // nothing can be kept there, so nobody does
  }
  return watchFolder(folder, onChange);
}

async function hasRuns(context: vscode.ExtensionContext): Promise<boolean> {
  // Notes of runs whose folders may be gone with a container.
  if (context.globalState.keys().some((key) => key.startsWith('run:'))) return true;
  try {
    return (await readdir(join(context.globalStorageUri.fsPath, 'runs'))).length > 0;
  } catch {
    return false; // no folder yet: nothing was ever started here
  }
}
