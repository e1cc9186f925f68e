import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import { isAbortError } from '../../core/errors.ts';
import type { Disposable, Logger } from '../../core/ports.ts';
import {
  type HostMessage,
  readWebviewMessage,
  readWebviewState,
  type ReportContent,
  type ReportStrings,
} from '../../core/report/protocol.ts';
import { describeError } from '../errors/errorMessages.ts';
import type { Attempt } from '../errors/errorActions.ts';
import { documentHtml } from '../../core/report/documentHtml.ts';
import { type MessageAction, runAction } from '../showMessage.ts';

const t = vscode.l10n.t;

/** A document is untrusted Markdown with a summary and links to code. */
export interface PanelDocument {
  /** The panel keeps the ID across a reload of the window. */
  readonly id: string;
  readonly title: string;
  load(): Promise<ReportContent>;
  /** `index` is one of the `locations` that `load` returned. */
  openLocation?(index: number): Promise<void>;
}

export interface PanelDeps {
  readonly extensionUri: vscode.Uri;
  readonly attempt: Attempt;
  readonly log: Logger;
}

interface DocumentPanelsDeps<T> extends PanelDeps {
  /** The manifest's `onWebviewPanel` activation names this type, too. */
  readonly viewType: string;
  /** With `oneBeside`, all documents share one panel, which opens beside the code. */
  readonly panels: 'onePerDocument' | 'oneBeside';
  readonly load: () => Promise<unknown>;
  readonly find: (id: string) => T | undefined;
  readonly toDocument: (source: T) => PanelDocument;
  /** Without an `id`, any document may have changed. */
  readonly onDidChange: (refresh: (id?: string) => void) => Disposable;
}

/**
 * VS Code restores open panels after a reload of the window. A panel gets its document as a message
 * when it becomes visible. Its messages name locations and actions by index, never by path or
 * command.
 */
export class DocumentPanels<T> implements Disposable {
  readonly #deps: DocumentPanelsDeps<T>;
  readonly #open = new Map<string, DocumentPanel>();
  readonly #subscriptions: vscode.Disposable;

  constructor(deps: DocumentPanelsDeps<T>) {
    this.#deps = deps;
    const serializer = vscode.window.registerWebviewPanelSerializer(deps.viewType, {
      deserializeWebviewPanel: async (panel, state) => {
        await deps.load();
        const source = deps.find(readWebviewState(state)?.documentId ?? '');
        const document = source && deps.toDocument(source);
        if (document === undefined || this.#open.has(this.#keyOf(document))) panel.dispose();
        else this.#fill(panel, document);
      },
    });
    const changes = deps.onDidChange((id) => {
      for (const shown of this.#open.values())
        if (id === undefined || shown.documentId === id) shown.refresh();
    });
    this.#subscriptions = vscode.Disposable.from(serializer, changes);
  }

  open(source: T): DocumentPanel {
    const { toDocument, panels, viewType } = this.#deps;
    const document = toDocument(source);
    const existing = this.#open.get(this.#keyOf(document));
    if (existing) {
      existing.panel.reveal(undefined, panels === 'oneBeside');
      existing.show(document);
      return existing;
    }
    const showOptions =
      panels === 'oneBeside'
        ? { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true }
        : vscode.ViewColumn.Active;
    const panel = vscode.window.createWebviewPanel(viewType, document.title, showOptions, {
      enableFindWidget: true,
    });
    return this.#fill(panel, document);
  }

  active(): T | undefined {
    const active = [...this.#open.values()].find(({ panel }) => panel.active);
    return active && this.#deps.find(active.documentId);
  }

  dispose(): void {
    this.#subscriptions.dispose();
    for (const { panel } of [...this.#open.values()]) panel.dispose();
  }

  #keyOf({ id }: PanelDocument): string {
    return this.#deps.panels === 'oneBeside' ? '' : id;
  }

  #fill(panel: vscode.WebviewPanel, document: PanelDocument): DocumentPanel {
    const key = this.#keyOf(document);
    const shown = new DocumentPanel(panel, document, this.#deps);
    this.#open.set(key, shown);
    panel.onDidDispose(() => {
      if (this.#open.get(key) === shown) this.#open.delete(key);
    });
    return shown;
  }
}

interface Sent {
  readonly text: string;
  readonly locations: ReadonlySet<number>;
  readonly actions: readonly MessageAction[];
}

/** VS Code discards the page of a hidden panel. A new page asks for the document again. */
export class DocumentPanel {
  readonly panel: vscode.WebviewPanel;
  readonly #deps: PanelDeps;
  #document: PanelDocument;
  #loads = 0;
  #sent: Sent | undefined;
  #rendering: PromiseWithResolvers<string> | undefined;

  constructor(panel: vscode.WebviewPanel, document: PanelDocument, deps: PanelDeps) {
    this.panel = panel;
    this.#document = document;
    this.#deps = deps;
    const { webview } = panel;
    const root = vscode.Uri.joinPath(deps.extensionUri, 'dist', 'webview');
    const uriOf = (file: string): string => webview.asWebviewUri(vscode.Uri.joinPath(root, file)).toString();
    panel.onDidDispose(() => {
      this.#loads++;
      this.#endRendering(undefined);
    });
    webview.onDidReceiveMessage((received: unknown) => this.#logged(this.#receive(received)));
    panel.title = document.title;
    panel.iconPath = new vscode.ThemeIcon('shield');
    webview.options = { enableScripts: true, localResourceRoots: [root] };
    webview.html = documentHtml({
      scriptUri: uriOf('report.js'),
      styleUri: uriOf('report.css'),
      cspSource: webview.cspSource,
      nonce: randomBytes(16).toString('base64'),
      language: vscode.env.language,
    });
  }

  get documentId(): string {
    return this.#document.id;
  }

  show(document: PanelDocument): void {
    this.#document = document;
    this.panel.title = document.title;
    this.#logged(this.#send());
  }

  refresh(): void {
    if (this.panel.visible) this.#logged(this.#sendIfChanged());
  }

  /** Returns the untrusted HTML that the page makes when it next shows a document. */
  render(signal: AbortSignal): Promise<string> {
    this.#endRendering(undefined);
    const rendering = Promise.withResolvers<string>();
    this.#rendering = rendering;
    signal.addEventListener(
      'abort',
      () => {
        if (this.#rendering === rendering) this.#endRendering(undefined);
      },
      { once: true },
    );
    return rendering.promise;
  }

  async #send(): Promise<void> {
    this.#sent = undefined;
    await this.#sendIfChanged();
  }

  async #sendIfChanged(): Promise<void> {
    const load = ++this.#loads;
    const loaded = await this.#load();
    if (load !== this.#loads || loaded === undefined) return;
    const { message, actions } = loaded;
    const text = JSON.stringify(message);
    if (text === this.#sent?.text) return;
    const locations = message.type === 'show' ? message.content.locations.map(({ index }) => index) : [];
    this.#sent = { text, locations: new Set(locations), actions };
    const { webview } = this.panel;
    await webview.postMessage(message);
    if (this.#rendering === undefined) return;
    if (message.type === 'show') await webview.postMessage({ type: 'render' } satisfies HostMessage);
    else this.#endRendering(undefined);
  }

  async #load(): Promise<{ message: HostMessage; actions: readonly MessageAction[] } | undefined> {
    const document = this.#document;
    const documentId = document.id;
    try {
      const content = await document.load();
      return { message: { type: 'show', documentId, content, strings: reportStrings() }, actions: [] };
    } catch (error) {
      if (isAbortError(error)) return undefined;
      this.#deps.log.error(`The document ${documentId} cannot be shown: ${String(error)}`);
      const { message: text, actions } = describeError(error);
      const titles = actions.map(({ title }) => title);
      return { message: { type: 'problem', documentId, text, actions: titles }, actions };
    }
  }

  async #receive(received: unknown): Promise<void> {
    const { log } = this.#deps;
    const message = readWebviewMessage(received);
    switch (message?.type) {
      case 'ready':
        return this.#send();
      case 'openLocation':
        if (this.#sent?.locations.has(message.index) !== true)
          log.warn('The report view asked for a location that it was not given.');
        else
          await this.#deps.attempt('whitebox.openReport', async () =>
            this.#document.openLocation?.(message.index),
          );
        return;
      case 'act': {
        const action = this.#sent?.actions[message.index];
        return action && runAction(action);
      }
      case 'rendered':
        if (message.documentId === this.documentId) this.#endRendering(message.html);
        return;
      case undefined:
        log.warn('The report view sent a message that is not part of its protocol.');
    }
  }

  #endRendering(html: string | undefined): void {
    const rendering = this.#rendering;
    this.#rendering = undefined;
    if (html === undefined) rendering?.reject(new DOMException('Cancelled', 'AbortError'));
    else rendering?.resolve(html);
  }

  #logged(work: Promise<void>): void {
    work.catch((error: unknown) => this.#deps.log.error(`The panel of ${this.documentId}: ${String(error)}`));
  }
}

function reportStrings(): ReportStrings {
  return {
    tableOfContents: t('Contents'),
    skipContents: t('Skip the table of contents'),
    findingsBySeverity: t('Findings by severity'),
    copy: t('Copy'),
    copied: t('Copied'),
    copyFailed: t('The text is selected. Press your copy shortcut.'),
    openInEditor: t('Open in Editor'),
    done: t('Done'),
    notDone: t('Not done'),
    code: t('Code'),
    table: t('Table'),
    alerts: {
      note: t({ message: 'Note', comment: ['the heading of a remark in a report'] }),
      tip: t('Tip'),
      important: t('Important'),
      warning: t('Warning'),
      caution: t('Caution'),
    },
  };
}
