import * as vscode from 'vscode';
import { pathKey } from '../../../core/paths.ts';
import type { FindingStore } from '../../../core/findings/findingStore.ts';
import type { ShownFinding, ShownLocation } from '../../../core/findings/shownFinding.ts';
import { isDisplayed } from '../../../core/findings/view/filter.ts';
import { type FindingsOfFiles, problemsByFile } from '../../../core/findings/view/problems.ts';
import { readDisplaySettings } from '../../settings.ts';

const gatherMs = 50;

export class DisplayedFindings implements vscode.Disposable {
  readonly #findings: FindingStore;
  readonly #changes = new vscode.EventEmitter<void>();
  readonly #subscriptions: vscode.Disposable;
  #byFile: FindingsOfFiles | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(findings: FindingStore) {
    this.#findings = findings;
    const change = (): void => {
      this.#byFile = undefined;
      this.#timer ??= setTimeout(() => {
        this.#timer = undefined;
        this.#changes.fire();
      }, gatherMs);
    };
    this.#subscriptions = vscode.Disposable.from(
      this.#changes,
      findings.onDidChange(change),
      vscode.workspace.onDidChangeConfiguration((changed) => {
        if (changed.affectsConfiguration('whitebox.findings')) change();
      }),
    );
  }

  readonly onDidChange = this.#changes.event;

  byFile(): FindingsOfFiles {
    const display = readDisplaySettings();
    this.#byFile ??= problemsByFile(this.#findings.all().filter((shown) => isDisplayed(shown, display)));
    return this.#byFile;
  }

  at(uri: vscode.Uri, range: vscode.Range): readonly ShownFinding[] {
    const touching = (this.byFile().get(pathKey(uri.fsPath)) ?? []).flatMap((shown) => {
      const [location] = shown.locations;
      if (location?.startLine === undefined) return [];
      const locationRange = toRange(location);
      const height = locationRange.end.line - locationRange.start.line;
      return locationRange.intersection(range) === undefined ? [] : [{ shown, height }];
    });
    return touching.sort((a, b) => a.height - b.height).map(({ shown }) => shown);
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.#subscriptions.dispose();
  }
}

export function toRange({
  startLine = 1,
  endLine = 1,
  startColumn = 1,
  endColumn,
}: Partial<ShownLocation>): vscode.Range {
  const end = endColumn === undefined ? Number.MAX_SAFE_INTEGER : endColumn - 1;
  return new vscode.Range(startLine - 1, startColumn - 1, Math.max(startLine, endLine) - 1, end);
}
