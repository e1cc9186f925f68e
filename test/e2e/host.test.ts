import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from '@playwright/test';
import { launchBrowser } from '../host/browser.ts';
import { installExtension } from '../host/server.ts';
import { supportedVersions } from '../host/vscode.ts';

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
  // Unassigned addresses of RFC 5737 and RFC 2606.
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

test('a VSIX that VS Code does not install is an error', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'host-test-'));
  const broken = path.join(folder, 'broken.vsix');
  await writeFile(broken, 'no archive');
  const install = installExtension(supportedVersions.newest, broken, path.join(folder, 'extensions'));
  await assert.rejects(install, /did not install/);
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
});
