import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { signedIn, startAssessment, type Stage } from './stage.ts';
import { test } from './fixtures.ts';

test.describe.configure({ mode: 'serial' });
test.use({ stageOptions: { service: { runDurationMs: 3_600_000 }, settings: signedIn } });

test.beforeAll(async ({ stage, service }) => {
  const workbench = await stage.openWindow();
  for (const index of [0, 1]) {
    await startAssessment(stage);
    await service.finishRun(service.runs()[index]!.id);
    await workbench.runCommand('Whitebox: Check Run Status Now');
    await workbench.notification('The assessment of shop has finished');
    await workbench.dismissNotifications();
  }
});

const save = async (stage: Stage, how: string, ending: string): Promise<string> => {
  const workbench = stage.workbench();
  const file = path.join(path.dirname(stage.folder), `shop-report.${ending}`);
  await workbench.runCommand('Whitebox: Save Report…');
  await workbench.pick(how);
  await workbench.saveAs(file);
  await workbench.notification(`The report was saved to ${file}.`);
  await workbench.dismissNotifications();
  return readFile(file, 'utf8');
};

test('a report lists what is new since the previous run', async ({ workbench }) => {
  await workbench.runCommand('Whitebox: Open Report');
  const report = await workbench.webviewFrame('Report: shop');
  const changes = report.getByRole('table', { name: /^Since the run from / }).getByRole('row');
  await changes.first().waitFor();
  assert.deepEqual(
    (await changes.allInnerTexts()).map((text) => text.trim().split(/\s+/)),
    [
      ['New', '0'],
      ['Still', 'present', '12'],
    ],
  );
});

test('a report is saved as the Markdown that the service sent', async ({ stage }) => {
  assert.match(await save(stage, 'Markdown', 'md'), /^# Whitebox Assessment Report\n/);
});

test('a report is saved as one inert HTML file from its view', async ({ stage, workbench }) => {
  const html = await save(stage, 'HTML', 'html');
  assert.match(html, /default-src 'none'; style-src 'sha256-/);
  assert.match(html, /<title>Report: shop<\/title>/);
  assert.match(html, /<h1[^>]*>Whitebox Assessment Report<\/h1>/);
  assert.match(html, /tools\/import_stock\.py:10/);
  assert.doesNotMatch(html, /<script|<link|<img|<button|data-place/);
  assert.equal((await workbench.editor()).title, 'Report: shop');
});

test('a remote browser cannot open the file for printing, so saving is offered', async ({ workbench }) => {
  await workbench.page.locator('.editor-actions [aria-label^="Save Report"]').click();
  await workbench.pick('Open in Browser to Print');
  const { buttons } = await workbench.notification(
    'The browser can’t open files on the machine that this window is connected to.',
  );
  assert.deepEqual(buttons, ['Save as HTML…']);
  await workbench.dismissNotifications();
});

test('find reaches text that is not laid out yet', async ({ workbench }) => {
  const report = await workbench.webviewFrame('Report: shop');
  await report.getByRole('heading', { name: 'Whitebox Assessment Report' }).click();
  await workbench.page.keyboard.press('Control+f');
  await workbench.page.locator('.simple-find-part.visible input').fill('stock');
  await workbench.page.keyboard.press('Enter');
  await report.locator('.laid-out').waitFor();
  await workbench.page.keyboard.press('Escape');
});
