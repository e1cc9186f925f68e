import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import * as vscode from 'vscode';
import type { Surfaces } from './bootstrap.ts';
import { network } from './core/api/connection.ts';
import { systemCode } from './core/errors.ts';
import { sweepTemporary } from './core/files.ts';
import { FindingStore } from './core/findings/findingStore.ts';
import { keepSource } from './core/findings/place/sentFiles.ts';
import type { TriagePlace } from './core/findings/triage/triageDisk.ts';
import { TriageStore } from './core/findings/triage/triageStore.ts';
import type { Clock, Disposable } from './core/ports.ts';
import type { Run } from './core/run/state/run.ts';
import { RunNotes } from './core/run/disk/recoveryNotes.ts';
import { RunStore } from './core/run/disk/runStore.ts';
import { RunTracker } from './core/run/runTracker.ts';
import { SecretMemory } from './core/upload/secrets/checkSecrets.ts';
import { registerCodeProviders } from './editor/findings/code/codeProviders.ts';
import { createCommands, requireTrust, runCommand } from './editor/commands.ts';
import { showDiagnostics } from './editor/findings/code/diagnostics.ts';
import { type PanelDocument, registerDocumentPanels } from './editor/report/documentPanels.ts';
import { decodeFile, unsavedText, watchDrift } from './editor/findings/code/driftWatch.ts';
import { followAddresses, withFocusedRows } from './editor/findings/findingArguments.ts';
import { findDetailed, toDetails } from './editor/findings/findingDetails.ts';
import { provideFindingJson } from './editor/findings/rawFindings.ts';
import { DisplayedFindings } from './editor/findings/code/displayedFindings.ts';
import { Filtering } from './editor/findings/tree/filtering.ts';
import { showFindings } from './editor/findings/tree/findingsView.ts';
import { createFindingNavigation } from './editor/findings/code/goToFinding.ts';
import { isOpenHere } from './editor/folders.ts';
import { createTools } from './editor/agents/languageModelTools.ts';
import { describeError } from './editor/errors/messages.ts';
import { UploadChoices } from './editor/upload/preparation.ts';
import { offerLostRuns, warnOfStorage } from './editor/runs/lostRuns.ts';
import { createUploadPreview } from './editor/upload/uploadPreview.ts';
import { showNotifications } from './editor/runs/notifications.ts';
import { toReport } from './editor/report/report.ts';
import { showRuns } from './editor/runs/runsView.ts';
import { hasTokenCommand, readDeleteSourceAfterRun, readRetainLocalDays } from './editor/settings.ts';
import { Accounts } from './editor/account/accounts.ts';
import { showStatus } from './editor/runs/statusBar.ts';
import { triagePlaceOf, watchTriage } from './editor/findings/triageFiles.ts';

/** The loaded main part, as the bootstrap uses it. */
export interface Extension {
  /** Runs a command by id; errors are shown, not thrown. */
  run(id: string, args: readonly unknown[]): Promise<unknown>;
  /** What language models may call, by name. */
  readonly tools: ReadonlyMap<string, vscode.LanguageModelTool<object>>;
}

const clock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: async (ms, signal) => {
    await sleep(ms, undefined, signal === undefined ? {} : { signal });
  },
};

/** Wires the extension: stores, tracker, views, commands. What it makes is put into `made`, also before it fails. */
export async function startExtension(
  context: vscode.ExtensionContext,
  surfaces: Surfaces,
  made: Disposable[],
): Promise<Extension> {
  const storage = context.globalStorageUri.fsPath;
  const log = vscode.window.createOutputChannel('Whitebox', { log: true });
  const now = (): number => clock.now();
  const random = (): number => Math.random();

  const workerFile = join(context.extensionPath, 'dist', 'archiveWorker.cjs');
  const parseWorkerFile = join(context.extensionPath, 'dist', 'parseWorker.cjs');
  const runs = new RunStore(join(storage, 'runs'), { clock, log });
  const notes = new RunNotes(context.globalState, { log });
  const accounts = new Accounts(context.secrets, { clock, log, random });
  const tracker = new RunTracker({
    store: runs,
    clientFor: (destination) => accounts.clientFor(destination),
    clock,
    random,
    log,
    workerFile,
    deleteSourceAfterRun: readDeleteSourceAfterRun,
    keepSource: (run, signal) =>
      keepSource(run, runs.folderOf(run.id), { workerFile: parseWorkerFile, signal }),
    retainLocalDays: readRetainLocalDays,
    network,
    notes,
  });
  const triageFolder = join(storage, 'triage');
  const placeFor = (folder: string): TriagePlace => triagePlaceOf(folder, triageFolder);
  const triage = new TriageStore({ placeFor, lockFolder: triageFolder, clock, log });
  const findings = new FindingStore({
    runs,
    log,
    triage,
    mappings: context.workspaceState,
    isOpenHere,
    textOf: unsavedText,
    decode: decodeFile,
    workerFile: parseWorkerFile,
  });
  const filtering = new Filtering(context.workspaceState);
  const sayingErrors = (id: string, document: PanelDocument): PanelDocument => ({
    ...document,
    openPlace: async (index) => {
      await runCommand(id, () => document.openPlace(index), [], log);
    },
  });
  const reportOf = (run: Run): PanelDocument =>
    sayingErrors('whitebox.openReport', toReport(run, { runs, findings }));
  const reports = registerDocumentPanels({
    viewType: 'whitebox.report',
    panels: 'onePerDocument',
    extensionUri: context.extensionUri,
    find: async (id) => {
      await runs.reload();
      const run = runs.get(id);
      return run === undefined ? undefined : reportOf(run);
    },
    explain: (error) => describeError(error),
    log,
  });
  const displayed = new DisplayedFindings(findings);
  const details = registerDocumentPanels({
    viewType: 'whitebox.finding',
    panels: 'oneBeside',
    extensionUri: context.extensionUri,
    find: async (id) => {
      await runs.reload();
      await findings.load();
      const found = findDetailed(id, findings);
      return found && sayingErrors('whitebox.showFindingDetails', toDetails(found, findings));
    },
    explain: (error) => describeError(error),
    log,
  });
  const preparation = {
    choices: new UploadChoices(context.workspaceState),
    secretMemory: new SecretMemory(),
    secretWorkerFile: join(context.extensionPath, 'dist', 'secretWorker.cjs'),
  };
  const preview = createUploadPreview(surfaces.uploadPreview, {
    ...preparation,
    attempt: (work) => runCommand('whitebox.previewUpload', work, [], log),
    log,
  });
  const { version, contributes } = context.extension.packageJSON as {
    version: string;
    contributes: { commands: { command: string; enablement?: string }[] };
  };
  const tool = { name: 'Whitebox Assessment', version };
  const savingFolder = join(storage, 'saving');
  sweepTemporary(savingFolder, clock.now()).catch((error: unknown) => {
    if (systemCode(error) !== 'ENOENT')
      log.warn(`What a save of an archive left could not be removed: ${String(error)}`);
  });
  const all = createCommands({
    ...preparation,
    preview,
    workerFile,
    parseWorkerFile,
    accounts,
    findings,
    filtering,
    findingsView: surfaces.findings.view,
    memory: context.workspaceState,
    runs,
    tracker,
    notes,
    clock,
    log,
    tool,
    savingFolder,
    openReport: (run) => reports.open(reportOf(run)),
    showDetails: (shown) =>
      details.open(sayingErrors('whitebox.showFindingDetails', toDetails(shown, findings))),
    displayed,
    inDetails: () => findDetailed(details.activeId() ?? '', findings),
    goToFinding: createFindingNavigation(displayed),
    shownReport: () => runs.get(reports.activeId() ?? ''),
    renderReport: (run, signal) => reports.render(reportOf(run), signal),
    savedStyle: join(context.extensionPath, 'dist', 'webview', 'saved.css'),
  });
  const commands = requireTrust(all, contributes.commands);
  const logged = (work: Promise<unknown>): void => {
    work.catch((error: unknown) =>
      log.error(error instanceof Error ? (error.stack ?? error.message) : String(error)),
    );
  };
  let signedInShown: Promise<void> = Promise.resolve();
  // One after the other: what was asked before must not be shown after what was asked last.
  const showSignedIn = (): Promise<void> => {
    const show = async (): Promise<void> => {
      await vscode.commands.executeCommand('setContext', 'whitebox.signedIn', await accounts.isSignedIn());
    };
    signedInShown = signedInShown.then(show, show);
    return signedInShown;
  };

  made.push(
    log,
    // First: it is told of once, whoever looks at the runs first.
    warnOfStorage(runs),
    tracker,
    findings,
    reports,
    details,
    displayed,
    preview,
    showStatus(surfaces.status, { runs, findings, now, nextCheckAt: (id) => tracker.nextCheckAt(id) }),
    showRuns(surfaces.runs, { runs, findings, now }),
    filtering,
    showFindings(surfaces.findings, {
      findings,
      displayed,
      runs,
      filtering,
      isOpenHere: ({ targets }) => targets.some(({ folder }) => isOpenHere(folder)),
    }),
    provideFindingJson({ findings, runs }),
    showDiagnostics(displayed, log),
    watchTriage(triage, triageFolder, log),
    watchDrift(findings),
    findings.onDidChange(() => details.refresh()),
    runs.onDidChange((run) => reports.refresh(run.id)),
    registerCodeProviders(displayed),
    followAddresses(),
    showNotifications({ tracker, findings, log }),
    context.secrets.onDidChange(({ key }) => {
      logged(showSignedIn());
      if (vscode.workspace.isTrusted) logged(tracker.tokenChanged((run) => accounts.isTokenOf(key, run)));
    }),
    vscode.workspace.onDidChangeConfiguration((change) => {
      const sources = ['whitebox.tokenCommand', 'whitebox.baseUrl', 'whitebox.organizationId'];
      if (!sources.some((setting) => change.affectsConfiguration(setting))) return;
      logged(showSignedIn());
      // Settings make a token only by a command, for the service and organization that stand there.
      if (hasTokenCommand()) logged(tracker.tokenSourceChanged());
    }),
    // A token command counts only now, which may be while this starts.
    vscode.workspace.onDidGrantWorkspaceTrust(() => logged(showSignedIn())),
    vscode.workspace.onDidChangeWorkspaceFolders(() => logged(findings.load())),
    // What another window left behind is taken up here: a window without runs has no heartbeat to notice it.
    vscode.window.onDidChangeWindowState(({ focused }) => {
      if (focused && vscode.workspace.isTrusted) logged(tracker.resume());
    }),
  );
  await showSignedIn();
  await runs.reload();
  made.push(runs.watch(), notes.follow(runs));
  await findings.load();
  // Not waited for: tidying up may need a network that does not answer.
  const takeUp = (): void => {
    logged(tracker.resume());
    logged(offerLostRuns({ notes, runs, tracker, log }));
  };
  // In Restricted Mode runs are shown as they were last known; nothing is asked and no lease is taken.
  if (vscode.workspace.isTrusted) takeUp();
  made.push(vscode.workspace.onDidGrantWorkspaceTrust(takeUp));

  return {
    tools: createTools({ runs, findings, clock }),
    run: async (id, args) =>
      runCommand(id, commands.get(id), await withFocusedRows(args, surfaces.findings.view), log),
  };
}
