import { existsSync } from 'node:fs';
import * as vscode from 'vscode';
import type { ShownFinding, ShownPlace } from '../../../core/findings/shownFinding.ts';
import { inOrder, neighbor } from '../../../core/findings/view/problems.ts';
import { titleOfFinding } from '../../labels.ts';
import { showInformation } from '../../showMessage.ts';
import { type DisplayedFindings, toRange } from './displayedFindings.ts';
import { doErrorAction } from '../../errors/errorActions.ts';

const positionShownMs = 10_000;

/** Goes to the next or previous displayed finding from the cursor, through all files and round again. */
export function createFindingNavigation(displayed: DisplayedFindings): (step: 1 | -1) => Promise<void> {
  let current: ShownFinding | undefined;
  return async (step) => {
    const t = vscode.l10n.t;
    const ordered = inOrder(displayed.byFile());
    const editor = vscode.window.activeTextEditor;
    const cursor = editor && {
      file: editor.document.uri.fsPath,
      line: editor.selection.active.line + 1,
    };
    const at = neighbor(ordered, { cursor, current }, step);
    current = ordered[at];
    const [place] = current?.places ?? [];
    if (current === undefined || place === undefined) {
      void showInformation(t('No finding has a location to go to.'));
      return;
    }
    await revealPlace(place);
    const position = t('Finding {0} of {1}: {2}', at + 1, ordered.length, titleOfFinding(current.finding));
    vscode.window.setStatusBarMessage(position, positionShownMs);
  };
}

/** Where a place that a document links to is now: code moves, and files come and go, while the document is open. */
export function placeNow(
  place: ShownPlace,
  then: ShownFinding,
  current: ShownFinding | undefined,
): ShownPlace {
  const reported = current?.finding.places[then.finding.places.indexOf(place.reported)];
  return current?.places.find((each) => each.reported === reported) ?? place;
}

/** Opens the first place of a finding, or says that it has none. */
export async function revealFinding(shown: ShownFinding | undefined): Promise<void> {
  const [place] = shown?.places ?? [];
  if (place === undefined) sayNoPlace();
  else await revealPlace(place);
}

/** Says that a finding has no place in a file here. */
export function sayNoPlace(): void {
  const message = vscode.l10n.t(
    'This finding has no location in this workspace’s files. The report describes it.',
  );
  const report = { title: vscode.l10n.t('Open Report'), command: 'whitebox.openReport' };
  void showInformation(message, report).then(doErrorAction);
}

/** Opens the file of a place, in this column if given, with the cursor on its line; if the line is unknown or its code is gone, the cursor stays where it was in the file. */
export async function revealPlace(place: ShownPlace, viewColumn?: vscode.ViewColumn): Promise<void> {
  const document = await openIfThere(vscode.Uri.file(place.file));
  if (document === undefined) {
    sayGone(place);
    return;
  }
  const isThere = place.startLine !== undefined && place.drift !== 'gone';
  const range = document.validateRange(toRange(place));
  const editor = await vscode.window.showTextDocument(document, {
    preview: true,
    ...(viewColumn === undefined ? {} : { viewColumn }),
    ...(isThere ? { selection: new vscode.Range(range.start, range.start) } : {}),
  });
  if (isThere) editor.revealRange(range, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  if (place.drift === 'gone') sayGone(place);
}

function sayGone({ path }: ShownPlace): void {
  void showInformation(vscode.l10n.t('The code of this finding is no longer in {0}.', path));
}

async function openIfThere(uri: vscode.Uri): Promise<vscode.TextDocument | undefined> {
  try {
    return await vscode.workspace.openTextDocument(uri);
  } catch (error) {
    if (existsSync(uri.fsPath)) throw error;
    return undefined;
  }
}
