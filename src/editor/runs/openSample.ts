import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { makeSample, type SampleDeps } from '../../core/findings/importExport/sample.ts';
import { withProgress } from '../progress.ts';
import { askInDialog } from '../showMessage.ts';

const t = vscode.l10n.t;

export interface OpenSampleDeps extends SampleDeps {
  readonly extensionUri: vscode.Uri;
  readonly samplesFolder: string;
}

export async function openSample(version: string, deps: OpenSampleDeps): Promise<void> {
  const folder = join(deps.samplesFolder, version, 'shop');
  // If two windows open the sample at once, only one of them makes the folder.
  const isNew = (await mkdir(folder, { recursive: true })) !== undefined;
  const [open, startOver] = [t('Open Sample'), t('Start Over')];
  const question = t('Open the sample with your changes, or start over?');
  const detail = t('If you start over, your changes to its files and your triage decisions are deleted.');
  const answer = isNew ? open : await askInDialog({ question, detail, icon: 'info' }, open, startOver);
  if (answer === undefined) return;
  const from = join(deps.extensionUri.fsPath, 'examples', 'sample');
  const language = vscode.env.language.startsWith('ja') ? 'japanese' : 'english';
  const work = (): Promise<void> => makeSample(folder, { from, language }, deps);
  if (isNew || answer === startOver)
    await withProgress(t('Preparing the sample…'), work, { cancellable: false });
  await vscode.commands.executeCommand('vscode.openFolder', vscode.Uri.file(folder), {
    forceNewWindow: true,
  });
}
