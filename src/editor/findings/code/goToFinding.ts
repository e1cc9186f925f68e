import * as vscode from 'vscode';
import { inOrder, neighbour } from '../../../core/findings/view/findingOrder.ts';
import type { ShownFinding } from '../../../core/findings/shownFinding.ts';
import type { FindingsByFile } from './findingsByFile.ts';
import { titleOfFinding } from '../../labels.ts';
import { revealPlace } from './places.ts';
import { showInformation } from '../../showMessage.ts';

const saidForMs = 10_000;

/** Goes to the next or previous finding from the cursor, through all files and round again; hidden findings are passed over. */
export function createFindingTour(byFile: FindingsByFile): (step: 1 | -1) => Promise<void> {
  let current: ShownFinding | undefined;
  return async (step) => {
    const t = vscode.l10n.t;
    const ordered = inOrder(byFile.all());
    const editor = vscode.window.activeTextEditor;
    const cursor = editor && {
      file: editor.document.uri.fsPath,
      line: editor.selection.active.line + 1,
    };
    const at = neighbour(ordered, { cursor, current }, step);
    current = ordered[at];
    const [place] = current?.places ?? [];
    if (current === undefined || place === undefined) {
      void showInformation(t('No finding has a place to go to.'));
      return;
    }
    await revealPlace(place);
    const said = t('Finding {0} of {1}: {2}', at + 1, ordered.length, titleOfFinding(current.finding));
    vscode.window.setStatusBarMessage(said, saidForMs);
  };
}
