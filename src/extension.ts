import { join } from 'node:path';
import * as vscode from 'vscode';
import type { OutlineNode } from './core/findings/view/outline.ts';
import { FindingStore } from './core/findings/findingStore.ts';
import { keepSource } from './core/findings/place/sentFiles.ts';
import { type Disposable, systemClock as clock } from './core/ports.ts';
import { RunNotes } from './core/run/disk/recoveryNotes.ts';
import { RunStore } from './core/run/disk/runStore.ts';
import { RunTracker } from './core/run/runTracker.ts';
import { PasswordStore } from './core/workflows/passwordStore.ts';
import { Accounts, followSignIn } from './editor/account/accounts.ts';
import { keepMcpServer } from './editor/agents/copyMcpConfiguration.ts';
import { createTools } from './editor/agents/languageModelTools.ts';
import type { FeaturesNode } from './editor/blackbox/featureItems.ts';
import { provideRequests } from './editor/blackbox/exactRequest.ts';
import { createFeaturesView } from './editor/blackbox/featuresView.ts';
import { TargetDiagnostics } from './editor/blackbox/targetDiagnostics.ts';
import { showTargetLenses } from './editor/blackbox/targetLenses.ts';
import { createCommands, type Manifest, runCommand } from './editor/commands.ts';
import type { Attempt } from './editor/errors/remedies.ts';
import { provideAsAssessed } from './editor/findings/code/asAssessed.ts';
import { showDiagnostics } from './editor/findings/code/diagnostics.ts';
import { DisplayedFindings } from './editor/findings/code/displayedFindings.ts';
import { decodeFile, unsavedText, watchDrift } from './editor/findings/code/driftWatch.ts';
import { registerHover } from './editor/findings/code/hover.ts';
import { registerQuickFixes } from './editor/findings/code/quickFixes.ts';
import { withFocusedRows } from './editor/findings/findingArguments.ts';
import { provideFindingJson, registerFindingDetails } from './editor/findings/findingDetails.ts';
import { Filtering } from './editor/findings/tree/filtering.ts';
import { showFindings } from './editor/findings/tree/findingsView.ts';
import { createTriage, watchTriage } from './editor/findings/triage.ts';
import { isOpenHere } from './editor/folders.ts';
import { inBackground } from './editor/progress.ts';
import { registerReports } from './editor/report/report.ts';
import { resumeRuns, showStorageProblem } from './editor/runs/lostRuns.ts';
import { showNotifications } from './editor/runs/notifications.ts';
import { type RunsNode, showRuns } from './editor/runs/runsView.ts';
import { showStatus } from './editor/runs/statusBar.ts';
import { createLinkFollower } from './editor/runs/trackRun.ts';
import { readDeleteSourceAfterRun, readRetainLocalDays } from './editor/settings.ts';
import { createPreparation } from './editor/upload/preparation.ts';
import { sweepSaving } from './editor/upload/saveArchive.ts';
import { createUploadPreview } from './editor/upload/uploadPreview.ts';
import type { PreviewNode } from './editor/upload/uploadPreviewTree.ts';
import type { LazyView } from './lazyView.ts';

/** What the bootstrap registers before this part is loaded: an idle status item and empty views. */
export interface Surfaces {
  readonly status: vscode.StatusBarItem;
  readonly runs: LazyView<RunsNode>;
  readonly findings: LazyView<OutlineNode>;
  readonly uploadPreview: LazyView<PreviewNode>;
  readonly features: LazyView<FeaturesNode>;
}

/** Wires the extension, and returns how to run its commands, by id, and its language model tools, by name. Disposables are added to `made`, also where this throws. */
export async function startExtension(
  context: vscode.ExtensionContext,
  surfaces: Surfaces,
  made: Disposable[],
) {
  const { extensionUri, secrets, workspaceState: memory } = context;
  const storage = (name: string): string => join(context.globalStorageUri.fsPath, name);
  const dist = (...names: string[]): string => join(context.extensionPath, 'dist', ...names);
  const log = vscode.window.createOutputChannel('Whitebox', { log: true });
  const attempt: Attempt = (id, work) => runCommand(id, work, [], log);
  const workerFile = dist('archiveWorker.cjs');
  const parseWorkerFile = dist('parseWorker.cjs');
  const secretWorkerFile = dist('secretWorker.cjs');

  const runs = new RunStore(storage('runs'), { clock, log });
  const notes = new RunNotes(context.globalState, { log });
  const accounts = new Accounts(secrets, { clock, log, random: Math.random });
  const passwords = new PasswordStore(secrets, context.globalState);
  const tracker = new RunTracker({
    store: runs,
    clientFor: (place) => accounts.clientFor(place, () => passwords.known(place)),
    passwordsOf: (run) => passwords.require(run),
    clock,
    random: Math.random,
    log,
    workerFile,
    deleteSourceAfterRun: readDeleteSourceAfterRun,
    keepSource: (run, signal) =>
      keepSource(run, runs.folderOf(run.id), { workerFile: parseWorkerFile, signal }),
    retainLocalDays: readRetainLocalDays,
    notes,
  });
  const triageFolder = storage('triage');
  const triage = createTriage(triageFolder, { clock, log });
  const findings = new FindingStore({
    runs,
    log,
    triage,
    mappings: memory,
    isOpenHere,
    textOf: unsavedText,
    decode: decodeFile,
    workerFile: parseWorkerFile,
  });
  const filtering = new Filtering(memory);
  const displayed = new DisplayedFindings(findings);
  const services = {
    clock,
    log,
    attempt,
    runs,
    notes,
    accounts,
    tracker,
    findings,
    displayed,
    filtering,
    parseWorkerFile,
  };
  const reports = registerReports({ ...services, extensionUri });
  const details = registerFindingDetails({ ...services, extensionUri });
  const preparation = createPreparation(memory, secretWorkerFile);
  const preview = createUploadPreview(surfaces.uploadPreview, { ...services, ...preparation });
  const features = createFeaturesView(surfaces.features, { ...services, memory });
  const diagnostics = new TargetDiagnostics();
  const requests = provideRequests();
  const savingFolder = storage('saving');
  const commands = createCommands(context.extension.packageJSON as Manifest, {
    ...services,
    ...preparation,
    memory,
    passwords,
    diagnostics,
    requests,
    findingsView: surfaces.findings.view,
    reports,
    details,
    preview,
    features,
    secretWorkerFile,
    workerFile,
    savingFolder,
    mcp: keepMcpServer(context, log),
    savedStyle: dist('webview', 'saved.css'),
  });

  const signIn = followSignIn(accounts, { ...services, secrets });
  made.push(
    log,
    // Before the first reload, which may find the problem.
    showStorageProblem(runs, surfaces.runs),
    tracker,
    findings,
    reports,
    details,
    displayed,
    preview,
    features,
    showStatus(surfaces.status, services),
    showRuns(surfaces.runs, services),
    filtering,
    showFindings(surfaces.findings, services),
    provideFindingJson(services),
    watchTriage(triage, triageFolder, log),
    showDiagnostics(services),
    watchDrift(services),
    registerHover(services),
    registerQuickFixes(services),
    provideAsAssessed(services),
    diagnostics,
    requests,
    showTargetLenses({ passwords, secrets }),
    vscode.window.registerUriHandler({ handleUri: createLinkFollower({ ...services, details }) }),
    showNotifications(services),
    signIn,
    vscode.workspace.onDidChangeWorkspaceFolders(() => inBackground(findings.load(), log)),
  );
  inBackground(sweepSaving(savingFolder, clock), log);
  await signIn.refresh();
  await runs.reload();
  made.push(runs.watch(), notes.follow(runs));
  await findings.load();
  made.push(resumeRuns(services));

  return {
    tools: createTools(services),
    run: async (id: string, args: readonly unknown[]) =>
      runCommand(id, commands.get(id), await withFocusedRows(args, surfaces), log),
  };
}
