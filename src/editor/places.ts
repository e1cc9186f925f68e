import * as vscode from 'vscode';
import type { ShownPlace } from '../core/findings/findingStore.ts';

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

/** Opens the file of a place with the cursor on its line. */
export async function revealPlace(place: ShownPlace): Promise<void> {
  const document = await vscode.workspace.openTextDocument(vscode.Uri.file(place.file));
  const range = document.validateRange(toRange(place));
  const selection = new vscode.Range(range.start, range.start);
  const editor = await vscode.window.showTextDocument(document, { preview: true, selection });
  editor.revealRange(range, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
}
