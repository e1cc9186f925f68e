import * as vscode from 'vscode';
import type { Disposable } from '../../core/ports.ts';
import { readWebviewState } from '../../core/report/protocol.ts';
import { type DocumentPanel, fillPanel, type PanelDeps, type PanelDocument } from './documentPanel.ts';

/** What a kind of panels needs. */
export interface DocumentPanelsDeps extends PanelDeps {
  /** As in the manifest's `onWebviewPanel` activation. */
  readonly viewType: string;
  /** Whether each document has a panel of its own, or all take turns in one that opens beside the code. */
  readonly panels: 'onePerDocument' | 'oneBeside';
  /** Finds a document by the id that a panel kept. */
  readonly find: (id: string) => Promise<PanelDocument | undefined>;
}

/** The open panels of one kind. */
export interface DocumentPanels extends Disposable {
  /** Shows a document, in the panel that is there for it or in a new one. */
  open(document: PanelDocument): void;
  /** Shows documents that are seen as they are now, or the one with this id. */
  refresh(id?: string): void;
  /** The id of the document in the panel that has the focus of its group. */
  activeId(): string | undefined;
  /** Opens a document and hands back what its panel makes of it, as HTML that is not to be trusted. Rejects with an `AbortError` when the panel is closed first or the signal aborts. */
  render(document: PanelDocument, signal: AbortSignal): Promise<string>;
}

/** Registers a kind of panels: opening, restoring after a reload of the window, and letting go. */
export function registerDocumentPanels(deps: DocumentPanelsDeps): DocumentPanels {
  const open = new Map<string, DocumentPanel>();
  const keyOf = ({ id }: PanelDocument): string => (deps.panels === 'oneBeside' ? '' : id);

  const fill = (panel: vscode.WebviewPanel, document: PanelDocument): DocumentPanel => {
    const key = keyOf(document);
    const shown = fillPanel(panel, document, deps);
    open.set(key, shown);
    panel.onDidDispose(() => {
      if (open.get(key) === shown) open.delete(key);
    });
    return shown;
  };

  const serializer = vscode.window.registerWebviewPanelSerializer(deps.viewType, {
    async deserializeWebviewPanel(panel, state) {
      const id = readWebviewState(state)?.documentId;
      const document = id === undefined ? undefined : await deps.find(id);
      if (document === undefined || open.has(keyOf(document))) panel.dispose();
      else fill(panel, document);
    },
  });

  const openPanel = (document: PanelDocument): DocumentPanel => {
    const existing = open.get(keyOf(document));
    if (existing) {
      existing.panel.reveal(undefined, deps.panels === 'oneBeside');
      existing.show(document);
      return existing;
    }
    const where =
      deps.panels === 'oneBeside'
        ? { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true }
        : vscode.ViewColumn.Active;
    const options = { enableFindWidget: true };
    return fill(vscode.window.createWebviewPanel(deps.viewType, document.title, where, options), document);
  };

  return {
    open: (document) => void openPanel(document),
    refresh: (id) => {
      for (const shown of open.values()) if (id === undefined || shown.documentId() === id) shown.refresh();
    },
    activeId: () => [...open.values()].find(({ panel }) => panel.active)?.documentId(),
    render: (document, signal) => openPanel(document).render(signal),
    dispose() {
      serializer.dispose();
      for (const { panel } of [...open.values()]) panel.dispose();
    },
  };
}
