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
import { reportHtml } from './reportHtml.ts';

/** View type of the report's panels, in the manifest's `onWebviewPanel` activation and in tests. */
export const reportViewType = 'whitebox.report';

/** A run whose report can be shown. */
export interface ReportRun {
  readonly id: string;
  /** Title of the panel. */
  readonly title: string;
  /** Reads the report; called whenever the panel becomes visible. Rejects with an error that `explain` can put in words. */
  load(): Promise<ReportContent>;
  /** Shows the code of a finding; `index` is one that `load` gave out in `places`. Reports its own errors. */
  openPlace(index: number): Promise<void>;
}

/** What the report's panels need. */
export interface ReportPanelDeps {
  readonly extensionUri: vscode.Uri;
  /** Finds a run by the id that a panel kept across a reload of the window. */
  readonly findRun: (id: string) => Promise<ReportRun | undefined>;
  /** A sentence in the user's language for an error. */
  readonly explain: (error: unknown) => string;
  readonly log: Logger;
}

/** The open reports: one panel per run. */
export interface ReportPanels extends Disposable {
  /** Shows a run's report, in the panel that it already has or in a new one. */
  open(run: ReportRun): void;
}

/** Registers the report's panels: opening, restoring after a reload of the window, and letting go. */
export function registerReportPanels(deps: ReportPanelDeps): ReportPanels {
  const open = new Map<string, ShownPanel>();

  const show = (panel: vscode.WebviewPanel, run: ReportRun): void => {
    const shown = showRun(panel, run, deps);
    open.set(run.id, shown);
    panel.onDidDispose(() => {
      if (open.get(run.id) === shown) open.delete(run.id);
    });
  };

  const serializer = vscode.window.registerWebviewPanelSerializer(reportViewType, {
    async deserializeWebviewPanel(panel, state) {
      const runId = readWebviewState(state)?.runId;
      const run = runId === undefined ? undefined : await deps.findRun(runId);
      if (run === undefined || open.has(run.id)) panel.dispose();
      else show(panel, run);
    },
  });

  return {
    open(run) {
      const existing = open.get(run.id);
      if (existing) {
        existing.panel.reveal();
        existing.send();
        return;
      }
      show(
        vscode.window.createWebviewPanel(reportViewType, run.title, vscode.ViewColumn.Active, {
          enableFindWidget: true,
        }),
        run,
      );
    },
    dispose() {
      serializer.dispose();
      for (const { panel } of [...open.values()]) panel.dispose();
    },
  };
}

interface ShownPanel {
  readonly panel: vscode.WebviewPanel;
  send(): void;
}

/** Fills a panel. Its page is gone while it is hidden, and asks for the report again when it comes back. */
function showRun(
  panel: vscode.WebviewPanel,
  run: ReportRun,
  { extensionUri, explain, log }: ReportPanelDeps,
): ShownPanel {
  const root = vscode.Uri.joinPath(extensionUri, 'dist', 'webview');
  const { webview } = panel;
  const address = (file: string): string => webview.asWebviewUri(vscode.Uri.joinPath(root, file)).toString();
  let placesSent: ReadonlySet<number> = new Set();
  let loads = 0;

  const send = async (): Promise<void> => {
    const load = ++loads;
    const message = await loadMessage(run, explain, log);
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
        if (placesSent.has(message.index)) return run.openPlace(message.index);
        log.warn('The report view asked for a place that it was not given.');
        return;
      case undefined:
        log.warn('The report view sent a message that is not part of its protocol.');
    }
  });

  panel.title = run.title;
  panel.iconPath = new vscode.ThemeIcon('shield');
  webview.options = { enableScripts: true, localResourceRoots: [root] };
  webview.html = reportHtml({
    scriptUri: address('report.js'),
    styleUri: address('report.css'),
    cspSource: webview.cspSource,
    nonce: randomBytes(16).toString('base64'),
    language: vscode.env.language,
  });
  return { panel, send: () => void send() };
}

async function loadMessage(
  run: ReportRun,
  explain: ReportPanelDeps['explain'],
  log: Logger,
): Promise<HostMessage | undefined> {
  try {
    return { type: 'show', runId: run.id, content: await run.load(), strings: reportStrings() };
  } catch (error) {
    if (isAbortError(error)) return undefined;
    log.error(`The report of run ${run.id} cannot be shown: ${String(error)}`);
    return { type: 'problem', runId: run.id, text: explain(error) };
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
