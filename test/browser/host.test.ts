import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from '@playwright/test';
import { launchBrowser } from '../host/browser.ts';
import { installExtension } from '../host/server.ts';
import { supportedVersions } from '../host/vscode.ts';

test('a page cannot reach the network, and its attempts are recorded', async () => {
  const profileDir = await mkdtemp(path.join(tmpdir(), 'host-test-'));
  const browser = await launchBrowser({ profileDir });
  const page = await browser.newPage();
  // RFC 5737 and RFC 2606 leave these addresses unassigned.
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
