import * as vscode from 'vscode';
import { AssessmentError, type ErrorKind, isAbortError } from '../core/errors.ts';
import type { ShownFinding } from '../core/findings/shownFinding.ts';
import type { Clock, Logger } from '../core/ports.ts';
import type { RunNotes } from '../core/run/disk/recoveryNotes.ts';
import type { RunStore } from '../core/run/disk/runStore.ts';
import type { RunTracker } from '../core/run/runTracker.ts';
import { isUnsent, needsToken, type Run } from '../core/run/state/run.ts';
import type { Accounts } from './account/accounts.ts';
import { copyMcpConfiguration, type McpFiles } from './agents/copyMcpConfiguration.ts';
import { signIn, signInForRun, signOut } from './account/signIn.ts';
import { testConnection } from './account/testConnection.ts';
import { newTargetFile } from './blackbox/newTargetFile.ts';
import { managePasswords } from './blackbox/passwordQuestions.ts';
import type { Passwords } from './blackbox/passwords.ts';
import type { TargetFiles } from './blackbox/targetFiles.ts';
import { describeError } from './errors/messages.ts';
import { type Attempt, offerRemedies } from './errors/remedies.ts';
import { showChangesSince } from './findings/code/asAssessed.ts';
import { choosePairs, filterFeatures, setPriority, togglePairs } from './blackbox/choosePairs.ts';
import { featureRows } from './blackbox/featureItems.ts';
import type { FeaturesView } from './blackbox/featuresView.ts';
import { continueRun } from './blackbox/continueRun.ts';
import { type BlackboxDeps, startAgain, startFromFile } from './blackbox/startBlackbox.ts';
import { createFindingNavigation, revealPlace } from './findings/code/goToFinding.ts';
import { compareRuns } from './findings/compareRuns.ts';
import { exportFindings } from './findings/exportFindings.ts';
import { findingOf, sayNoFinding } from './findings/findingArguments.ts';
import { createFindingCommands, type FindingCommandDeps } from './findings/findingCommands.ts';
import type { DocumentPanels } from './report/documentPanels.ts';
import { importFindings } from './findings/importFindings.ts';
import { mapFindingPaths } from './findings/mapPaths.ts';
import { openFindingsFile, pickUnreadRun } from './findings/rawFindings.ts';
import { saveReport, type SaveReportDeps } from './report/saveReport.ts';
import { pickRun, pickShownRun, runOf, runsOf } from './runs/pickRun.ts';
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
import { editIgnoreFile, excludeFromUpload } from './upload/excludeFromUpload.ts';
import { saveArchive } from './upload/saveArchive.ts';
import { startAssessment, type StartDeps } from './upload/startAssessment.ts';
import type { UploadPreview } from './upload/uploadPreview.ts';
import { focusView } from '../lazyView.ts';
import { type Folder, folderAt, openFoldersOf, pickFolders } from './folders.ts';
import { hasArtifact } from './labels.ts';
import { showError, showInformation } from './showMessage.ts';

/** What the commands read of package.json. */
export interface Manifest {
  readonly version: string;
  readonly contributes: {
    readonly commands: readonly { readonly command: string; readonly enablement?: string }[];
  };
}

/** What the commands work with. */
export interface CommandDeps extends StartDeps, FindingCommandDeps, SaveReportDeps, BlackboxDeps {
  readonly accounts: Accounts;
  readonly runs: RunStore;
  readonly tracker: RunTracker;
  readonly notes: RunNotes;
  readonly clock: Clock;
  readonly log: Logger & { show(): void };
  readonly attempt: Attempt;
  readonly details: DocumentPanels<ShownFinding>;
  readonly preview: UploadPreview;
  readonly features: FeaturesView;
  readonly passwords: Passwords;
  readonly targetFiles: TargetFiles;
  /** The packaging worker. */
  readonly workerFile: string;
  readonly parseWorkerFile: string;
  /** Our folder for archives that are being saved. */
  readonly savingFolder: string;
  readonly mcp: McpFiles;
}

/** Shown as information: nothing failed, the person has to do something first. */
const hints: readonly ErrorKind[] = ['noFolder', 'nothingToSend'];

/** Its arguments come from menus, keys and links, so they are checked before use. */
type Handler = (...args: unknown[]) => unknown;

/** The handler of every command, by id. */
export function createCommands(manifest: Manifest, deps: CommandDeps): ReadonlyMap<string, Handler> {
  const { accounts, findings, runs, log } = deps;
  const t = vscode.l10n.t;
  const goToFinding = createFindingNavigation(deps.displayed);
  const tool = { name: 'Whitebox Assessment', version: manifest.version };
  let starting: { what: string | undefined; done: Promise<unknown> } | undefined;

  /** One start at a time: a second call for the same folders joins the first, one for others throws `startedElsewhere`. */
  const start = (folders?: readonly Folder[], retryOf?: Run): Promise<unknown> => {
    const what = retryOf?.id ?? folders?.map(({ uri }) => uri.toString()).join('\n');
    if (starting !== undefined && starting.what !== what) throw new AssessmentError('startedElsewhere');
    starting ??= {
      what,
      done: startSignedIn(folders, retryOf).finally(() => {
        starting = undefined;
      }),
    };
    return starting.done;
  };
  /** Asks for the folders first: without one there is nothing to sign in for. */
  const startSignedIn = async (given?: readonly Folder[], retryOf?: Run): Promise<void> => {
    const folders = await pickFolders(given ?? (retryOf && openFoldersOf(retryOf)), t('Start Assessment'));
    if (folders !== undefined && ((await accounts.isSignedIn()) || (await signIn(accounts))))
      await startAssessment({ folders, retryOf }, deps);
  };
  const shownFolders = (): readonly Folder[] | undefined => {
    const shown = deps.preview.shown();
    return shown.length === 0 ? undefined : shown.map(({ folder }) => folder);
  };

  const handlers: readonly (readonly [string, Handler])[] = [
    // VS Code passes the focused row also to commands in a view's title: commands for one run have ids of their own.
    ['whitebox.signIn', () => signIn(accounts)],
    [
      'whitebox.signInForRun',
      (node) => signInForRun(accounts, runOf(node, runs) ?? runs.all().find(needsToken)),
    ],
    ['whitebox.signOut', () => signOut(accounts)],
    ['whitebox.startAssessment', () => start()],
    [
      'whitebox.assessFolder',
      (folder) => start(folder instanceof vscode.Uri ? [folderAt(folder)] : undefined),
    ],
    ['whitebox.assessShown', () => start(shownFolders(), runs.get(deps.preview.retryOf() ?? ''))],
    [
      'whitebox.previewUpload',
      async () => {
        const folders = await pickFolders(undefined, t('Preview Files to Upload'));
        if (folders !== undefined) await deps.preview.open(folders);
      },
    ],
    ['whitebox.saveArchive', () => saveArchive(deps)],
    ['whitebox.saveShown', () => saveArchive(deps, shownFolders())],
    ['whitebox.editIgnoreFile', () => editIgnoreFile()],
    [
      'whitebox.excludeFromUpload',
      // The Explorer passes the clicked item and all selected ones.
      (target, all) =>
        excludeFromUpload(Array.isArray(all) && all.length > 0 ? (all as unknown[]) : [target], deps),
    ],
    ['whitebox.closePreview', () => deps.preview.close()],
    ['whitebox.trackRun', () => trackRun(deps)],
    ['whitebox.giveRunId', (node) => giveRunId(deps, runOf(node, runs))],
    ['whitebox.refreshRuns', () => checkRuns(deps)],
    ['whitebox.cancelRun', (node) => cancelRun(deps, runOf(node, runs))],
    ['whitebox.resendDispatch', (node) => resend(deps, runOf(node, runs))],
    ['whitebox.deleteUploadedSource', (...args) => deleteUploadedSource(deps, runsOf(args, runs))],
    [
      'whitebox.openReport',
      async (node) => {
        const run = runOf(node, runs) ?? (await pickShownRun(deps, 'report', t('Open Report')));
        if (run !== undefined) deps.reports.open(run);
      },
    ],
    [
      'whitebox.saveReport',
      async (node) => {
        const run =
          runOf(node, runs) ??
          deps.reports.active() ??
          (await pickShownRun(deps, 'report', t('Save Report')));
        if (run !== undefined) await saveReport(run, deps);
      },
    ],
    [
      'whitebox.showRunFindings',
      async (node) => {
        const run =
          runOf(node, runs) ??
          (await pickRun(
            runs.all().filter((each) => hasArtifact(each, 'findings')),
            t('Show This Run’s Findings'),
          ));
        if (run === undefined) return;
        await findings.show(run);
        await focusView('findings');
      },
    ],
    [
      'whitebox.openFindingsFile',
      async (node) => {
        const run = runOf(node, runs) ?? (await pickUnreadRun(deps));
        if (run !== undefined) await openFindingsFile(run, runs);
      },
    ],
    [
      'whitebox.showChangesSinceAssessment',
      async (node) => {
        const title = t('Show Changes Since Assessment');
        const run = runOf(node, runs) ?? (await pickShownRun(deps, 'findings', title));
        if (run !== undefined) await showChangesSince(run, deps);
      },
    ],
    [
      'whitebox.showFeatures',
      async (node) => {
        const hasFeatures = (run: Run): boolean => hasArtifact(run, 'features');
        const run = runOf(node, runs) ?? (await pickRun(runs.all().filter(hasFeatures), t('Show Features')));
        if (run !== undefined) await deps.features.show(run);
      },
    ],
    ['whitebox.choosePairs', () => choosePairs(deps.features)],
    ['whitebox.filterFeatures', () => filterFeatures(deps.features)],
    ['whitebox.setPriority', (...args) => setPriority(deps.features, featureRows(args))],
    ['whitebox.togglePairs', (...args) => togglePairs(deps.features, featureRows(args))],
    ['whitebox.closeFeatures', () => deps.features.close()],
    ['whitebox.clearFindings', () => findings.clear()],
    ['whitebox.compareRuns', () => compareRuns([], deps)],
    ['whitebox.compareTheseRuns', (...args) => compareRuns(runsOf(args, runs), deps)],
    ...createFindingCommands(deps),
    [
      'whitebox.copyRunId',
      async (node) => {
        const run = runOf(node, runs);
        if (run !== undefined && 'runId' in run && run.runId !== undefined)
          await vscode.env.clipboard.writeText(run.runId);
      },
    ],
    [
      'whitebox.retryUpload',
      async (node) => {
        const run = runOf(node, runs) ?? (await pickRun(runs.all().filter(isUnsent), t('Retry Upload')));
        return run?.workflow === 'whitebox-assessment' ? start(undefined, run) : startAgain(run, deps);
      },
    ],
    ['whitebox.downloadArtifacts', (node) => downloadArtifacts(deps, runOf(node, runs))],
    ['whitebox.stopWatching', (node) => stopWatching(deps, runOf(node, runs), deps.clock.now())],
    ['whitebox.renameRun', (node) => renameRun(deps, runOf(node, runs))],
    ['whitebox.removeRun', (...args) => removeRuns(deps, runsOf(args, runs))],
    ['whitebox.exportSarif', (node) => exportFindings('sarif', runOf(node, runs), { ...deps, tool })],
    ['whitebox.exportCsv', (node) => exportFindings('csv', runOf(node, runs), { ...deps, tool })],
    ['whitebox.exportBundle', (node) => exportFindings('bundle', runOf(node, runs), { ...deps, tool })],
    ['whitebox.importFindings', () => importFindings(deps)],
    ['whitebox.copyMcpConfiguration', () => copyMcpConfiguration(deps.mcp)],
    ['whitebox.startCrawl', (uri) => startFromFile('blackbox-crawl', fileOf(uri), deps)],
    ['whitebox.startBlackboxAssessment', (uri) => startFromFile('blackbox-assessment', fileOf(uri), deps)],
    [
      'whitebox.assessChosenPairs',
      (node) => continueRun('assessPairs', runOf(node, runs) ?? deps.features.shown()?.run, deps),
    ],
    ['whitebox.continueAssessment', (node) => continueRun('continueAssessment', runOf(node, runs), deps)],
    ['whitebox.crawlFurther', (node) => continueRun('crawlFurther', runOf(node, runs), deps)],
    ['whitebox.startAgain', (node) => startAgain(runOf(node, runs), deps)],
    ['whitebox.newBlackboxTarget', () => newTargetFile()],
    ['whitebox.blackboxPasswords', (uri) => managePasswords(fileOf(uri), deps)],
    [
      'whitebox.moveBlackboxPasswords',
      (uri) => (uri instanceof vscode.Uri ? deps.targetFiles.movePasswords(uri) : undefined),
    ],
    ['whitebox.testConnection', () => testConnection(deps)],
    ['whitebox.showLog', () => log.show()],
    ['whitebox.revealFinding', (...args) => revealFinding(findingOf(args, deps))],
    [
      'whitebox.showFindingDetails',
      (...args) => {
        const shown = findingOf(args, deps);
        if (shown !== undefined) deps.details.open(shown);
        else sayNoFinding();
      },
    ],
    ['whitebox.mapFindingPaths', () => mapFindingPaths(findings)],
    ['whitebox.nextFinding', () => goToFinding(1)],
    ['whitebox.previousFinding', () => goToFinding(-1)],
    ['whitebox.showMenu', () => showMenu(deps)],
  ];
  const needTrust = new Set(manifest.contributes.commands.filter(needsTrust).map(({ command }) => command));
  return new Map(handlers.map(([id, handler]) => [id, needTrust.has(id) ? trusted(handler) : handler]));
}

/** The file that a code lens or a menu names. */
function fileOf(argument: unknown): vscode.Uri | undefined {
  return argument instanceof vscode.Uri ? argument : undefined;
}

/** Runs a command; errors are logged and shown with their buttons, not thrown. */
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
    const { message, remedies } = describeError(error);
    const isHint = error instanceof AssessmentError && hints.includes(error.kind);
    offerRemedies((isHint ? showInformation : showError)(message, ...remedies), log);
    return undefined;
  }
}

async function revealFinding(shown: ShownFinding | undefined): Promise<void> {
  const [place] = shown?.places ?? [];
  if (place !== undefined) return revealPlace(place);
  const message = vscode.l10n.t(
    'This finding has no place in a file of this workspace. The report describes it.',
  );
  void showInformation(message);
}

/** True for a command that the manifest disables in Restricted Mode. */
function needsTrust({ enablement }: { readonly enablement?: string }): boolean {
  return enablement?.includes('isWorkspaceTrusted') ?? false;
}

/** Throws `restricted` in Restricted Mode: keys, links and tasks run also commands that menus disable. */
function trusted(handler: Handler): Handler {
  return (...args) => {
    if (!vscode.workspace.isTrusted) throw new AssessmentError('restricted');
    return handler(...args);
  };
}
