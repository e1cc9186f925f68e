import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Log } from 'sarif';
import type { Workbench } from '../host/workbench.ts';
import { eventually, readWithin, untilEqual } from '../host/workbench/eventually.ts';
import { importInvented, signedIn, type Stage } from './stage.ts';
import { test } from './fixtures.ts';

/** The user's path leads through the views of one window. */
test.describe.configure({ mode: 'serial' });
test.use({
  stageOptions: {
    service: { runDurationMs: 3_600_000 },
    settings: (service) => ({ ...signedIn(service), 'security.workspace.trust.enabled': true }),
    // A narrow walkthrough shows no pictures.
    viewport: { width: 1600, height: 900 },
  },
});

const untilHeadings = (workbench: Workbench, ...expected: string[]): Promise<string[]> =>
  untilEqual(async () => {
    const rows = await workbench.treeRows('Findings');
    return rows.filter(({ level }) => level === 1).map(({ label, description }) => `${label} ${description}`);
  }, expected);
const allHeadings = ['Critical 3', 'High 4', 'Medium 3', 'Low 1', 'No impact 1'] as const;

const besides = ({ folder }: Stage, name: string): string => path.join(path.dirname(folder), name);

test('F84 an untrusted folder is read-only: findings can be imported and viewed; nothing is sent', async ({
  service,
  stage,
  workbench,
}) => {
  await workbench.restrictedMode();
  await workbench.openView('Whitebox Assessment');
  await workbench.untilViewText('Runs', 'Restricted Mode');
  for (const command of ['Start Assessment…', 'Sign In…'])
    assert.equal(await workbench.listsCommand(`Whitebox: ${command}`), false, command);
  await workbench.runCommand('Whitebox: Export as SARIF…');
  await workbench.notification('There are no findings to export yet.');
  await importInvented(stage);
  await eventually(workbench.problems, (rows) => rows.length === 1);
  assert.deepEqual(service.requests, []);
  await workbench.dismissNotifications();
});

test('F5 in a trusted workspace, checkboxes of the preview choose what is sent, and a rule in it adds nothing', async ({
  service,
  stage,
  workbench,
}) => {
  await workbench.trustWorkspace();
  await writeFile(path.join(stage.folder, '.whiteboxignore'), '!.env\n!build/\n');
  await workbench.runCommand('Whitebox: Preview Files to Upload');
  const untilUploaded = (count: string) =>
    eventually(
      async () => {
        await workbench.expandAll('Upload Preview');
        return workbench.treeRows('Upload Preview');
      },
      (rows) =>
        rows.some(({ label, description }) => label === 'To be uploaded' && description.startsWith(count)),
    );
  const shown = await untilUploaded('16 files, ');
  const excluded = shown.find(({ label }) => label === '.env');
  assert.match(excluded?.description ?? '', /^\.env +\(.*\.gitignore:\d+\)$/);
  for (const count of ['15 files, ', '16 files, ']) {
    await workbench.treeRowCheckbox('Upload Preview', 'package.json');
    await untilUploaded(count);
  }
  await writeFile(path.join(stage.folder, 'src', 'late.js'), 'export {};\n');
  await workbench.viewAction('Upload Preview', 'Start Assessment…');
  const dialog = await workbench.dialogText();
  assert.match(dialog.message, /Upload 17 files/);
  assert.deepEqual(service.requests, []);
  await workbench.dialogButton('Upload and Start');
  const sent = await eventually(
    () => service.runs()[0]?.archives.flatMap(({ entries }) => entries.map((entry) => entry.path)) ?? [],
    ({ length }) => length === 17,
  );
  assert.ok(sent.includes('src/late.js') && sent.includes('package.json') && !sent.includes('.env'));
});

test('the Findings view shows a running assessment, and its findings after the end', async ({
  service,
  workbench,
}) => {
  await workbench.openView('Whitebox Assessment');
  await workbench.untilRow('Runs', ({ label }) => label.startsWith('Running'));
  await service.finishRun(service.runs()[0]!.id);
  await workbench.runCommand('Whitebox: Check Run Status Now');
  await workbench.notification('The assessment of shop has finished: 12 findings');
  await workbench.dismissNotifications();
  await untilHeadings(workbench, ...allHeadings);
  await eventually(
    () => workbench.viewActions('Findings'),
    (names) => ['Open Report', 'Filter…', 'Group By…'].every((name) => names.includes(name)),
  );
  await workbench.expandAll('Findings');
  const rows = await workbench.treeRows('Findings');
  const hash = rows.find(({ label }) => label === 'Weak hash function');
  assert.equal(hash?.ariaLabel, 'Medium: Weak hash function, line 7, CWE-328');
  const file = rows.find(({ label }) => label === 'passwords.js');
  assert.equal(file?.ariaLabel, 'src/passwords.js, 1 finding');
  await workbench.treeRowMenu('Findings', 'Weak hash function', 'Show Raw JSON');
  await eventually(workbench.editor, ({ title }) => title.endsWith('.json'));
});

test('several findings are triaged at once by keyboard, with a reason, and undone at once', async ({
  workbench,
}) => {
  await workbench.expandAll('Findings');
  // An opening editor takes the focus and closes an open menu. A click on a row that is rendered
  // again is lost.
  await eventually(
    async () => {
      await workbench.treeRowClick('Findings', 'Weak hash function');
      return readWithin(3_000, async () =>
        (await workbench.editor()).title === 'passwords.js' ? true : undefined,
      );
    },
    (isOpen) => isOpen === true,
  );
  await workbench.treeRowClick('Findings', 'Predictable random value', 'ControlOrMeta');
  await workbench.page.keyboard.press('Delete');
  assert.equal((await workbench.currentQuickInput()).title, 'Set Triage State: 2 findings');
  await workbench.pick('False positive');
  await workbench.answer('  ');
  await eventually(
    workbench.currentQuickInput,
    ({ message }) => message === 'Enter a reason for this state.',
  );
  await workbench.answer('Invented: test code only');
  await untilHeadings(workbench, 'Critical 3', 'High 4', 'Medium 1', 'Low 1', 'No impact 1');
  await workbench.untilViewText('Findings', 'Hidden because triage closed them: 2 findings');
  await workbench.notificationButton('2 findings: False positive', 'Undo');
  await untilHeadings(workbench, ...allHeadings);
});

test('a report is saved as one inert HTML file from its view; a remote browser is not asked to open it', async ({
  stage,
  workbench,
}) => {
  await workbench.runCommand('Whitebox: Open Report');
  await workbench.webviewFrame('Report: shop');
  await workbench.page.locator('.editor-actions [aria-label^="Save Report"]').click();
  await workbench.pick('Open in Browser to Print');
  await workbench.notificationButton(
    'VS Code can’t open the report in a browser from this window.',
    'Save as HTML…',
  );
  const file = besides(stage, 'shop-report.html');
  await workbench.saveAs(file);
  await workbench.notification(`The report was saved to ${file}.`);
  await workbench.dismissNotifications();
  const html = await readFile(file, 'utf8');
  assert.match(html, /default-src 'none'; style-src 'sha256-/);
  assert.match(html, /<h1[^>]*>Whitebox Assessment Report<\/h1>/);
  assert.doesNotMatch(html, /<script|<link|<img|<button|data-place/);
  // A report that takes the focus back closes a quick pick.
  await workbench.runCommand('View: Close All Editors');
});

test('a finished run is exported as SARIF and as a bundle, without token and address of the service', async ({
  service,
  stage,
  workbench,
}) => {
  const name = (ending: string): string => `shop-findings-${new Date().toISOString().slice(0, 10)}.${ending}`;
  const save = async (ending: string): Promise<Buffer> => {
    await workbench.saveAs(besides(stage, name(ending)));
    await workbench.notification(`12 findings saved to ${name(ending)}`);
    await workbench.dismissNotifications();
    return readFile(besides(stage, name(ending)));
  };
  await workbench.runCommand('Whitebox: Export as SARIF…');
  await workbench.pick('SARIF');
  const sarif = String(await save('sarif'));
  assert.equal((JSON.parse(sarif) as Log).runs[0]?.results?.length, 12);
  await workbench.runCommand('Whitebox: Export Offline Bundle…');
  assert.match((await workbench.dialogText()).detail, /Doesn’t contain source files, tokens/);
  await workbench.dialogButton('Save Bundle…');
  const bundle = await save('zip');
  for (const secret of [service.token, service.baseUrl])
    assert.ok(!sarif.includes(secret) && !bundle.includes(secret));
});

/** Runs in the page: returns the addresses of the shown pictures, and whether all are loaded. */
const readPictures = `(() => {
  const pictures = [...document.querySelectorAll('.getting-started-media img')];
  const areLoaded = pictures.every(({ complete, naturalWidth }) => complete && naturalWidth > 0);
  return { areLoaded, addresses: pictures.map(({ src, currentSrc }) => currentSrc || src) };
})()`;

test('the walkthrough of the installed extension shows all its pictures', async ({ workbench }) => {
  const { page } = workbench;
  await workbench.runCommand('Welcome: Open Walkthrough...');
  await workbench.pick('Get Started with Whitebox Assessment');
  const steps = page.locator('.getting-started-step');
  await steps.first().waitFor();
  const seen = new Set<string>();
  for (let index = 0; index < (await steps.count()); index += 1) {
    const step = steps.nth(index);
    const { addresses } = await eventually(
      async () => {
        // A click on a page that is being drawn again may be lost.
        const classes = (await step.getAttribute('class')) ?? '';
        if (!classes.includes('expanded')) await step.click();
        return page.evaluate<{ areLoaded: boolean; addresses: readonly string[] }>(readPictures);
      },
      ({ areLoaded, addresses: shown }) => areLoaded && shown.some((each) => !seen.has(each)),
    );
    for (const each of addresses) seen.add(each);
  }
  assert.equal(seen.size, 7);
});
