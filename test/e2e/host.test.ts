import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from '@playwright/test';
import { createVSIX } from '@vscode/vsce';
import { launchBrowser, type BrowserOptions, type TestBrowser } from '../host/browser.ts';
import { installExtension, startVsCode, type VsCodeServer } from '../host/server.ts';
import { supportedVersions } from '../host/vscode.ts';
import { openWorkbench, type Workbench } from '../host/workbench.ts';
import { eventually } from '../host/workbench/eventually.ts';
import { scroll, visitRows } from '../host/workbench/lists.ts';
import type { PageElement } from '../host/workbench/pageElement.ts';

test('package.json accepts exactly the VS Code versions from the oldest tested one', async () => {
  const manifest = JSON.parse(
    await readFile(path.resolve(import.meta.dirname, '../../package.json'), 'utf8'),
  ) as {
    engines: { vscode: string };
  };
  const [major, minor] = supportedVersions.oldest.split('.');
  assert.equal(manifest.engines.vscode, `^${major}.${minor}.0`);
});

test('a page cannot reach the network, and its attempts are recorded', async () => {
  const profileDir = await mkdtemp(path.join(tmpdir(), 'host-test-'));
  const browser = await launchBrowser({ profileDir });
  const page = await browser.newPage();
  // Addresses from RFC 5737 and RFC 2606, which belong to nobody.
  const addresses = ['http://192.0.2.1/', 'https://example.com/', 'ws://192.0.2.2/', 'wss://example.org/'];
  const opened = await page.evaluate(
    `Promise.all(${JSON.stringify(addresses)}.map((url) => url.startsWith('http')
      ? fetch(url).then(() => url, () => undefined)
      : new Promise((resolve) => {
          const socket = new WebSocket(url);
          socket.onopen = () => resolve(url);
          socket.onerror = () => resolve(undefined);
        })))`,
  );
  assert.deepEqual(opened, [undefined, undefined, undefined, undefined]);
  assert.deepEqual([...browser.blockedRequests].sort(), [...addresses].sort());
  await browser.dispose();
  await rm(profileDir, { recursive: true, force: true, maxRetries: 3 });
});

const fixture = path.resolve(import.meta.dirname, '../fixtures/host-extension');

const version = supportedVersions.newest;

test.describe('the test host', () => {
  test.describe.configure({ mode: 'serial' });
  let scratch: string;
  let folder: string;
  let server: VsCodeServer;
  let browser: TestBrowser;
  let workbench: Workbench;

  const open = async (options: Partial<BrowserOptions> = {}): Promise<void> => {
    browser = await launchBrowser({ profileDir: path.join(scratch, 'profile'), ...options });
    workbench = await openWorkbench(await browser.newPage(), server.urlFor({ folder }));
  };

  test.beforeAll(async () => {
    scratch = await mkdtemp(path.join(tmpdir(), 'host-test-'));
    folder = path.join(scratch, 'workspace');
    const vsix = path.join(scratch, 'fixture.vsix');
    await mkdir(path.join(folder, 'sub'), { recursive: true });
    await writeFile(path.join(folder, 'a.ts'), '// one\nconst two = 2; // 二\nconst three = 3;\n');
    await writeFile(path.join(folder, 'sub', 'b.ts'), '// b\n');
    await createVSIX({
      cwd: fixture,
      packagePath: vsix,
      dependencies: false,
      allowMissingRepository: true,
      skipLicense: true,
    });
    const env = { SMOKE_WORD: 'passed-on' };
    await installExtension(version, vsix, path.join(scratch, 'data', 'extensions'));
    server = await startVsCode({ version, dataDir: path.join(scratch, 'data'), env });
    await open();
  });

  test.afterAll(async () => {
    await browser.dispose();
    await server.dispose();
    await rm(scratch, { recursive: true, force: true, maxRetries: 3 });
  });

  test('a folder opens in Restricted Mode and can be trusted', async () => {
    await workbench.restrictedMode();
    await workbench.screenshot(`host-restricted.png`);
    await workbench.trustWorkspace();
  });

  test('an input box shows its prompt, rejects and accepts input; a notification shows buttons', async () => {
    await workbench.runCommand('Smoke: Greet');
    const asked = await workbench.currentQuickInput();
    assert.equal(asked.title, 'Greeting');
    assert.equal(asked.placeholder, 'a name');
    assert.equal(asked.value, 'nobody');
    assert.match(asked.message, /What is your name\?/u);
    assert.equal(asked.isMasked, false);
    await workbench.answer('x');
    const refused = await workbench.currentQuickInput();
    assert.equal(refused.message, 'Too short.');
    assert.equal(refused.isRefused, true);
    await workbench.answer('Bo', 'Greeting');
    assert.deepEqual(await workbench.notification('Hello Bo'), {
      severity: 'info',
      message: 'Hello Bo',
      source: 'Source: Host Smoke (invented, for testing the test host only)',
      buttons: ['Wave', 'Nod'],
    });
    await workbench.notificationButton('Hello Bo', 'Wave');
    assert.equal((await workbench.notification('You chose Wave.')).severity, 'warning');
    await workbench.dismissNotifications();
    assert.deepEqual(await workbench.notifications(), []);
  });

  test('a quick pick lists items and accepts several of them', async () => {
    await workbench.runCommand('Smoke: Choose Fruits');
    const shown = await workbench.currentQuickInput();
    assert.deepEqual(shown.items, [
      { label: 'Apple', description: 'red', detail: 'from a tree', isChecked: false },
      { label: 'Banana', description: 'yellow', detail: '', isChecked: false },
      { label: 'Cherry', description: '', detail: '', isChecked: true },
    ]);
    await workbench.pickSeveral(['Apple', 'Banana']);
    await workbench.notification('Fruits: Apple, Banana');
  });

  test('a modal dialog is read and answered', async () => {
    await workbench.runCommand('Smoke: Confirm');
    const dialog = await workbench.dialogText();
    assert.equal(dialog.message, 'Really?');
    assert.equal(dialog.detail, 'This cannot be undone.');
    assert.deepEqual([...dialog.buttons].sort(), ['Cancel', 'Go Ahead', 'Think First']);
    await workbench.screenshot(`host-dialog.png`);
    await workbench.dialogButton('Go Ahead');
    await workbench.notification('Answer: Go Ahead');
    const messages = (await workbench.notifications()).map(({ message }) => message);
    assert.deepEqual(messages, ['Answer: Go Ahead', 'Fruits: Apple, Banana']);
  });

  test('a tree is expanded and read, and a click on a row goes to a place', async () => {
    await workbench.openView('Smoke Container');
    await workbench.expandAll('Animals');
    const rows = (await workbench.treeRows('Animals')).map(({ level, label, description }) => [
      level,
      label,
      description,
    ]);
    assert.deepEqual(rows.slice(0, 6), [
      [1, 'Birds', '2 kinds'],
      [2, 'Heron', 'one kind'],
      [2, 'Wren', 'one kind'],
      [1, 'Mammals', '1 kinds'],
      [2, 'Otter', 'one kind'],
      [1, 'Fish', '60 kinds'],
    ]);
    assert.deepEqual(
      rows.slice(6).map(([, label]) => label),
      Array.from({ length: 60 }, (_, index) => `Fish ${index + 1}`),
    );
    await workbench.treeRowClick('Animals', 'Fish 60');
    assert.equal((await workbench.treeRows('Animals'))[0]?.ariaLabel, 'Birds, spoken');
    assert.equal(await workbench.containerBadge('Smoke Container'), '3');
    assert.match(await workbench.viewText('Nothing Here'), /Nothing yet\./u);
    await workbench.treeRowClick('Animals', 'Wren');
    const editor = await eventually(workbench.editor, (found) => found.line !== undefined);
    assert.deepEqual(editor, { title: 'a.ts', isDirty: false, line: 3, column: 10 });
  });

  test('a list longer than its view is read from the top, and a partly hidden row is scrolled into view before a click', async () => {
    const { page } = workbench;
    await workbench.openView('Smoke Container');
    const list = page.locator('.pane-body [role="tree"]').first();
    const rows = list.locator('.monaco-list-rows .monaco-list-row');
    const firsts: number[] = [];
    await visitRows(page, list, async (shown) => {
      const indices = await shown.evaluateAll((all) =>
        all.map((row: PageElement) => Number(row.getAttribute('data-index'))),
      );
      firsts.push(Math.min(...indices));
      return false;
    });
    assert.equal(firsts[0], 0);
    assert.ok(firsts.length > 1);
    assert.deepEqual(
      firsts,
      firsts.toSorted((a, b) => a - b),
    );

    for (const label of ['Fish 30', 'Fish 20']) {
      await workbench.treeRowClick('Animals', label);
      const row = rows.filter({ has: page.getByText(label, { exact: true }) });
      const { y: top, height } = (await list.boundingBox())!;
      for (const edge of [top, top + height]) {
        await scroll(page, list, Math.round((await row.boundingBox())!.y + 11 - edge));
        const middle = (await row.boundingBox())!.y + 11;
        assert.ok(Math.abs(middle - edge) <= 2, `the middle of ${label} is at ${middle}, not at ${edge}`);
        await workbench.treeRowClick('Animals', label);
        await row.and(page.locator('.selected')).waitFor();
      }
    }
  });

  test('the Problems panel is read row by row', async () => {
    await workbench.runCommand('Smoke: Diagnose');
    const problems = await eventually(workbench.problems, (found) => found.length === 3);
    const own = { source: 'Smoke', column: 1 };
    const a = { ...own, file: 'a.ts', path: path.join(folder, 'a.ts') };
    const b = { ...own, file: 'b.ts', path: path.join(folder, 'sub/b.ts') };
    assert.deepEqual(problems, [
      { ...a, severity: 'error', message: 'Bad thing', code: 'S1', line: 2 },
      { ...a, severity: 'warning', message: 'Odd thing\nsecond line', code: 'S2', line: 3 },
      { ...b, severity: 'info', message: 'Note', code: '', line: 1 },
    ]);
    await workbench.screenshot(`host-problems.png`);
    await workbench.openProblem('Bad thing');
    await eventually(workbench.editor, (found) => found.title === 'a.ts' && found.line === 2);
  });

  test('a webview is read and used', async () => {
    await workbench.runCommand('Smoke: Show Report');
    const frame = await workbench.webviewFrame('Smoke Report');
    await frame.getByRole('button', { name: 'press' }).click();
    await frame.getByText('pressed').waitFor();
    await workbench.screenshot(`host-webview.png`);
    assert.equal((await workbench.editor()).title, 'Smoke Report');
  });

  test('the status bar item is read and clicked', async () => {
    const item = workbench.statusBarItem('smoke.status');
    assert.equal((await item.innerText()).trim(), 'Smoke ready');
    await item.click();
    assert.equal((await workbench.currentQuickInput()).title, 'Greeting');
    await workbench.dismissQuickInput();
  });

  test('a file watcher sees a file that is created on disk', async () => {
    await workbench.runCommand('Smoke: Watch File');
    await workbench.notification('Watching');
    await writeFile(path.join(folder, 'watched.txt'), '');
    await workbench.notification('watched.txt appeared');
  });

  test('secrets and trust survive closing the window, and the display language can be Japanese', async () => {
    await workbench.runCommand('Smoke: Store Secret');
    await workbench.notification('Secret before: undefined');
    await browser.dispose();
    await open({ language: 'ja' });
    await workbench.runCommand('Smoke: Store Secret');
    await workbench.notification('Secret before: kept');
    await workbench.runCommand('Smoke: Show Environment');
    await workbench.notification('language=ja word=passed-on');
    await workbench.runCommand('Smoke: あいさつする');
    await workbench.answer('花子', 'Greeting');
    await workbench.notification('花子さん、こんにちは');
    await workbench.screenshot(`host-japanese.png`);
  });

  test('no page requested anything outside this machine', () => {
    assert.deepEqual(browser.blockedRequests, []);
  });
});
