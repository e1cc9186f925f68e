import {
  readHostMessage,
  readWebviewState,
  type ProblemMessage,
  type ShowMessage,
  type WebviewMessage,
  type WebviewState,
} from '../../src/core/report/protocol.ts';
import { copyCode } from './codeBlocks.ts';
import { findJumpTargets, goTo } from './contents.ts';
import { element } from './element.ts';
import { type Position, showReport, type ShownReport } from './report.ts';
import { createSanitizer } from './render.ts';

declare function acquireVsCodeApi(): {
  postMessage(message: WebviewMessage): void;
  getState(): unknown;
  setState(state: WebviewState): void;
};

declare global {
  interface Window {
    /** This function isn't standard, so the DOM's types lack it. */
    find(...options: unknown[]): boolean;
  }
}

interface Shown {
  readonly report: ShownReport;
  readonly message: ShowMessage;
}

const scrollIdleMs = 150;

const vscode = acquireVsCodeApi();
const sanitizer = createSanitizer(window);
const root = element('div', { class: 'page' });
const status = element('p', { class: 'status', role: 'status' });
let shown: Shown | undefined;

function show(message: ShowMessage): void {
  const position =
    shown?.message.documentId === message.documentId
      ? shown.report.position()
      : savedPosition(message.documentId);
  clear();
  shown = { report: showReport(root, message, sanitizer, position), message };
  vscode.setState({ documentId: message.documentId, ...position });
}

function showProblem({ documentId, text, actions }: ProblemMessage): void {
  clear();
  const buttons = actions.map((action, index) => {
    const button = element('button', { type: 'button' }, action);
    button.addEventListener('click', () => vscode.postMessage({ type: 'act', index }));
    return button;
  });
  root.replaceChildren(
    element('main', { class: 'problem' }, element('p', { role: 'alert' }, text), ...buttons),
  );
  vscode.setState({ documentId });
}

function clear(): void {
  shown?.report.dispose();
  shown = undefined;
}

function savedPosition(documentId: string): Position | undefined {
  const { documentId: savedId, section, offsetPx } = readWebviewState(vscode.getState()) ?? {};
  if (savedId !== documentId || section === undefined || offsetPx === undefined) return undefined;
  return { section, offsetPx };
}

async function sendHtml({ report, message: { documentId } }: Shown): Promise<void> {
  vscode.postMessage({ type: 'rendered', documentId, html: await report.html() });
}

async function onClick(target: Element): Promise<void> {
  const location = target.closest<HTMLElement>('[data-location]');
  const jump = target.closest<HTMLElement>('[data-jump]');
  const copy = target.closest<HTMLElement>('button.copy');
  if (location) {
    vscode.postMessage({ type: 'openLocation', index: Number(location.dataset['location']) });
  } else if (jump) {
    const found = findJumpTargets(root)(jump.dataset['jump'] ?? '');
    if (found) goTo(found);
  } else if (copy && shown) {
    status.textContent = '';
    status.textContent = await copyCode(copy, shown.message.strings);
  }
}

document.body.append(root, status);

root.addEventListener('click', (event) => {
  if (event.target instanceof Element) void onClick(event.target);
});

root.addEventListener('keydown', (event) => {
  const { target } = event;
  if (!(target instanceof HTMLAnchorElement)) return;
  if (event.key !== 'Enter' && !(event.key === ' ' && target.role === 'button')) return;
  event.preventDefault();
  target.click();
});

let settling: ReturnType<typeof setTimeout> | undefined;
window.addEventListener('scroll', () => {
  clearTimeout(settling);
  settling = setTimeout(() => {
    if (shown) vscode.setState({ documentId: shown.message.documentId, ...shown.report.position() });
  }, scrollIdleMs);
});

window.addEventListener('message', ({ data }) => {
  const message = readHostMessage(data);
  if (message?.type === 'show') show(message);
  if (message?.type === 'render' && shown) void sendHtml(shown);
  if (message?.type === 'problem') showProblem(message);
});

// VS Code in a browser searches with this function, which skips sections without a layout
// (content-visibility). The desktop's search does not.
const find = window.find.bind(window);
window.find = (...options) => {
  root.classList.add('laid-out');
  return find(...options);
};

vscode.postMessage({ type: 'ready' });
