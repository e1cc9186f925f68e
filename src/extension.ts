import { join } from 'node:path';
import * as vscode from 'vscode';
import { BoundedSecrets } from './core/api/boundedSecrets.ts';
import { FindingStore } from './core/findings/findingStore.ts';
import { createMemory, saveResult } from './core/findings/result/readResult.ts';
import { type Disposable, systemClock as clock } from './core/ports.ts';
import { RunNotes } from './core/run/disk/runNotes.ts';
import { RunStore } from './core/run/disk/runStore.ts';
import { RunTracker } from './core/run/runTracker.ts';
import { PasswordStore } from './core/workflows/passwordStore.ts';
import { Accounts, followSignIn } from './editor/account/accounts.ts';
import { keepLines } from './editor/account/copyDiagnostics.ts';
import { keepMcpServer } from './editor/agents/copyMcpConfiguration.ts';
import { createTools } from './editor/agents/languageModelTools.ts';
import { provideRequests } from './editor/blackbox/exactRequest.ts';
import { FeaturesView } from './editor/blackbox/featuresView.ts';
import { TargetDiagnostics } from './editor/blackbox/targetDiagnostics.ts';
import { showTargetLenses } from './editor/blackbox/targetLenses.ts';
import { createCommands, type ExtensionManifest, runCommand } from './editor/commands.ts';
import { provideAsAssessed } from './editor/findings/code/asAssessed.ts';
import { showDiagnostics } from './editor/findings/code/diagnostics.ts';
import { DisplayedFindings } from './editor/findings/code/displayedFindings.ts';
import { watchDrift } from './editor/findings/code/driftWatch.ts';
import { editorTexts, encodings } from './editor/findings/code/fileTexts.ts';
import { registerHover } from './editor/findings/code/hover.ts';
import { registerQuickFixes } from './editor/findings/code/quickFixes.ts';
import { BranchComparison } from './editor/findings/changedOnBranch.ts';
import { withFocusedRows } from './editor/findings/findingArguments.ts';
import { provideFindingJson, registerFindingDetails } from './editor/findings/findingDetails.ts';
import { Filtering } from './editor/findings/tree/filtering.ts';
import { showFindings } from './editor/findings/tree/findingsView.ts';
import { createTriage, watchTriage } from './editor/findings/triage.ts';
import { isOpenHere } from './editor/folders.ts';
import { FolderCalls, inBackground } from './core/yieldingWork.ts';
import { registerReports } from './editor/report/report.ts';
import { TrendPanels } from './editor/report/trend.ts';
import { resumeRuns, showStorageProblem } from './editor/runs/recoverRuns.ts';
import { showNotifications } from './editor/runs/notifications.ts';
import { showRuns } from './editor/runs/runsView.ts';
import { showStatus } from './editor/runs/statusBar.ts';
import { createLinkFollower } from './editor/runs/trackRun.ts';
import { readDeleteSourceAfterRun, readRetainLocalDays } from './editor/settings.ts';
import { createPreparation } from './editor/upload/checkAndPack.ts';
import { sweepSaving } from './editor/upload/saveArchive.ts';
import { createUploadPreview } from './editor/upload/uploadPreview.ts';

export interface Surfaces {
  readonly status: vscode.StatusBarItem;
  readonly runs: Parameters<typeof showRuns>[0];
  readonly findings: Parameters<typeof showFindings>[0];
  readonly uploadPreview: Parameters<typeof createUploadPreview>[0];
  readonly features: ConstructorParameters<typeof FeaturesView>[0];
}

/**
 * `disposables` is filled before the runs are read, so that the caller can dispose of everything if
 * that fails.
 */
export async function start(context: vscode.ExtensionContext, surfaces: Surfaces, disposables: Disposable[]) {
  const { extensionUri, globalState, workspaceState: memory } = context;
  const storage = (name: string): string => join(context.globalStorageUri.fsPath, name);
  const dist = (...names: string[]): string => join(context.extensionPath, 'dist', ...names);
  const log = keepLines(vscode.window.createOutputChannel('Whitebox', { log: true }));
  const attempt = (id: string, work: () => Promise<void>) => runCommand(id, work, [], log);
  const calls = new FolderCalls(log);
  const basics = { clock, log, random: Math.random, attempt, memory, extensionUri, calls };
  const parseWorkerFile = dist('parseWorker.cjs');
  const secretWorkerFile = dist('secretWorker.cjs');
  const workers = { workerFile: dist('archiveWorker.cjs'), parseWorkerFile, secretWorkerFile };

  // The tracker uploads source, starts and watches runs, and downloads their results. It needs the
  // journals and accounts below.
  const runs = new RunStore(storage('runs'), basics);
  const notes = new RunNotes(globalState, basics);
  const secrets = new BoundedSecrets(context.secrets, basics);
  const accounts = new Accounts(secrets, basics);
  const passwords = new PasswordStore(secrets, globalState);
  const results = { runs, workerFile: parseWorkerFile, encodings, memory: createMemory() };
  const tracker = new RunTracker({
    ...basics,
    ...workers,
    store: runs,
    notes,
    clientFor: (run) => accounts.clientFor(run, () => passwords.saved(run)),
    passwordsOf: (run) => passwords.require(run),
    saveResult: (run, signal) => saveResult(run, results, signal),
    // The command returns only if the workbench responds.
    askWorkbench: () => vscode.commands.executeCommand('setContext', 'whitebox.isDriving', true),
    deleteSourceAfterRun: readDeleteSourceAfterRun,
    retainLocalDays: readRetainLocalDays,
  });

  // Findings come from the downloaded results, with a user's decisions.
  const triage = createTriage(storage('triage'), basics);
  const findingSources = { ...results, isOpenHere, texts: editorTexts, calls, log, triage, mappings: memory };
  const findings = new FindingStore(findingSources);
  const filtering = new Filtering(memory, globalState);
  const branch = new BranchComparison({ findings, filtering, memory, calls, log });
  const display = { filtering, branch, displayed: new DisplayedFindings(findings) };

  // Screens show these stores, and commands act on them.
  const stores = { runs, notes, accounts, passwords, tracker, triage, findings };
  const preparation = createPreparation(memory, secretWorkerFile, calls);
  const services = { ...basics, ...workers, ...stores, ...display, ...preparation };
  const screens = {
    reports: registerReports(services),
    trends: new TrendPanels({ ...services, ...findingSources }),
    details: registerFindingDetails(services),
    preview: createUploadPreview(surfaces.uploadPreview, services),
    features: new FeaturesView(surfaces.features, services),
    diagnostics: new TargetDiagnostics(),
    requests: provideRequests(),
  };
  const commands = createCommands(context.extension.packageJSON as ExtensionManifest, {
    ...services,
    ...screens,
    savingFolder: storage('saving'),
    samplesFolder: storage('samples'),
    findingsView: surfaces.findings.view,
    mcp: keepMcpServer(context, log),
    savedStyle: dist('webview', 'saved.css'),
  });
  disposables.push(
    log,
    secrets,
    showStorageProblem(runs, surfaces.runs),
    tracker,
    findings,
    ...Object.values(display),
    ...Object.values(screens),
    showStatus(surfaces.status, services),
    showRuns(surfaces.runs, services),
    showFindings(surfaces.findings, services),
    provideFindingJson(services),
    watchTriage(triage, storage('triage'), log),
    showDiagnostics(display.displayed, log),
    watchDrift(services),
    registerHover(display.displayed, findings),
    registerQuickFixes(display.displayed),
    provideAsAssessed(services),
    showTargetLenses(passwords, secrets),
    vscode.window.registerUriHandler({ handleUri: createLinkFollower({ ...services, ...screens }) }),
    showNotifications(services),
    followSignIn(accounts, { ...services, secrets }),
    vscode.workspace.onDidChangeWorkspaceFolders(() => inBackground(findings.load(), log)),
    vscode.window.onDidChangeWindowState(({ focused }) => {
      if (focused) inBackground(findings.focused(), log);
    }),
  );
  inBackground(sweepSaving(storage('saving'), clock), log);
  await runs.reload();
  disposables.push(runs.watch(), notes.follow(runs), resumeRuns(services));
  // Loading isn't awaited: after an update, all earlier results may have to be computed again.
  inBackground(findings.load(), log);
  return {
    tools: createTools(services),
    run: async (id: string, args: readonly unknown[]) =>
      runCommand(id, commands.get(id), await withFocusedRows(args, surfaces), log),
  };
}
