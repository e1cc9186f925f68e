import { join } from 'node:path';
import * as vscode from 'vscode';
import {
  readAsSent,
  isSentKnown,
  readUnchanged,
  type SentFile,
} from '../../../core/findings/place/sentFiles.ts';
import {
  localPlaceOf,
  sentFileOf,
  type ShownFinding,
  type ShownPlace,
} from '../../../core/findings/shownFinding.ts';
import { AssessmentError } from '../../../core/errors.ts';
import { isThere } from '../../../core/files.ts';
import type { RunStore } from '../../../core/run/disk/runStore.ts';
import type { Run, Target } from '../../../core/run/state/run.ts';
import { isUsableName } from '../../../core/upload/sourceFile.ts';
import { visibleName } from '../../../core/visibleText.ts';
import { answerOfGit, openDocument, repositoryOf } from '../../folders.ts';
import { firstLines } from '../../formats.ts';
import { commitLabel, nameOf } from '../../runs/runLabels.ts';
import { withProgress } from '../../progress.ts';
import { showInformation, showWarning } from '../../showMessage.ts';
import { type FindingStores, toArgument } from '../findingArguments.ts';
import { toRange } from './displayedFindings.ts';
import { textBelow, toText, unsavedText } from './driftWatch.ts';
import { showNoPlace } from './goToFinding.ts';
import { showRuns } from '../../errors/errorActions.ts';

const t = vscode.l10n.t;

const scheme = 'whitebox-assessed';
const messageShownMs = 10_000;

/** A file as it was uploaded, or why it is not available, as the end of a sentence. */
type AsSent = { readonly text: string } | { readonly why: string };

/** Provides uploaded files as read-only documents. A URI has all that identifies an uploaded file of a run, and reaches nothing else. */
export function provideAsAssessed({ runs }: Pick<FindingStores, 'runs'>): vscode.Disposable {
  return vscode.workspace.registerTextDocumentContentProvider(scheme, {
    provideTextDocumentContent: async ({ path, query }) => {
      const [, runId = '', target, ...names] = path.split('/');
      const [bytes, sha256 = ''] = query.split(' ');
      const run = runs.get(runId);
      const folder = run?.targets[Number(target)]?.folder;
      if (run === undefined || folder === undefined) return undefined;
      const sent = { target: Number(target), folder, path: names.join('/'), bytes: Number(bytes), sha256 };
      const found = await readAssessed(run, sent, runs);
      if ('why' in found) throw new Error(found.why);
      return found.text;
    },
  });
}

/** Opens the file of a finding's main place as it was uploaded, with the finding selected. */
export async function openAsAssessed(finding: ShownFinding, deps: FindingStores): Promise<void> {
  const {
    run,
    finding: { places },
  } = finding;
  const place = places.find((each) => sentFileOf(each, finding) !== undefined) ?? places[0];
  if (place === undefined) {
    showNoPlace();
    return;
  }
  const sent = sentFileOf(place, finding);
  const path = visibleName(sent?.path ?? place.path);
  const found = sent === undefined ? await whyNotSent(run, deps) : await readAssessed(run, sent, deps.runs);
  if (sent === undefined || 'why' in found) {
    const why = 'why' in found ? found.why : '';
    const message = t('{0} can’t be shown as it was assessed: {1}.', path, why);
    const command = 'whitebox.showFindingDetails';
    const details = { title: t('Show Details'), command, arguments: [toArgument(finding)] };
    void showInformation(message, details);
    return;
  }
  const document = await openDocument(toUri(run, sent));
  await vscode.window.showTextDocument(document, {
    preview: true,
    ...(place.startLine === undefined ? {} : { selection: document.validateRange(toRange(place)) }),
  });
  vscode.window.setStatusBarMessage(t('{0} as it was assessed, read-only', path), messageShownMs);
}

/** Opens VS Code's comparison of the files with findings: as uploaded, and as they are now. Says which files can't be compared. */
export async function showChangesSince(run: Run, deps: FindingStores): Promise<void> {
  const changes: (readonly [vscode.Uri, vscode.Uri, vscode.Uri | undefined])[] = [];
  const notCompared: string[] = [];
  const files = await withProgress(t('Show Changes Since Assessment'), async (_onStep, signal) => {
    const all = filesOf((await deps.findings.read(run, signal)).shown);
    for (const { sent, folder, path } of all) {
      signal.throwIfAborted();
      const here = join(folder, ...path.split('/'));
      if (unsavedText(here) === undefined && (await readUnchanged(sent)) !== undefined) continue;
      const found = await readAssessed(run, sent, deps.runs);
      const uri = vscode.Uri.file(here);
      if ('why' in found) notCompared.push(`${visibleName(sent.path)}: ${found.why}`);
      else changes.push([uri, toUri(run, sent), (await isThere(here)) ? uri : undefined]);
    }
    return all;
  });
  if (changes.length > 0)
    await vscode.commands.executeCommand(
      'vscode.changes',
      t('Since the assessment: {0}', nameOf(run)),
      changes,
    );
  if (notCompared.length > 0) {
    const message = t('Not compared: {0}', firstLines(notCompared).replaceAll('\n', '; '));
    void showWarning(message, showRuns());
  } else if (files.length === 0) {
    const message = t('There is nothing to compare: {0}.', (await whyNotSent(run, deps)).why);
    void showInformation(message, showRuns());
  } else if (changes.length === 0)
    void showInformation(t('No files with findings have changed since the assessment.'));
}

/** A file of a finding as it was assessed, and as it is now. */
export interface ChangedFile {
  readonly path: string;
  readonly before: AsSent;
  /** Undefined if the file is gone, too large, or no longer a real file below its folder. */
  readonly after: string | undefined;
}

export async function changedFilesOf(
  shown: ShownFinding,
  { runs }: FindingStores,
): Promise<readonly ChangedFile[]> {
  const changes: ChangedFile[] = [];
  for (const { sent, folder, path } of filesOf([shown])) {
    const after = await textBelow(folder, path);
    const before = await readAssessed(shown.run, sent, runs);
    changes.push({ path: sent.path, before, after });
  }
  return changes;
}

function toUri({ id }: Run, { target, path, bytes, sha256 }: SentFile): vscode.Uri {
  const query = `${String(bytes)} ${sha256}`;
  return vscode.Uri.from({ scheme, path: `/${id}/${String(target)}/${path}`, query });
}

/** The sent files of findings, and where they are now. */
function filesOf(shown: readonly ShownFinding[]) {
  const files = new Map<string, { readonly sent: SentFile } & Pick<ShownPlace, 'folder' | 'path'>>();
  for (const each of shown)
    for (const place of each.finding.places) {
      const sent = sentFileOf(place, each);
      if (sent === undefined) continue;
      const { folder, path } = localPlaceOf(place, each) ?? sent;
      files.set(`${String(sent.target)} ${sent.path}`, { sent, folder, path });
    }
  return [...files.values()];
}

export async function whyNotSent(run: Run, { runs }: FindingStores): Promise<{ readonly why: string }> {
  const why = (await isSentKnown(runs.folderOf(run.id)))
    ? t('no uploaded file matches with certainty')
    : t('the uploaded files are unknown because the run was started elsewhere or imported');
  return { why };
}

async function readAssessed(run: Run, sent: SentFile, runs: RunStore): Promise<AsSent> {
  const target = run.targets[sent.target];
  if (target === undefined || !isUsableName(sent.path)) return { why: t('it wasn’t uploaded') };
  const file = join(target.folder, ...sent.path.split('/'));
  let why = '';
  const content = await readAsSent(runs.folderOf(run.id), sent, async () => {
    const found = await readCommitted(target, file);
    why = 'why' in found ? found.why : found.otherwise;
    return 'why' in found ? undefined : found.content;
  });
  return content === undefined ? { why } : { text: toText(content, file) };
}

/** The file in the assessed commit, from VS Code's git extension. `otherwise` is why it may differ from the uploaded file. */
async function readCommitted(
  { folder, commit }: Target,
  file: string,
): Promise<{ content: Buffer; otherwise: string } | { why: string }> {
  // Only a hash: other Git names for commits can contain anything.
  if (commit === undefined || !/^[0-9a-f]{40,64}$/.test(commit.id))
    return { why: t('its content wasn’t saved, and no known commit contains it') };
  if (!vscode.workspace.isTrusted)
    return { why: t('its content wasn’t saved, and Git isn’t used in Restricted Mode') };
  const repository = await repositoryOf(vscode.Uri.file(folder));
  const label = commitLabel({ ...commit, dirty: false });
  if (repository === undefined)
    return {
      why: t('its content wasn’t saved, and VS Code has no Git repository open for commit {0}', label),
    };
  try {
    const content = await answerOfGit(repository.buffer(commit.id, file));
    return {
      content,
      otherwise: t('its content wasn’t saved, and commit {0} contains a different version', label),
    };
  } catch (error) {
    return {
      why:
        error instanceof AssessmentError
          ? t('its content wasn’t saved, and VS Code’s Git extension didn’t respond in time')
          : t('its content wasn’t saved, and the local commit {0} doesn’t contain this file', label),
    };
  }
}
