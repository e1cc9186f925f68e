import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import { build } from 'esbuild';
import type { Page } from '@playwright/test';
import {
  type HostMessage,
  readWebviewMessage,
  type ReportContent,
  type ReportStrings,
} from '../../src/core/report/protocol.ts';
import { documentHtml } from '../../src/core/report/documentHtml.ts';
import { toSavedHtml } from '../../src/core/report/savedHtml.ts';
import { launchBrowser, type TestBrowser } from '../host/browser.ts';

const origin = 'http://report.localhost';
const root = path.join(import.meta.dirname, '..', '..');

interface ReportBundle {
  readonly script: string;
  readonly style: string;
  readonly savedStyle: string;
}

/** Bundles the report view as it is shipped. */
async function bundleReportView(): Promise<ReportBundle> {
  const [script, style, savedStyle] = await Promise.all(
    ['main.ts', 'report.css', 'saved.css'].map(async (file) => {
      const result = await build({
        entryPoints: [path.join(root, 'webview-ui', 'report', file)],
        bundle: true,
        minify: true,
        format: 'iife',
        platform: 'browser',
        write: false,
      });
      return result.outputFiles[0]!.text;
    }),
  );
  return { script: script!, style: style!, savedStyle: savedStyle! };
}

export type ThemeName = 'light' | 'dark' | 'highContrast' | 'highContrastLight';

interface Themes extends Record<ThemeName, Theme> {
  readonly defaultStyles: string;
}

interface Theme {
  readonly bodyClass: string;
  readonly variables: Readonly<Record<string, string>>;
}

/** This page replaces VS Code's webview, and records everything forbidden to a report. */
export interface ReportPage {
  readonly page: Page;
  /** Requests other than for page, script, and stylesheet are listed. Each was refused. */
  readonly requests: readonly string[];
  /** Dialogs, new windows, navigations, page errors, and refused loads are listed. */
  readonly events: readonly string[];
  readonly post: (message: HostMessage) => Promise<void>;
  /** Shows a report and waits until all of it is on the page. */
  readonly show: (content: ShownContent) => Promise<void>;
  /** Asks for the report as a file, as the host does. */
  readonly save: () => Promise<string>;
  readonly posted: () => Promise<unknown[]>;
  /** Returns the state that the view saves for a reload. */
  readonly state: () => Promise<unknown>;
}

/** `markdown` is a document of one part. */
export type ShownContent = Partial<ReportContent> & { readonly markdown?: string };

export interface ReportPageOptions {
  readonly theme?: ThemeName;
  /** False leaves the content security policy out, so that the sanitiser stands alone. */
  readonly policy?: boolean;
  /** The webview kept this before its page was reloaded. */
  readonly state?: unknown;
}

/**
 * Opens the built report view, under the very policy that the extension gives it, with a stub of VS
 * Code's API.
 */
async function openReportPage(
  browser: TestBrowser,
  bundle: ReportBundle,
  options: ReportPageOptions = {},
): Promise<ReportPage> {
  const page = await browser.newPage();
  const requests: string[] = [];
  const events: string[] = [];
  const themes = await readThemes();
  const html = documentHtml({
    scriptUri: `${origin}/report.js`,
    styleUri: `${origin}/report.css`,
    cspSource: origin,
    nonce: 'bm9uY2U=',
    language: 'en',
  }).replace('<head>', `<head><style>${themes.defaultStyles}</style>`);
  const files = new Map([
    ['/', { contentType: 'text/html', body: options.policy === false ? withoutPolicy(html) : html }],
    ['/report.js', { contentType: 'text/javascript', body: bundle.script }],
    ['/report.css', { contentType: 'text/css', body: bundle.style }],
  ]);
  await page.route('**/*', (route) => {
    const url = new URL(route.request().url());
    const file = url.origin === origin && url.search === '' ? files.get(url.pathname) : undefined;
    if (file) return route.fulfill(file);
    requests.push(url.href);
    return route.abort();
  });
  await page.addInitScript(hostStub(themes[options.theme ?? 'dark'], options.state));
  await page.goto(`${origin}/`);
  await until(page, 'window.__posted.length > 0');

  page.on('dialog', (dialog) => {
    events.push(`dialog ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('popup', (popup) => events.push(`window ${popup.url()}`));
  page.on('framenavigated', (frame) => events.push(`navigation ${frame.url()}`));
  page.on('frameattached', () => events.push('frame'));
  page.on('pageerror', (error) => events.push(`error ${error.message}`));
  page.on('console', (message) => events.push(`console ${message.text()}`));
  page.on('download', (download) => events.push(`download ${download.url()}`));
  page.on('worker', (worker) => events.push(`worker ${worker.url()}`));

  const post = (message: HostMessage): Promise<void> =>
    page.evaluate(`window.postMessage(${JSON.stringify(message)}, '*')`);
  return {
    page,
    requests,
    events,
    post,
    async show({ markdown = '', ...content }) {
      const message: HostMessage = {
        type: 'show',
        documentId: 'run-1',
        content: { ...emptyContent, parts: [{ markdown }], ...content },
        strings: reportStrings,
      };
      await page.evaluate(`{
        document.querySelector('article')?.remove();
        window.postMessage(${JSON.stringify(message)}, '*');
        ${waitUntil(`document.querySelector('article')?.hasAttribute('aria-busy') === false`)}.then(${nextFrames})
      }`);
    },
    async save() {
      await page.evaluate('{ window.__posted.length = 0; }');
      await post({ type: 'render' });
      await until(page, 'window.__posted.length > 0');
      const [message] = await page.evaluate<unknown[]>('window.__posted');
      const rendered = readWebviewMessage(message);
      if (rendered?.type !== 'rendered') throw new Error('The view did not hand back its HTML.');
      const { savedStyle: style } = bundle;
      const html = toSavedHtml({ title: 'Report: acme-shop', language: 'en', body: rendered.html, style });
      if (html === undefined) throw new Error('What the view handed back is not inert.');
      return html;
    },
    posted: () => page.evaluate('window.__posted'),
    state: () => page.evaluate('window.__state()'),
  };
}

/**
 * The first test that runs creates the browser and the view. They are disposed after the last one.
 */
export interface ReportStage {
  withPage(options: ReportPageOptions, use: (view: ReportPage) => Promise<void>): Promise<void>;
  browser(): Promise<TestBrowser>;
  dispose(): Promise<void>;
}

export function reportStage(): ReportStage {
  let props: ReturnType<typeof setUp> | undefined;
  const setUpOnce = (): ReturnType<typeof setUp> => (props ??= setUp());
  return {
    async withPage(options, use) {
      const { browser, bundle } = await setUpOnce();
      const view = await openReportPage(browser, bundle, options);
      try {
        await use(view);
      } finally {
        await view.page.close();
      }
    },
    browser: async () => (await setUpOnce()).browser,
    async dispose() {
      if (props === undefined) return;
      const { browser, profileDir } = await props;
      await browser.dispose();
      await rm(profileDir, { recursive: true, force: true });
    },
  };
}

async function setUp(): Promise<{ browser: TestBrowser; bundle: ReportBundle; profileDir: string }> {
  const profileDir = await mkdtemp(path.join(tmpdir(), 'report-view-'));
  const [browser, bundle] = await Promise.all([launchBrowser({ profileDir }), bundleReportView()]);
  return { browser, bundle, profileDir };
}

/** Waits until an expression is true in the page, also where the page's policy forbids `eval`. */
export async function until(page: Page, expression: string): Promise<void> {
  await page.evaluate(waitUntil(expression));
}

/** Finds no violation, and nothing wider than the window. */
export async function assertAccessible(page: Page, width: number): Promise<void> {
  assert.deepEqual((await new AxeBuilder({ page }).analyze()).violations, [], `${width} px wide`);
  assert.equal(await page.evaluate('document.scrollingElement.scrollWidth'), width);
}

export async function styleOf(page: Page, selector: string, property: string): Promise<string> {
  return page.evaluate(`getComputedStyle(document.querySelector('${selector}'))['${property}']`);
}

function waitUntil(expression: string): string {
  return `new Promise((done) => {
    const look = () => (${expression}) ? done() : setTimeout(look, 2);
    look();
  })`;
}

/** Content with `content-visibility` has its text only two frames after it is visible. */
const nextFrames = '() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))';

/** An English user sees these words of the view. */
export const reportStrings: ReportStrings = {
  tableOfContents: 'Contents',
  skipContents: 'Skip the table of contents',
  findingsBySeverity: 'Findings by severity',
  copy: 'Copy',
  copied: 'Copied',
  copyFailed: 'The text is selected. Press your copy shortcut.',
  openInEditor: 'Open in Editor',
  done: 'Done',
  notDone: 'Not done',
  code: 'Code',
  table: 'Table',
  alerts: { note: 'Note', tip: 'Tip', important: 'Important', warning: 'Warning', caution: 'Caution' },
};

const emptyContent: ReportContent = {
  parts: [],
  title: 'Report',
  facts: [],
  severities: [],
  locations: [],
  language: 'en',
};

function withoutPolicy(html: string): string {
  return html.replace(/<meta http-equiv[^>]*>/, '');
}

async function readThemes(): Promise<Themes> {
  const file = path.join(root, 'test', 'fixtures', 'report', 'themes.json');
  return JSON.parse(await readFile(file, 'utf8')) as Themes;
}

/**
 * Runs in the page before anything else: VS Code's API, and its theme as custom properties of the
 * root element.
 */
function hostStub(theme: Theme, state: unknown): string {
  return `{
    const theme = ${JSON.stringify(theme)};
    let kept = ${state === undefined ? 'undefined' : JSON.stringify(state)};
    window.__posted = [];
    window.__state = () => kept;
    window.acquireVsCodeApi = () => ({
      postMessage: (message) => {
        window.__readyMs ??= performance.now();
        window.__posted.push(message);
      },
      getState: () => kept,
      setState: (next) => (kept = next),
    });
    document.addEventListener('securitypolicyviolation', (event) => console.warn('refused ' + event.violatedDirective));
    document.addEventListener('DOMContentLoaded', () => {
      for (const [name, value] of Object.entries(theme.variables)) document.documentElement.style.setProperty(name, value);
      document.body.className = theme.bodyClass;
    });
  }`;
}
