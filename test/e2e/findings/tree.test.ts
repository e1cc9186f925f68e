import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Workbench } from '../../host/workbench.ts';
import { eventually, readWithin } from '../../host/workbench/eventually.ts';

import { signedIn, startAssessment } from '../stage.ts';
import { test } from '../fixtures.ts';

test.describe.configure({ mode: 'serial' });
test.use({ stageOptions: { service: { runDurationMs: 3_600_000 }, settings: signedIn } });

const headings = async (workbench: Workbench): Promise<string[]> => {
  const rows = await workbench.treeRows('Findings');
  return rows.filter(({ level }) => level === 1).map(({ label, description }) => `${label} ${description}`);
};
const untilHeadings = (workbench: Workbench, ...expected: string[]): Promise<string[]> =>
  eventually(
    () => headings(workbench),
    (found) => found.join() === expected.join(),
  );

test('the Findings view shows a running assessment, and its findings after the end', async ({
  service,
  stage,
  workbench,
}) => {
  await startAssessment(stage);
  await workbench.untilViewText('Findings', 'The assessment is running');
  const early = await workbench.viewActions('Findings');
  assert.ok(!early.some((name) => /^(Open Report|Filter|Group By)/.test(name)), early.join());
  assert.equal(await workbench.listsCommand('Whitebox: Show Raw JSON'), false);
  const [run] = service.runs();
  assert.ok(run);
  await service.finishRun(run.id);
  await workbench.runCommand('Whitebox: Check Run Status Now');
  await workbench.notification('The assessment of shop has finished');
  await workbench.dismissNotifications();
  await untilHeadings(workbench, 'Critical 3', 'High 4', 'Medium 3', 'Low 1', 'No impact 1');
  await eventually(
    () => workbench.viewActions('Findings'),
    (names) => ['Open Report', 'Filter…', 'Group By…'].every((name) => names.includes(name)),
  );
  assert.equal(await workbench.listsCommand('Whitebox: Show Raw JSON'), true);
  await workbench.expandAll('Findings');
  await workbench.screenshot('tree-1-findings.png');
  const rows = await workbench.treeRows('Findings');
  const hash = rows.find(({ label }) => label === 'Weak hash function');
  assert.equal(hash?.ariaLabel, 'Medium: Weak hash function, line 7, CWE-328');
  const file = rows.find(({ label }) => label === 'passwords.js');
  assert.equal(file?.ariaLabel, 'src/passwords.js, 1 finding');
});

test('a filter by severity and text is described in the view and survives a reload', async ({
  workbench,
}) => {
  await workbench.viewAction('Findings', 'Filter…');
  await workbench.pick('Severity');
  await workbench.screenshot('tree-2-filter.png');
  await workbench.pickSeveral(['Critical', 'High']);
  await untilHeadings(workbench, 'Critical 3', 'High 4');
  await workbench.runCommand('Whitebox: Filter…');
  const { items } = await workbench.currentQuickInput();
  assert.deepEqual(items.map(({ label, description }) => `${label}: ${description}`).slice(0, 2), [
    'Severity: Critical, High',
    'Triage State: ',
  ]);
  await workbench.pick('Text');
  await workbench.answer('ＳＱＬ');
  await untilHeadings(workbench, 'Critical 1');
  assert.match(await workbench.viewText('Findings'), /Filter: Critical, High · “ＳＱＬ” \(1 of 12\)/);
  await workbench.screenshot('tree-3-filtered.png');
  await workbench.stateKept(/ＳＱＬ/);
  await workbench.reload();
  await untilHeadings(workbench, 'Critical 1');
});

test('the view offers to clear a filter without matches', async ({ workbench }) => {
  await workbench.runCommand('Whitebox: Filter…');
  await workbench.pick('Text');
  await workbench.answer('nothing is called like this');
  await workbench.untilViewText('Findings', 'No findings match the filters.');
  await workbench.screenshot('tree-4-nothing.png');
  await workbench.viewButton('Findings', 'Clear Filters');
  await untilHeadings(workbench, 'Critical 3', 'High 4', 'Medium 3', 'Low 1', 'No impact 1');
});

test('the details show a finding as the service reported it', async ({ workbench }) => {
  await workbench.expandAll('Findings');
  await workbench.treeRowMenu('Findings', 'Weak hash function', 'Show Raw JSON');
  await eventually(workbench.editor, ({ title }) => title.endsWith('.json'));
  await workbench.screenshot('tree-6-json.png');
});

test('several findings are triaged at once with a reason, and undone at once', async ({ workbench }) => {
  // An opening editor takes the focus and closes an open menu. A click on a row that is rendered again is lost.
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
  await workbench.treeRowMenu('Findings', 'Predictable random value', 'Set Triage State…');
  const { title, items } = await workbench.currentQuickInput();
  assert.equal(title, 'Set Triage State: 2 findings');
  assert.deepEqual(
    items.map(({ label, description }) => `${label} ${description}`.trim()),
    ['Open current: 2 findings', 'Confirmed', 'False positive', 'Accepted risk', 'Fixed'],
  );
  await workbench.screenshot('tree-7-triage.png');
  await workbench.pick('False positive');
  await workbench.answer('  ');
  await eventually(
    workbench.currentQuickInput,
    ({ message }) => message === 'Enter a reason for this state.',
  );
  await workbench.answer('Invented: test code only');
  await untilHeadings(workbench, 'Critical 3', 'High 4', 'Medium 1', 'Low 1', 'No impact 1');
  assert.match(await workbench.viewText('Findings'), /Hidden because triage closed them: 2 findings/);
  await workbench.screenshot('tree-8-judged.png');
  await workbench.notificationButton('2 findings: False positive', 'Undo');
  await untilHeadings(workbench, 'Critical 3', 'High 4', 'Medium 3', 'Low 1', 'No impact 1');
});

test('a finding can be triaged by keyboard alone', async ({ workbench }) => {
  const { page } = workbench;
  await workbench.runCommand('Whitebox Assessment: Focus on Findings View');
  for (const key of ['Home', 'ArrowDown', 'ArrowDown']) await page.keyboard.press(key);
  await page.keyboard.press('Delete');
  assert.equal(
    (await workbench.currentQuickInput()).title,
    'Set Triage State: Critical: SQL injection through a composed statement',
  );
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await workbench.answer('Invented: seen in a review', 'Confirmed: Critical: SQL injection');
  await eventually(
    async () => (await workbench.treeRows('Findings')).find(({ label }) => label.startsWith('SQL injection')),
    (row) => row?.ariaLabel.endsWith('Confirmed') === true,
  );
  await workbench.screenshot('tree-9-keyboard.png');
  await workbench.runCommand('Whitebox: Filter…');
  await workbench.pick('Triage State');
  await workbench.pickSeveral(['Confirmed']);
  await untilHeadings(workbench, 'Critical 1');
  await workbench.runCommand('Whitebox: Clear Filters');
  await untilHeadings(workbench, 'Critical 3', 'High 4', 'Medium 3', 'Low 1', 'No impact 1');
});

test('comparing two runs shows new, no longer reported and existing findings', async ({
  service,
  stage,
  workbench,
}) => {
  const { folder } = stage;
  await rm(path.join(folder, 'src/passwords.js'));
  await writeFile(path.join(folder, 'src/added.js'), 'export const run = (code) => eval(code);\n');
  await startAssessment(stage);
  const run = service.runs().at(-1);
  assert.ok(run);
  await service.finishRun(run.id);
  await workbench.runCommand('Whitebox: Check Run Status Now');
  await workbench.untilRow('Findings', ({ label }) => label === 'added.js');
  await workbench.expandAll('Findings');
  await eventually(
    () => workbench.treeRows('Findings'),
    (rows) => rows.filter(({ description }) => description.endsWith(' · new')).length === 1,
  );
  await workbench.runCommand('Whitebox: Compare Runs…');
  await untilHeadings(workbench, 'New 1', 'Still present 11', 'Not uploaded this time 1');
  await workbench.expandAll('Findings');
  assert.match(
    await workbench.viewText('Findings'),
    /new: 1 · still present: 11 · not uploaded this time: 1/,
  );
  const absent = (await workbench.treeRows('Findings')).find(({ label }) => label === 'Weak hash function');
  assert.match(absent?.ariaLabel ?? '', /src\/passwords\.js/);
  await workbench.screenshot('tree-10-compared.png');
  await workbench.viewAction('Findings', 'Show All Findings');
  await eventually(
    () => headings(workbench),
    (found) => found.some((heading) => heading.startsWith('Critical')),
  );
});
