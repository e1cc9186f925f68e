import { join } from 'node:path';
import * as vscode from 'vscode';
import {
  isUploadKnown,
  readUnchanged,
  type UploadedFile,
} from '../../../core/findings/location/uploadedFiles.ts';
import {
  localLocationOf,
  uploadedFileOf,
  type ShownFinding,
  type ShownLocation,
} from '../../../core/findings/shownFinding.ts';
import { isThere } from '../../../core/files.ts';
import type { Run } from '../../../core/run/state/run.ts';
import { visibleName } from '../../../core/visibleText.ts';
import { showRunsAction } from '../../errors/errorActions.ts';
import { openDocument } from '../../folders.ts';
import { firstLines } from '../../formats.ts';
import { withProgress } from '../../progress.ts';
import { nameOf } from '../../runs/runLabels.ts';
import { showInformation, showWarning } from '../../showMessage.ts';
import { type FindingStores, toArgument } from '../findingArguments.ts';
import { toRange } from './displayedFindings.ts';
import { textAsUploaded, textNow, type TextSources, unsavedText, type UploadedText } from './fileTexts.ts';
import { showNoLocation } from './goToFinding.ts';

const t = vscode.l10n.t;

const scheme = 'whitebox-assessed';
const messageShownMs = 10_000;

/** A URI contains the size and hash of an uploaded file, so it can't open any other content. */
export function provideAsAssessed(sources: TextSources): vscode.Disposable {
  return vscode.workspace.registerTextDocumentContentProvider(scheme, {
    provideTextDocumentContent: async ({ path, query }) => {
      const [, runId = '', target, ...names] = path.split('/');
      const [bytes, sha256 = ''] = query.split(' ');
      const run = sources.runs.get(runId);
      const folder = run?.targets[Number(target)]?.folder;
      if (run === undefined || folder === undefined) return undefined;
      const uploaded = {
        target: Number(target),
        folder,
        path: names.join('/'),
        bytes: Number(bytes),
        sha256,
      };
      const found = await textAsUploaded(run, uploaded, sources);
      if ('why' in found) throw new Error(found.why);
      return found.text;
    },
  });
}

export async function openAsAssessed(finding: ShownFinding, deps: TextSources): Promise<void> {
  const { run } = finding;
  const { locations } = finding.finding;
  const location = locations.find((each) => uploadedFileOf(each, finding) !== undefined) ?? locations[0];
  if (location === undefined) {
    showNoLocation();
    return;
  }
  const uploaded = uploadedFileOf(location, finding);
  const path = visibleName(uploaded?.path ?? location.path);
  const found =
    uploaded === undefined ? await whyNotUploaded(run, deps) : await textAsUploaded(run, uploaded, deps);
  if (uploaded === undefined || 'why' in found) {
    const why = 'why' in found ? found.why : '';
    const message = t('{0} can’t be shown as it was assessed: {1}.', path, why);
    const command = 'whitebox.showFindingDetails';
    const details = { title: t('Show Details'), command, arguments: [toArgument(finding)] };
    void showInformation(message, details);
    return;
  }
  const document = await openDocument(toUri(run, uploaded));
  await vscode.window.showTextDocument(document, {
    preview: true,
    ...(location.startLine === undefined ? {} : { selection: document.validateRange(toRange(location)) }),
  });
  vscode.window.setStatusBarMessage(t('{0} as it was assessed, read-only', path), messageShownMs);
}

export async function showChangesSince(run: Run, deps: FindingStores & TextSources): Promise<void> {
  const changes: (readonly [vscode.Uri, vscode.Uri, vscode.Uri | undefined])[] = [];
  const notCompared: string[] = [];
  const files = await withProgress(t('Show Changes Since Assessment'), async (_onStep, signal) => {
    const all = filesOf((await deps.findings.read(run, signal)).shown);
    for (const { uploaded, folder, path } of all) {
      signal.throwIfAborted();
      const here = join(folder, path);
      const isUnchanged = async (): Promise<boolean> => (await readUnchanged(uploaded)) !== undefined;
      if (unsavedText(here) === undefined && (await deps.calls.ask(uploaded.folder, isUnchanged))) continue;
      const found = await textAsUploaded(run, uploaded, deps);
      const uri = vscode.Uri.file(here);
      if ('why' in found) notCompared.push(`${visibleName(uploaded.path)}: ${found.why}`);
      else {
        const isHere = await deps.calls.ask(folder, () => isThere(here));
        changes.push([uri, toUri(run, uploaded), isHere ? uri : undefined]);
      }
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
    void showWarning(message, showRunsAction());
  } else if (files.length === 0) {
    const message = t('There is nothing to compare: {0}.', (await whyNotUploaded(run, deps)).why);
    void showInformation(message, showRunsAction());
  } else if (changes.length === 0)
    void showInformation(t('No files with findings have changed since the assessment.'));
}

export interface ChangedFile {
  readonly path: string;
  readonly before: UploadedText;
  readonly after: string | undefined;
}

export async function changedFilesOf(
  shown: ShownFinding,
  deps: TextSources,
): Promise<readonly ChangedFile[]> {
  const changes: ChangedFile[] = [];
  for (const { uploaded, folder, path } of filesOf([shown])) {
    const after = await textNow({ folder, path }, deps);
    const before = await textAsUploaded(shown.run, uploaded, deps);
    changes.push({ path: uploaded.path, before, after });
  }
  return changes;
}

function toUri({ id }: Run, { target, path, bytes, sha256 }: UploadedFile): vscode.Uri {
  const query = `${String(bytes)} ${sha256}`;
  return vscode.Uri.from({ scheme, path: `/${id}/${String(target)}/${path}`, query });
}

function filesOf(shown: readonly ShownFinding[]) {
  const files = new Map<
    string,
    { readonly uploaded: UploadedFile } & Pick<ShownLocation, 'folder' | 'path'>
  >();
  for (const each of shown)
    for (const location of each.finding.locations) {
      const uploaded = uploadedFileOf(location, each);
      if (uploaded === undefined) continue;
      const { folder, path } = localLocationOf(location, each) ?? uploaded;
      files.set(`${String(uploaded.target)} ${uploaded.path}`, { uploaded, folder, path });
    }
  return [...files.values()];
}

export async function whyNotUploaded(
  run: Run,
  { runs }: Pick<TextSources, 'runs'>,
): Promise<{ readonly why: string }> {
  const why = (await isUploadKnown(runs.folderOf(run.id)))
    ? t('no uploaded file matches with certainty')
    : t('the uploaded files are unknown because the run was started elsewhere or imported');
  return { why };
}
