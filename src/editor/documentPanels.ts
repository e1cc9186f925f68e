import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import { isAbortError } from '../core/errors.ts';
import type { Disposable, Logger } from '../core/ports.ts';
import {
  readWebviewMessage,
  readWebviewState,
  type HostMessage,
  type ReportContent,
  type ReportStrings,
} from '../core/report/protocol.ts';
import { documentHtml } from './documentHtml.ts';

/** Markdown of unknown origin that can be shown, with a summary and links to code: a run's report, or one finding. */
export interface PanelDocument {
  /** Kept by the panel across a reload of the window. */
  readonly id: string;
  /** Title of the panel. */
  readonly title: string;
  /** Reads the document; called whenever the panel becomes visible. Rejects with an error that `explain` can put in words. */
  load(): Promise<ReportContent>;
  /** Shows the code of a finding; `index` is one that `load` gave out in `places`. Reports its own errors. */
  openPlace(index: number): Promise<void>;
}

/** What a kind of panels needs. */
export interface DocumentPanelDeps {
  /** As in the manifest's `onWebviewPanel` activation. */
  readonly viewType: string;
  /** Whether each document has a panel of its own, or all take turns in one that opens beside the code. */
  readonly panels: 'onePerDocument' | 'oneBeside';
  readonly extensionUri: vscode.Uri;
  /** Finds a document by the id that a panel kept. */
  readonly find: (id: string) => Promise<PanelDocument | undefined>;
  /** A sentence in the user's language for an error. */
  readonly explain: (error: unknown) => string;
  readonly log: Logger;
}

/** The open panels of one kind. */
export interface DocumentPanels extends Disposable {
  /** Shows a document, in the panel that is there for it or in a new one. */
  open(document: PanelDocument): void;
}

/** Registers a kind of panels: opening, restoring after a reload of the window, and letting go. */
export function registerDocumentPanels(deps: DocumentPanelDeps): DocumentPanels {
  const open = new Map<string, ShownPanel>();
  const keyOf = ({ id }: PanelDocument): string => (deps.panels === 'oneBeside' ? '' : id);

  const fill = (panel: vscode.WebviewPanel, document: PanelDocument): void => {
    const key = keyOf(document);
    const shown = fillPanel(panel, document, deps);
    open.set(key, shown);
    panel.onDidDispose(() => {
      if (open.get(key) === shown) open.delete(key);
    });
  };

  const serializer = vscode.window.registerWebviewPanelSerializer(deps.viewType, {
    async deserializeWebviewPanel(panel, state) {
      const id = readWebviewState(state)?.documentId;
      const document = id === undefined ? undefined : await deps.find(id);
      if (document === undefined || open.has(keyOf(document))) panel.dispose();
      else fill(panel, document);
    },
  });

  return {
    open(document) {
      const existing = open.get(keyOf(document));
      if (existing) {
        existing.panel.reveal(undefined, deps.panels === 'oneBeside');
        existing.show(document);
        return;
      }
      const where =
        deps.panels === 'oneBeside'
          ? { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true }
          : vscode.ViewColumn.Active;
      const options = { enableFindWidget: true };
      fill(vscode.window.createWebviewPanel(deps.viewType, document.title, where, options), document);
    },
    dispose() {
      serializer.dispose();
      for (const { panel } of [...open.values()]) panel.dispose();
    },
  };
}

interface ShownPanel {
  readonly panel: vscode.WebviewPanel;
  show(document: PanelDocument): void;
}

/** Fills a panel. Its page is gone while it is hidden, and asks for the document again when it comes back. */
function fillPanel(
  panel: vscode.WebviewPanel,
  first: PanelDocument,
  { extensionUri, explain, log }: DocumentPanelDeps,
): ShownPanel {
  const root = vscode.Uri.joinPath(extensionUri, 'dist', 'webview');
  const { webview } = panel;
  const address = (file: string): string => webview.asWebviewUri(vscode.Uri.joinPath(root, file)).toString();
  let document = first;
  let placesSent: ReadonlySet<number> = new Set();
  let loads = 0;

  const send = async (): Promise<void> => {
    const load = ++loads;
    placesSent = new Set();
    const message = await loadMessage(document, explain, log);
    if (load !== loads || message === undefined) return;
    placesSent = new Set(message.type === 'show' ? message.content.places.map(({ index }) => index) : []);
    await webview.postMessage(message);
  };

  panel.onDidDispose(() => loads++);
  webview.onDidReceiveMessage(async (received: unknown) => {
    const message = readWebviewMessage(received);
    switch (message?.type) {
      case 'ready':
        return send();
      case 'openPlace':
        if (placesSent.has(message.index)) return document.openPlace(message.index);
        log.warn('The report view asked for a place that it was not given.');
        return;
      case undefined:
        log.warn('The report view sent a message that is not part of its protocol.');
    }
  });

  panel.title = document.title;
  panel.iconPath = new vscode.ThemeIcon('shield');
  webview.options = { enableScripts: true, localResourceRoots: [root] };
  webview.html = documentHtml({
    scriptUri: address('report.js'),
    styleUri: address('report.css'),
    cspSource: webview.cspSource,
    nonce: randomBytes(16).toString('base64'),
    language: vscode.env.language,
  });
  return {
    panel,
    show(next) {
      document = next;
      panel.title = next.title;
      void send();
    },
  };
}

async function loadMessage(
  document: PanelDocument,
  explain: DocumentPanelDeps['explain'],
  log: Logger,
): Promise<HostMessage | undefined> {
  try {
    return {
      type: 'show',
      documentId: document.id,
      content: await document.load(),
      strings: reportStrings(),
    };
  } catch (error) {
    if (isAbortError(error)) return undefined;
    log.error(`The document ${document.id} cannot be shown: ${String(error)}`);
    return { type: 'problem', documentId: document.id, text: explain(error) };
  }
}
function reportStrings(): ReportStrings {
  return {
    tableOfContents: vscode.l10n.t('Contents'),
    findingsBySeverity: vscode.l10n.t('Findings by severity'),
    noFindings: vscode.l10n.t('No findings.'),
    copy: vscode.l10n.t('Copy'),
    copied: vscode.l10n.t('Copied'),
    copyFailed: vscode.l10n.t('Selected: press the copy shortcut'),
    openInEditor: vscode.l10n.t('Open in editor'),
    done: vscode.l10n.t('Done'),
    notDone: vscode.l10n.t('Not done'),
    code: vscode.l10n.t('Code'),
    table: vscode.l10n.t('Table'),
  };
}
