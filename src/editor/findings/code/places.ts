import { existsSync } from 'node:fs';
import * as vscode from 'vscode';
import type { ShownPlace } from '../../../core/findings/shownFinding.ts';
import { showInformation } from '../../showMessage.ts';

/** The range of a place, 0-based; the start of the file where the line is unknown. */
export function toRange(place: ShownPlace): vscode.Range {
  const line = (place.startLine ?? 1) - 1;
  const lastLine = Math.max(line, (place.endLine ?? line + 1) - 1);
  const column = (place.startColumn ?? 1) - 1;
  return new vscode.Range(
    line,
    column,
    lastLine,
    place.endColumn === undefined ? Number.MAX_SAFE_INTEGER : place.endColumn - 1,
  );
}

/** Opens the file of a place, in this column if given, with the cursor on its line; where the line is unknown or its code is gone, as it was last looked at. */
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
  void showInformation(vscode.l10n.t('The code of this finding is not in {0} any more.', path));
}

async function openIfThere(uri: vscode.Uri): Promise<vscode.TextDocument | undefined> {
  try {
    return await vscode.workspace.openTextDocument(uri);
  } catch (error) {
    if (existsSync(uri.fsPath)) throw error;
    return undefined;
  }
}
