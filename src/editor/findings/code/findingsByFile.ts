import * as vscode from 'vscode';
import { isDisplayed } from '../../../core/findings/view/display.ts';
import type { FindingStore } from '../../../core/findings/findingStore.ts';
import type { ShownFinding } from '../../../core/findings/shownFinding.ts';
import { problemsByFile } from '../../../core/findings/view/problems.ts';
import { toRange } from './places.ts';
import { readDisplaySettings } from '../../settings.ts';

/** The findings that the editor shows in its files, looked up when first asked for after a change. */
export class FindingsByFile implements vscode.Disposable {
  readonly #findings: FindingStore;
  readonly #subscriptions: vscode.Disposable;
  #byFile: ReadonlyMap<string, readonly ShownFinding[]> | undefined;

  constructor(findings: FindingStore) {
    this.#findings = findings;
    const forget = (): void => {
      this.#byFile = undefined;
    };
    this.#subscriptions = vscode.Disposable.from(
      findings.onDidChange(forget),
      vscode.workspace.onDidChangeConfiguration(forget),
    );
  }

  /** Every file with findings that are displayed, and these findings. */
  all(): ReadonlyMap<string, readonly ShownFinding[]> {
    const display = readDisplaySettings();
    this.#byFile ??= problemsByFile(this.#findings.all().filter((shown) => isDisplayed(shown, display)));
    return this.#byFile;
  }

  /** The findings whose main place touches a range, the narrowest first. */
  at(uri: vscode.Uri, range: vscode.Range): readonly ShownFinding[] {
    const touching = (this.all().get(uri.fsPath) ?? []).flatMap((shown) => {
      const [place] = shown.places;
      if (place?.startLine === undefined) return [];
      const own = toRange(place);
      return own.intersection(range) === undefined ? [] : [{ shown, height: own.end.line - own.start.line }];
    });
    return touching.sort((one, other) => one.height - other.height).map(({ shown }) => shown);
  }

  dispose(): void {
    this.#subscriptions.dispose();
  }
}
