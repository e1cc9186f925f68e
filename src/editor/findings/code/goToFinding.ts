import * as vscode from 'vscode';
import { isThere } from '../../../core/files.ts';
import type { ShownFinding, ShownLocation } from '../../../core/findings/shownFinding.ts';
import { inOrder, neighbor } from '../../../core/findings/view/problems.ts';
import { openDocument } from '../../folders.ts';
import { titleOfFinding } from '../../findingLabels.ts';
import { showInformation } from '../../showMessage.ts';
import { type DisplayedFindings, toRange } from './displayedFindings.ts';

const t = vscode.l10n.t;

const positionShownMs = 10_000;

export function createFindingNavigation(displayed: DisplayedFindings): (step: 1 | -1) => Promise<void> {
  let current: ShownFinding | undefined;
  return async (step) => {
    const ordered = inOrder(displayed.byFile());
    const editor = vscode.window.activeTextEditor;
    const cursor = editor && { file: editor.document.uri.fsPath, line: editor.selection.active.line + 1 };
    const index = neighbor(ordered, { cursor, current }, step);
    current = ordered[index];
    const [location] = current?.locations ?? [];
    if (current === undefined || location === undefined) {
      void showInformation(t('No finding has a location to go to.'));
      return;
    }
    await revealLocation(location);
    const position = t('Finding {0} of {1}: {2}', index + 1, ordered.length, titleOfFinding(current.finding));
    vscode.window.setStatusBarMessage(position, positionShownMs);
  };
}

export function currentLocationOf(
  location: ShownLocation,
  linked: ShownFinding,
  current: ShownFinding | undefined,
): ShownLocation {
  const reported = current?.finding.locations[linked.finding.locations.indexOf(location.reported)];
  return current?.locations.find((candidate) => candidate.reported === reported) ?? location;
}

export async function revealFinding(shown: ShownFinding | undefined): Promise<void> {
  const [location] = shown?.locations ?? [];
  if (location === undefined) showNoLocation();
  else await revealLocation(location);
}

export function showNoLocation(): void {
  const message = t('This finding has no location in this workspace’s files. The report describes it.');
  const report = { title: t('Open Report'), command: 'whitebox.openReport' };
  void showInformation(message, report);
}

export async function revealLocation(location: ShownLocation, viewColumn?: vscode.ViewColumn): Promise<void> {
  const document = await openIfThere(vscode.Uri.file(location.file));
  if (document === undefined) {
    showGone(location);
    return;
  }
  const hasLine = location.startLine !== undefined && location.drift !== 'gone';
  const range = document.validateRange(toRange(location));
  const editor = await vscode.window.showTextDocument(document, {
    preview: true,
    ...(viewColumn === undefined ? {} : { viewColumn }),
    ...(hasLine ? { selection: new vscode.Range(range.start, range.start) } : {}),
  });
  if (hasLine) editor.revealRange(range, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  if (location.drift === 'gone') showGone(location);
}

function showGone({ path }: ShownLocation): void {
  void showInformation(t('The code of this finding is no longer in {0}.', path));
}

async function openIfThere(uri: vscode.Uri): Promise<vscode.TextDocument | undefined> {
  try {
    return await openDocument(uri);
  } catch (error) {
    if (await isThere(uri.fsPath)) throw error;
    return undefined;
  }
}
