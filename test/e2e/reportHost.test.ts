import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { findViolations } from './axe.ts';
import { setStage, signedIn, startAssessment, type Stage } from './stage.ts';

describe('a report in a real VS Code', () => {
  let stage: Stage;

  before(async () => {
    stage = await setStage({
      service: { runDurationMs: 3_600_000 },
      settings: signedIn,
      viewport: { width: 1440, height: 1000 },
    });
    const workbench = await stage.openWindow();
    for (const index of [0, 1]) {
      await startAssessment(stage);
      await stage.service.finishRun(stage.service.runs()[index]!.id);
      await workbench.notification('The assessment of shop has finished');
      await workbench.dismissNotifications();
    }
  });

  after(async () => {
    await stage.dispose();
  });

  const save = async (how: string, ending: string): Promise<string> => {
    const workbench = stage.workbench();
    const file = path.join(path.dirname(stage.folder), `shop-report.${ending}`);
    await workbench.runCommand('Whitebox: Save Report…');
    await workbench.pick(how);
    await workbench.saveAs(file);
    await workbench.notification(`The report was saved to ${file}.`);
    await workbench.dismissNotifications();
    return readFile(file, 'utf8');
  };

  test('a report says what is new since the run before', async () => {
    const workbench = stage.workbench();
    await workbench.runCommand('Whitebox: Open Report');
    const report = await workbench.webviewFrame('Report: shop');
    const changes = report.getByRole('table', { name: /^Since the run of / }).getByRole('row');
    await changes.first().waitFor();
    assert.deepEqual(
      (await changes.allInnerTexts()).map((text) => text.trim().split(/\s+/)),
      [
        ['New', '0'],
        ['Fixed', '0'],
        ['Unchanged', '12'],
      ],
    );
  });

  test('a report is saved as the Markdown that came from the service', async () => {
    assert.match(await save('Markdown', 'md'), /^# Whitebox Assessment Report\n/);
  });

  test('a report is saved as one inert HTML file, from the view that opens for it', async () => {
    const html = await save('HTML', 'html');
    assert.match(html, /default-src 'none'; style-src 'sha256-/);
    assert.match(html, /<title>Report: shop<\/title>/);
    assert.match(html, /<h1[^>]*>Whitebox Assessment Report<\/h1>/);
    assert.match(html, /tools\/import_stock\.py:10/);
    assert.doesNotMatch(html, /<script|<link|<img|<button|data-place/);
    assert.equal((await stage.workbench().editor()).title, 'Report: shop');
  });

  test('a browser on another machine cannot open the file to print, and saving it is offered', async () => {
    const workbench = stage.workbench();
    await workbench.page.locator('.editor-actions [aria-label^="Save Report"]').click();
    await workbench.pick('Open in the Browser to Print');
    const { buttons } = await workbench.notification(
      'The browser cannot open a file of this window’s machine.',
    );
    assert.deepEqual(buttons, ['Save as HTML…']);
    await workbench.dismissNotifications();
  });

  test('find reaches what is not laid out yet', async () => {
    const workbench = stage.workbench();
    const report = await workbench.webviewFrame('Report: shop');
    await report.getByRole('heading', { name: 'Whitebox Assessment Report' }).click();
    await workbench.page.keyboard.press('Control+f');
    await workbench.page.locator('.simple-find-part.visible input').fill('stock');
    await workbench.page.keyboard.press('Enter');
    await report.locator('.laid-out').waitFor();
    await workbench.page.keyboard.press('Escape');
  });

  const themes = {
    'Light Modern': 'vscode-light',
    'Dark Modern': 'vscode-dark',
    'Dark High Contrast': 'vscode-high-contrast',
    'Light High Contrast': 'vscode-high-contrast-light',
  };
  for (const [theme, kind] of Object.entries(themes)) {
    test(`axe finds no violation in the report, as VS Code shows it in ${theme}`, async () => {
      const workbench = stage.workbench();
      await workbench.runCommand('Preferences: Color Theme');
      await workbench.pick(theme);
      const report = await workbench.webviewFrame('Report: shop');
      await report.locator(`body[data-vscode-theme-kind=${kind}]`).waitFor();
      // What comes near the screen is finished: only then is it known whether it scrolls sideways.
      for (const block of await report.locator('.code, .table').all()) await block.scrollIntoViewIfNeeded();
      await report.locator('h1').first().scrollIntoViewIfNeeded();
      assert.deepEqual(await findViolations(report), []);
      await workbench.screenshot(`report-${theme.toLowerCase().replaceAll(' ', '-')}.png`);
    });
  }
});
