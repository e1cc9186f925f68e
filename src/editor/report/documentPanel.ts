import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import { isAbortError } from '../../core/errors.ts';
import type { Logger } from '../../core/ports.ts';
import {
  readWebviewMessage,
  type HostMessage,
  type ReportContent,
  type ReportStrings,
} from '../../core/report/protocol.ts';
import { documentHtml } from './documentHtml.ts';
import { doRemedy, type Remedy } from '../errors/remedies.ts';

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

/** What a panel needs beside its document. */
export interface PanelDeps {
  readonly extensionUri: vscode.Uri;
  /** A sentence in the user's language for an error, and what can be done about it. */
  readonly explain: (error: unknown) => { readonly message: string; readonly remedies: readonly Remedy[] };
  readonly log: Logger;
}

/** A panel that shows a document. */
export interface DocumentPanel {
  readonly panel: vscode.WebviewPanel;
  documentId(): string;
  /** Shows a document in place of the one before, or the same one as it is now. */
  show(document: PanelDocument): void;
  /** Shows the document as it is now, where it is seen and is not as it was. */
  refresh(): void;
  /** Hands back what the panel makes of its document, the next time that it shows one. */
  render(signal: AbortSignal): Promise<string>;
}

/** Fills a panel. Its page is gone while it is hidden, and asks for the document again when it comes back. */
export function fillPanel(
  panel: vscode.WebviewPanel,
  first: PanelDocument,
  { extensionUri, explain, log }: PanelDeps,
): DocumentPanel {
  const root = vscode.Uri.joinPath(extensionUri, 'dist', 'webview');
  const { webview } = panel;
  const address = (file: string): string => webview.asWebviewUri(vscode.Uri.joinPath(root, file)).toString();
  let document = first;
  let placesSent: ReadonlySet<number> = new Set();
  let remediesSent: readonly Remedy[] = [];
  let loads = 0;
  let sent: string | undefined;
  let rendering: Rendering | undefined;
  const endRendering = (end: (current: Rendering) => void): void => {
    const current = rendering;
    rendering = undefined;
    if (current) end(current);
  };

  const send = async (): Promise<void> => {
    sent = undefined;
    placesSent = new Set();
    remediesSent = [];
    await sendChanges();
  };
  const sendChanges = async (): Promise<void> => {
    const load = ++loads;
    const loaded = await loadMessage(document, explain, log);
    if (load !== loads || loaded === undefined) return;
    const { message, remedies } = loaded;
    const text = JSON.stringify(message);
    if (text === sent) return;
    sent = text;
    placesSent = new Set(message.type === 'show' ? message.content.places.map(({ index }) => index) : []);
    remediesSent = remedies;
    await webview.postMessage(message);
    if (rendering === undefined) return;
    if (message.type === 'show') await webview.postMessage({ type: 'render' } satisfies HostMessage);
    else endRendering(({ reject }) => reject(cancelled()));
  };

  panel.onDidDispose(() => {
    loads++;
    endRendering(({ reject }) => reject(cancelled()));
  });
  const logged = (work: Promise<void>): void => {
    work.catch((error: unknown) => log.error(`The panel of ${document.id}: ${String(error)}`));
  };
  const receive = async (received: unknown): Promise<void> => {
    const message = readWebviewMessage(received);
    switch (message?.type) {
      case 'ready':
        return send();
      case 'openPlace':
        if (placesSent.has(message.index)) return document.openPlace(message.index);
        log.warn('The report view asked for a place that it was not given.');
        return;
      case 'act':
        return doRemedy(remediesSent[message.index]);
      case 'rendered':
        if (message.documentId === document.id) endRendering(({ resolve }) => resolve(message.html));
        return;
      case undefined:
        log.warn('The report view sent a message that is not part of its protocol.');
    }
  };
  webview.onDidReceiveMessage((received: unknown) => logged(receive(received)));

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
    documentId: () => document.id,
    render: (signal) =>
      new Promise((resolve, reject) => {
        endRendering((earlier) => earlier.reject(cancelled()));
        rendering = { resolve, reject };
        signal.addEventListener('abort', () => endRendering((current) => current.reject(cancelled())), {
          once: true,
        });
      }),
    refresh() {
      if (panel.visible) logged(sendChanges());
    },
    show(next) {
      document = next;
      panel.title = next.title;
      logged(send());
    },
  };
}

interface Rendering {
  readonly resolve: (html: string) => void;
  readonly reject: (error: Error) => void;
}

function cancelled(): Error {
  return new DOMException('Cancelled', 'AbortError');
}

async function loadMessage(
  document: PanelDocument,
  explain: PanelDeps['explain'],
  log: Logger,
): Promise<{ readonly message: HostMessage; readonly remedies: readonly Remedy[] } | undefined> {
  try {
    const content = await document.load();
    const strings = reportStrings();
    return { message: { type: 'show', documentId: document.id, content, strings }, remedies: [] };
  } catch (error) {
    if (isAbortError(error)) return undefined;
    log.error(`The document ${document.id} cannot be shown: ${String(error)}`);
    const { message: text, remedies } = explain(error);
    const actions = remedies.map(({ title }) => title);
    return { message: { type: 'problem', documentId: document.id, text, actions }, remedies };
  }
}

function reportStrings(): ReportStrings {
  return {
    tableOfContents: vscode.l10n.t('Contents'),
    skipContents: vscode.l10n.t('Skip the contents'),
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
