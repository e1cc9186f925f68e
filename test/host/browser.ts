import { createHash } from 'node:crypto';
import { chromium, type BrowserContext, type Page } from '@playwright/test';
import { prepareBrowser } from './chromium.ts';

export interface BrowserOptions {
  /** The browser's profile has the secrets and state of extensions. */
  readonly profileDir: string;
  /**
   * Extensions see this display language. VS Code's own texts stay English without a language pack.
   */
  readonly language?: 'en' | 'ja';
  /** The size is in CSS pixels, by default 1280 by 800. */
  readonly viewport?: { readonly width: number; readonly height: number };
}

export interface TestBrowser {
  readonly context: BrowserContext;
  /** Pages requested these URLs outside this machine. Each was refused. */
  readonly blockedRequests: readonly string[];
  newPage(): Promise<Page>;
  dispose(): Promise<void>;
}

/** Starts a browser for the VS Code workbench with a persistent profile. */
export async function launchBrowser(options: BrowserOptions): Promise<TestBrowser> {
  const blockedRequests: string[] = [];
  const language = options.language ?? 'en';
  const context = await chromium.launchPersistentContext(options.profileDir, {
    ...(await prepareBrowser()),
    viewport: options.viewport ?? { width: 1280, height: 800 },
    locale: language === 'ja' ? 'ja-JP' : 'en-US',
    args: switches,
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  await context.route(
    (url) => !isLoopback(url),
    (route) => {
      blockedRequests.push(route.request().url());
      return route.abort('blockedbyclient');
    },
  );
  // WebSockets are only watched: Playwright's routeWebSocket puts its own WebSocket into every
  // page, which sometimes damages messages of the workbench's connection. The resolver rules below
  // keep sockets on this machine.
  context.on('page', (page) => {
    page.on('websocket', (socket) => {
      if (!isLoopback(new URL(socket.url()))) blockedRequests.push(socket.url());
    });
  });
  // SecretStorage encrypts with a key from this URL. A profile must get the same key in its next
  // window.
  const key = createHash('sha256').update(options.profileDir).digest();
  await context.route('**/mint-key', (route) =>
    route.fulfill({ body: key, contentType: 'application/octet-stream' }),
  );
  // The workbench passes this on to extension hosts as the display language (vscode.env.language,
  // package.nls, l10n).
  if (language !== 'en')
    await context.addInitScript(`globalThis._VSCODE_NLS_LANGUAGE = ${JSON.stringify(language)};`);
  return {
    context,
    blockedRequests,
    newPage: () => context.newPage(),
    dispose: async () => {
      // Leaving a page ends its extension host; closing the browser leaves it waiting for a
      // reconnection.
      for (const page of context.pages()) await page.goto('about:blank');
      await context.close();
    },
  };
}

const switches: string[] = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // This covers requests outside Playwright, such as sockets and service workers: no other host
  // resolves.
  '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE localhost , EXCLUDE 127.0.0.1',
];

function isLoopback(url: URL): boolean {
  if (!/^(https?|wss?):$/u.test(url.protocol)) return true;
  return /^(127(\.\d+){3}|localhost|.*\.localhost|\[::1\])$/u.test(url.hostname);
}
