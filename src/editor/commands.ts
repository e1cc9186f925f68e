import * as vscode from 'vscode';
import { AssessmentError, type ErrorKind, isAbortError } from '../core/errors.ts';
import { hasFindings } from '../core/findings/chooseRun.ts';
import type { Clock, Logger } from '../core/ports.ts';
import type { RunNotes } from '../core/run/disk/runNotes.ts';
import { hasRemoteResults, isUnsent, type Run, runIdOf } from '../core/run/state/run.ts';
import { mayStopWatching, needsToken } from '../core/run/state/trouble.ts';
import { focusView } from '../lazyView.ts';
import { copyDiagnostics, type RecentLog, type SettingList } from './account/copyDiagnostics.ts';
import { signIn, signInForRun, signOut } from './account/signIn.ts';
import { testConnection } from './account/testConnection.ts';
import { copyMcpConfiguration, type McpFiles } from './agents/copyMcpConfiguration.ts';
import { choosePairs, filterFeatures, setPriority, togglePairs } from './blackbox/choosePairs.ts';
import { continueRun } from './blackbox/continueRun.ts';
import { featureRows } from './blackbox/featureItems.ts';
import type { FeaturesView } from './blackbox/featuresView.ts';
import { newTargetFile } from './blackbox/newTargetFile.ts';
import { managePasswords, movePasswords } from './blackbox/passwords.ts';
import { type BlackboxDeps, startAgain, startFromFile } from './blackbox/startBlackbox.ts';
import { describeError } from './errors/errorMessages.ts';
import type { Attempt } from './errors/errorActions.ts';
import { showChangesSince } from './findings/code/asAssessed.ts';
import { compareRuns } from './findings/compareRuns.ts';
import { exportFindings } from './findings/exportFindings.ts';
import { createFindingCommands, type FindingCommandDeps } from './findings/findingCommands.ts';
import { importFindings } from './findings/importFindings.ts';
import { openFindingsFile, pickUnreadRun } from './findings/findingDetails.ts';
import { type Folder, folderAt, openFoldersOf, pickFolders } from './folders.ts';
import { openSample, type OpenSampleDeps } from './runs/openSample.ts';
import { hasArtifact } from './runs/runLabels.ts';
import { saveReport, type SaveReportDeps } from './report/saveReport.ts';
import type { TrendPanels } from './report/trend.ts';
import { pickRun, pickShownRun, runOf, runOfTrend, runsOf } from './runs/pickRun.ts';
import { deleteUploadedSource, removeRuns } from './runs/removeRuns.ts';
import {
  cancelRun,
  checkRuns,
  downloadArtifacts,
  renameRun,
  resend,
  stopWatching,
} from './runs/runCommands.ts';
import { showMenu } from './runs/statusBar.ts';
import { giveRunId, trackRun } from './runs/trackRun.ts';
import { showError, showInformation } from './showMessage.ts';
import { editIgnoreFile, excludeFromUpload } from './upload/excludeFromUpload.ts';
import { saveArchive } from './upload/saveArchive.ts';
import { startAssessment, type AssessmentDeps } from './upload/startAssessment.ts';
import type { UploadPreview } from './upload/uploadPreview.ts';
import { inBackground } from '../core/yieldingWork.ts';

const t = vscode.l10n.t;

export interface ExtensionManifest {
  readonly version: string;
  readonly contributes: {
    readonly commands: readonly { readonly command: string; readonly enablement?: string }[];
    readonly configuration: { readonly properties: SettingList };
  };
}

interface CommandDeps
  extends AssessmentDeps, FindingCommandDeps, SaveReportDeps, BlackboxDeps, OpenSampleDeps {
  readonly notes: RunNotes;
  readonly clock: Clock;
  readonly log: RecentLog;
  readonly attempt: Attempt;
  readonly preview: UploadPreview;
  readonly features: FeaturesView;
  readonly trends: TrendPanels;
  readonly workerFile: string;
  readonly parseWorkerFile: string;
  readonly savingFolder: string;
  readonly mcp: McpFiles;
}

/** These are shown as information: nothing failed, but the user has to do something first. */
const hints: readonly ErrorKind[] = ['noFolder', 'nothingToSend'];

/** The arguments come from menus, keys and links, so they are checked before use. */
type Handler = (...args: unknown[]) => unknown;
type RunAction = (run: Run, deps: CommandDeps) => unknown;

/**
 * A handler finds out what its command is about: the clicked row, the selection, or what the user
 * picks. `runCommand` shows its errors.
 */
export function createCommands(manifest: ExtensionManifest, deps: CommandDeps): ReadonlyMap<string, Handler> {
  const { accounts, findings, runs, log } = deps;
  const tool = { name: 'Whitebox Assessment', version: manifest.version };
  /** Picks the folders first: without a folder there is nothing to sign in for. */
  const start = async (chosen?: readonly Folder[], retried?: Run): Promise<void> => {
    const folders = await pickFolders(chosen, t('Start Assessment'));
    if (folders !== undefined && ((await accounts.isSignedIn()) || (await signIn(accounts))))
      await startAssessment(folders, deps, retried);
  };
  const shownFolders = (): readonly Folder[] | undefined => {
    const shown = deps.preview.shown();
    return shown.length === 0 ? undefined : shown.map(({ folder }) => folder);
  };

  const clickedRun = (node: unknown): Run | undefined => runOf(node, runs);
  const onRun =
    (pick: () => Promise<Run | undefined>, act: RunAction): Handler =>
    async (node) => {
      const run = clickedRun(node) ?? (await pick());
      if (run !== undefined) await act(run, deps);
    };
  const pickOf = (isCandidate: (run: Run) => boolean, title: string) =>
    pickRun(runs.all().filter(isCandidate), title);
  const onOneOf = (isCandidate: (run: Run) => boolean, title: string, act: RunAction) =>
    onRun(() => pickOf(isCandidate, title), act);
  const pickShown = (artifact: 'report' | 'findings', title: string) => () =>
    pickShownRun(deps, artifact, title);

  const handlers: Readonly<Record<string, Handler>> = {
    // VS Code passes the focused row even to a command in a view's title, so `signIn` ignores its
    // arguments, and the row of a run has a separate command.
    'whitebox.signIn': () => signIn(accounts),
    'whitebox.signInForRun': (node) =>
      signInForRun(accounts, clickedRun(node) ?? runs.all().find(needsToken)),
    'whitebox.signOut': () => signOut(accounts),
    'whitebox.startAssessment': () => start(),
    'whitebox.assessFolder': (folder) => start(folder instanceof vscode.Uri ? [folderAt(folder)] : undefined),
    'whitebox.assessShown': () => start(shownFolders()),
    'whitebox.previewUpload': async () => {
      const folders = await pickFolders(undefined, t('Preview Files to Upload'));
      if (folders !== undefined) await deps.preview.open(folders);
    },
    'whitebox.saveArchive': () => saveArchive(deps),
    'whitebox.saveShown': () => saveArchive(deps, shownFolders()),
    'whitebox.editIgnoreFile': () => editIgnoreFile(),
    // The Explorer passes the clicked item and all selected items.
    'whitebox.excludeFromUpload': (target, all) =>
      excludeFromUpload(Array.isArray(all) && all.length > 0 ? (all as unknown[]) : [target], deps),
    'whitebox.closePreview': () => deps.preview.close(),
    'whitebox.trackRun': () => trackRun(deps),
    'whitebox.giveRunId': (node) => giveRunId(deps, clickedRun(node)),
    'whitebox.refreshRuns': () => checkRuns(deps),
    'whitebox.cancelRun': onOneOf(({ state }) => state === 'running', t('Cancel Run'), cancelRun),
    'whitebox.resendDispatch': onOneOf(
      ({ state }) => state === 'unknown',
      t('Send Start Request Again'),
      resend,
    ),
    'whitebox.deleteUploadedSource': (...args) => deleteUploadedSource(deps, runsOf(args, runs)),
    'whitebox.openReport': onRun(pickShown('report', t('Open Report')), (run) => deps.reports.open(run)),
    'whitebox.saveReport': onRun(
      async () => deps.reports.active() ?? (await pickShownRun(deps, 'report', t('Save Report'))),
      saveReport,
    ),
    'whitebox.showTrend': (node) => deps.trends.showTrend(runOfTrend(node, runs)),
    'whitebox.showRunFindings': onOneOf(hasFindings, t('Show This Run’s Findings'), async (run) => {
      await findings.show(run);
      await focusView('findings');
    }),
    'whitebox.openFindingsFile': onRun(() => pickUnreadRun(deps), openFindingsFile),
    'whitebox.showChangesSinceAssessment': onRun(
      pickShown('findings', t('Show Changes Since Assessment')),
      showChangesSince,
    ),
    'whitebox.showFeatures': onOneOf(
      (run) => hasArtifact(run, 'features'),
      t('Show Features'),
      (run) => deps.features.show(run),
    ),
    'whitebox.choosePairs': () => choosePairs(deps.features, findings),
    'whitebox.filterFeatures': () => filterFeatures(deps.features),
    'whitebox.setPriority': (...args) => setPriority(deps.features, featureRows(args)),
    'whitebox.togglePairs': (...args) => togglePairs(deps.features, featureRows(args)),
    'whitebox.closeFeatures': () => deps.features.close(),
    'whitebox.clearFindings': () => findings.clear(),
    'whitebox.compareRuns': () => compareRuns([], deps),
    'whitebox.compareTheseRuns': (...args) => compareRuns(runsOf(args, runs), deps),
    'whitebox.copyRunId': async (node) => {
      const run = clickedRun(node);
      const runId = run === undefined ? undefined : (runIdOf(run) ?? deps.notes.runIdFor(run));
      if (runId !== undefined) await vscode.env.clipboard.writeText(runId);
    },
    'whitebox.retryUpload': async (node) => {
      const run = clickedRun(node) ?? (await pickOf(isUnsent, t('Retry Upload…')));
      return run?.workflow === 'whitebox-assessment' ? start(openFoldersOf(run), run) : startAgain(run, deps);
    },
    'whitebox.downloadArtifacts': onOneOf(hasRemoteResults, t('Download Results Again'), downloadArtifacts),
    'whitebox.stopWatching': onOneOf(
      (run) => mayStopWatching(run, deps.clock.now()),
      t('Stop Watching'),
      stopWatching,
    ),
    'whitebox.renameRun': onOneOf(() => true, t('Rename Run'), renameRun),
    'whitebox.removeRun': (...args) => removeRuns(deps, runsOf(args, runs)),
    'whitebox.exportSarif': (node) => exportFindings('sarif', clickedRun(node), { ...deps, tool }),
    'whitebox.exportCsv': (node) => exportFindings('csv', clickedRun(node), { ...deps, tool }),
    'whitebox.exportBundle': (node) => exportFindings('bundle', clickedRun(node), { ...deps, tool }),
    'whitebox.importFindings': () => importFindings(deps),
    'whitebox.openSample': () => openSample(manifest.version, deps),
    'whitebox.copyMcpConfiguration': () => copyMcpConfiguration(deps.mcp),
    'whitebox.startCrawl': (uri) => startFromFile('blackbox-crawl', fileOf(uri), deps),
    'whitebox.startBlackboxAssessment': (uri) => startFromFile('blackbox-assessment', fileOf(uri), deps),
    'whitebox.assessChosenPairs': (node) =>
      continueRun('assessPairs', clickedRun(node) ?? deps.features.shown()?.run, deps),
    'whitebox.continueAssessment': (node) => continueRun('continueAssessment', clickedRun(node), deps),
    'whitebox.crawlFurther': (node) => continueRun('crawlFurther', clickedRun(node), deps),
    'whitebox.startAgain': (node) => startAgain(clickedRun(node), deps),
    'whitebox.newBlackboxTarget': () => newTargetFile(),
    'whitebox.blackboxPasswords': (uri) => managePasswords(fileOf(uri), deps),
    'whitebox.moveBlackboxPasswords': (uri) =>
      uri instanceof vscode.Uri ? movePasswords(uri, deps) : undefined,
    'whitebox.testConnection': () => testConnection(deps),
    'whitebox.showLog': () => log.show(),
    'whitebox.copyDiagnostics': () =>
      copyDiagnostics({
        ...deps,
        version: tool.version,
        settings: manifest.contributes.configuration.properties,
      }),
    'whitebox.showMenu': () => showMenu(deps),
    ...createFindingCommands(deps),
  };
  const restricted = manifest.contributes.commands.filter(({ enablement }) =>
    enablement?.includes('isWorkspaceTrusted'),
  );
  const needTrust = new Set(restricted.map(({ command }) => command));
  return new Map(
    Object.entries(handlers).map(([id, handler]) => [id, needTrust.has(id) ? trusted(handler) : handler]),
  );
}

function fileOf(argument: unknown): vscode.Uri | undefined {
  return argument instanceof vscode.Uri ? argument : undefined;
}

export async function runCommand(
  id: string,
  handler: Handler | undefined,
  args: readonly unknown[],
  log: Logger,
): Promise<unknown> {
  try {
    return await handler?.(...args);
  } catch (error) {
    if (isAbortError(error)) return undefined;
    log.error(`${id}: ${error instanceof Error ? error.message : String(error)}`);
    if (!(error instanceof AssessmentError) && error instanceof Error) log.error(error.stack ?? '');
    const { message, actions } = describeError(error);
    const isHint = error instanceof AssessmentError && hints.includes(error.kind);
    inBackground((isHint ? showInformation : showError)(message, ...actions), log);
    return undefined;
  }
}

/** Keys, links and tasks can run commands that menus disable. */
function trusted(handler: Handler): Handler {
  return (...args) => {
    if (!vscode.workspace.isTrusted) throw new AssessmentError('restricted');
    return handler(...args);
  };
}
