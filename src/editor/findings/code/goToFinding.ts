import * as vscode from 'vscode';
import { isThere } from '../../../core/files.ts';
import type { ShownFinding, ShownPlace } from '../../../core/findings/shownFinding.ts';
import { inOrder, neighbor } from '../../../core/findings/view/problems.ts';
import { openDocument } from '../../folders.ts';
import { titleOfFinding } from '../../findingLabels.ts';
import { showInformation } from '../../showMessage.ts';
import { type DisplayedFindings, toRange } from './displayedFindings.ts';

const t = vscode.l10n.t;

const positionShownMs = 10_000;

/** Goes from the cursor through all files in a circle. */
export function createFindingNavigation(displayed: DisplayedFindings): (step: 1 | -1) => Promise<void> {
  let current: ShownFinding | undefined;
  return async (step) => {
    const ordered = inOrder(displayed.byFile());
    const editor = vscode.window.activeTextEditor;
    const cursor = editor && { file: editor.document.uri.fsPath, line: editor.selection.active.line + 1 };
    const index = neighbor(ordered, { cursor, current }, step);
    current = ordered[index];
    const [place] = current?.places ?? [];
    if (current === undefined || place === undefined) {
      void showInformation(t('No finding has a location to go to.'));
      return;
    }
    await revealPlace(place);
    const position = t('Finding {0} of {1}: {2}', index + 1, ordered.length, titleOfFinding(current.finding));
    vscode.window.setStatusBarMessage(position, positionShownMs);
  };
}

export function placeNow(
  place: ShownPlace,
  linked: ShownFinding,
  current: ShownFinding | undefined,
): ShownPlace {
  const reported = current?.finding.places[linked.finding.places.indexOf(place.reported)];
  return current?.places.find((candidate) => candidate.reported === reported) ?? place;
}

export async function revealFinding(shown: ShownFinding | undefined): Promise<void> {
  const [place] = shown?.places ?? [];
  if (place === undefined) showNoPlace();
  else await revealPlace(place);
}

export function showNoPlace(): void {
  const message = t('This finding has no location in this workspace’s files. The report describes it.');
  const report = { title: t('Open Report'), command: 'whitebox.openReport' };
  void showInformation(message, report);
}

/** If the line is unknown or the code is gone, the cursor does not move. */
export async function revealPlace(place: ShownPlace, viewColumn?: vscode.ViewColumn): Promise<void> {
  const document = await openIfThere(vscode.Uri.file(place.file));
  if (document === undefined) {
    showGone(place);
    return;
  }
  const hasLine = place.startLine !== undefined && place.drift !== 'gone';
  const range = document.validateRange(toRange(place));
  const editor = await vscode.window.showTextDocument(document, {
    preview: true,
    ...(viewColumn === undefined ? {} : { viewColumn }),
    ...(hasLine ? { selection: new vscode.Range(range.start, range.start) } : {}),
  });
  if (hasLine) editor.revealRange(range, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  if (place.drift === 'gone') showGone(place);
}

function showGone({ path }: ShownPlace): void {
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
