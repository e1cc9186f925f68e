import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { watchFolder } from './core/files.ts';
import { once } from './core/yieldingWork.ts';
import type { Disposable } from './core/ports.ts';
import type { Surfaces } from './extension.ts';
import { targetFileSuffix } from './core/workflows/workflow.ts';
import { lazyView } from './lazyView.ts';

/**
 * Registers empty views, commands, and tools at startup. Loads the main part when one of them is
 * used, if there are runs, or if a target file is open.
 */
export async function activate(context: vscode.ExtensionContext): Promise<void> {
  let isLoaded = false;
  const load = once(async () => {
    const disposables: Disposable[] = [];
    const dispose = (): void => disposables.forEach((disposable) => disposable.dispose());
    try {
      const { start } = await import('./extension.ts');
      const extension = await start(context, surfaces, disposables);
      context.subscriptions.push({ dispose });
      isLoaded = true;
      return extension;
    } catch (error) {
      dispose(); // The next attempt registers the same IDs.
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
    features: lazyView('whitebox.features', load),
  };
  const { contributes } = context.extension.packageJSON as {
    contributes: { commands: { command: string }[]; languageModelTools: { name: string }[] };
  };
  const ids = [
    ...contributes.commands.map(({ command }) => command),
    'whitebox.showMenu',
    'whitebox.revealFinding',
    'whitebox.moveBlackboxPasswords',
  ];
  context.subscriptions.push(
    status,
    surfaces.runs.view,
    surfaces.findings.view,
    surfaces.uploadPreview.view,
    surfaces.features.view,
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
  const loadIf = async (isNeeded: () => boolean | Promise<boolean>): Promise<void> => {
    try {
      if (!isLoaded && (await isNeeded())) await load();
    } catch (error) {
      console.error(error); // The next command tries again and shows the error.
    }
  };
  const loadForRuns = (): Promise<void> => loadIf(() => hasRuns(context));
  context.subscriptions.push(
    await watchForRuns(context, () => void loadForRuns()),
    // Some file systems don't report changes to folders.
    vscode.window.onDidChangeWindowState(({ focused }) => {
      if (focused) void loadForRuns();
    }),
    vscode.workspace.onDidOpenTextDocument((document) => void loadIf(() => isTargetFile(document))),
  );
  await loadForRuns();
  await loadIf(() => vscode.workspace.textDocuments.some(isTargetFile));
}

function isTargetFile({ uri }: vscode.TextDocument): boolean {
  return uri.scheme === 'file' && uri.path.endsWith(targetFileSuffix);
}

async function watchForRuns(context: vscode.ExtensionContext, onChange: () => void): Promise<Disposable> {
  const folder = join(context.globalStorageUri.fsPath, 'runs');
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
  } catch {
    return { dispose: () => undefined }; // Runs can't be stored there.
  }
  return watchFolder(folder, onChange);
}

async function hasRuns(context: vscode.ExtensionContext): Promise<boolean> {
  // Run notes outlive the runs' folders, for example if a container is rebuilt.
  if (context.globalState.keys().some((key) => key.startsWith('run:'))) return true;
  try {
    return (await readdir(join(context.globalStorageUri.fsPath, 'runs'))).length > 0;
  } catch {
    return false; // The folder is missing or can't be read.
  }
}
