import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Workbench } from '../../host/workbench.ts';
import { eventually } from '../../host/workbench/eventually.ts';
import { storeEndedRun } from '../../integration/storedRuns.ts';
import { test } from '../fixtures.ts';
import { type Stage, writeTheme } from '../stage.ts';

test.describe.configure({ mode: 'serial' });
test.use({
  stageOptions: {
    settings: () => ({ 'security.workspace.trust.enabled': false }),
    viewport: { width: 1_280, height: 900 },
  },
});

const sql = { title: 'SQL injection', severity: 'critical', cwe: 89, file: 'src/orders.js', line: 5 };
const hash = { title: 'Weak hash function', severity: 'medium', cwe: 328, file: 'src/passwords.js', line: 7 };
const cookie = { title: 'Session cookie without Secure', severity: 'high', file: 'src/session.js', line: 3 };
const nowhere = { title: 'No rate limit', severity: 'low' };

const themes = [
  ['Default Light Modern', 'light'],
  ['Default Dark Modern', 'dark'],
] as const;

test.beforeAll(async ({ stage }) => {
  const { folder } = stage;
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', folder, '-c', 'user.name=Ana', '-c', 'user.email=ana@example.test', ...args]);
  const write = async (name: string, text: string): Promise<void> => {
    await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
    await writeFile(path.join(folder, name), text);
  };
  const read = (name: string): Promise<string> => readFile(path.join(folder, name), 'utf8');
  await write('.github/CODEOWNERS', '* @ana\nsrc/passwords.js @shop/accounts\n![x] @ben\n');
  git('symbolic-ref', 'HEAD', 'refs/heads/main');
  git('add', '.');
  git('commit', '--quiet', '-m', 'Start');
  git('update-ref', 'refs/remotes/origin/main', 'HEAD');
  git('checkout', '--quiet', '-b', 'feature');
  const names = ['src/orders.js', 'src/passwords.js', 'src/session.js'];
  const before = Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await read(name)] as const)),
  );
  await write(
    'src/orders.js',
    (await read('src/orders.js')).replace('req.query.customer)', 'req.query.customer_id)'),
  );
  const now = { ...before, 'src/orders.js': await read('src/orders.js'), 'src/session.js': '// removed\n' };
  const { baseUrl, organizationId } = stage.service;
  const store = (
    id: string,
    found: readonly object[],
    sent: Readonly<Record<string, string>>,
  ): Promise<void> => storeEndedRun(stage.storage, { id, folder, baseUrl, organizationId }, found, sent);
  await store('1', [sql, hash, cookie, nowhere], before);
  await store('2', [sql, hash], before);
  await store('3', [sql, hash, nowhere], now);
});

const openFindings = async (stage: Stage): Promise<Workbench> => {
  const workbench = stage.hasWindow() ? stage.workbench() : await stage.openWindow();
  await workbench.openView('Whitebox Assessment');
  await eventually(
    () => workbench.treeRows('Findings'),
    (rows) => rows.length > 0,
  );
  await workbench.expandAll('Findings');
  return workbench;
};
const rowOf = async (workbench: Workbench, title: string): Promise<string> =>
  (await workbench.treeRows('Findings')).find(({ label }) => label.endsWith(title))?.description ?? '';
const untilViewSays = (workbench: Workbench, pattern: RegExp): Promise<string> =>
  eventually(
    () => workbench.viewText('Findings'),
    (text) => pattern.test(text),
  );
const findings = async (workbench: Workbench): Promise<readonly string[]> =>
  (await workbench.treeRows('Findings')).filter(({ level }) => level === 3).map(({ label }) => label);

test('F157 an ended acceptance opens the finding again, until it is extended', async ({ stage }) => {
  const first = await openFindings(stage);
  await first.treeRowMenu('Findings', hash.title, 'Set Triage State…');
  await first.pick('Accepted risk');
  await first.answer('Invented: behind the gateway');
  await first.pick('90 days');
  await untilViewSays(first, /Hidden because triage closed them: 1 finding/);
  await stage.closeWindows();
  const folder = path.join(stage.storage, 'triage');
  const [name = ''] = (await readdir(folder)).filter((each) => each.endsWith('.jsonl'));
  const text = await readFile(path.join(folder, name), 'utf8');
  await writeFile(path.join(folder, name), text.replace(/"until":"[^"]*"/, '"until":"2026-06-03"'));

  const workbench = await openFindings(stage);
  await eventually(
    () => rowOf(workbench, hash.title),
    (row) => row.startsWith('Acceptance ended on June 3, 2026: Invented: behind the gateway · line 7'),
  );
  await eventually(workbench.problems, (problems) =>
    problems.some(({ message }) => message.includes(hash.title)),
  );
  for (const [theme, label] of themes) {
    await writeTheme(stage, theme);
    await workbench.page.locator(`.monaco-workbench.vs${label === 'dark' ? '-dark' : ''}`).waitFor();
    await workbench.screenshot(`team-1-ended-${label}.png`);
  }
  await workbench.treeRowMenu('Findings', `⚠ acceptance ended · ${hash.title}`, 'Extend Acceptance…');
  await workbench.pick('Until a date…');
  const soon = new Date(Date.now() + 86_400_000);
  const day = [soon.getFullYear(), soon.getMonth() + 1, soon.getDate()];
  await workbench.answer(day.map((part) => String(part).padStart(2, '0')).join('-'));
  await untilViewSays(workbench, /Acceptance ends within 14 days: 1 finding/);
  await eventually(
    () => findings(workbench),
    (titles) => titles.length === 3 && !titles.includes(hash.title),
  );

  await workbench.runCommand('Whitebox: Filter…');
  await workbench.pick('End of Risk Acceptance');
  await workbench.pickSeveral(['Acceptance ends within 14 days']);
  await eventually(
    () => findings(workbench),
    (titles) => titles.join() === hash.title,
  );
  const shownDay = soon.toLocaleDateString('en', { year: 'numeric', month: 'long', day: 'numeric' });
  assert.match(await rowOf(workbench, hash.title), new RegExp(`Accepted risk .*${shownDay}`));
  await workbench.runCommand('Whitebox: Clear Filters');
  await eventually(
    () => findings(workbench),
    (titles) => titles.length === 3,
  );
});

test('F159 one button shows only findings on lines that the branch has changed, also after a reload', async ({
  stage,
}) => {
  const workbench = await openFindings(stage);
  await workbench.viewAction('Findings', 'Show Changed on This Branch');
  const changedOnly = async (): Promise<string> => {
    await eventually(
      () => findings(workbench),
      (titles) => titles.join() === sql.title,
    );
    return untilViewSays(workbench, /compared with origin\/main \([0-9a-f]{10}\) \(1 of 3\)/);
  };
  const text = await changedOnly();
  assert.match(text, /Hidden because they have no location in this workspace: 1 finding/);
  await workbench.screenshot('team-2-changed.png');
  await workbench.stateKept(/"changedOnBranch":true|\\"changedOnBranch\\":true/);
  await workbench.reload();
  await openFindings(stage);
  assert.equal(await changedOnly(), text);
  await workbench.viewAction('Findings', 'Show Changed and Unchanged');
  await eventually(
    () => findings(workbench),
    (labels) => labels.length === 3,
  );
});

test('findings are grouped by owner, and their details name it', async ({ stage }) => {
  const workbench = await openFindings(stage);
  await workbench.runCommand('Whitebox: Group By…');
  await workbench.pick('Owner');
  await workbench.untilRow('Findings', ({ label, level }) => level === 1 && label === '@ana');
  await workbench.expandAll('Findings');
  await workbench.treeRowMenu('Findings', sql.title, 'Show Details');
  const details = await workbench.webviewFrame(sql.title);
  await details.getByText('@ana').waitFor();
  await untilViewSays(workbench, /VS Code can’t use these lines of .*CODEOWNERS: 3/);
  for (const [theme, name] of themes) {
    await writeTheme(stage, theme);
    await details.locator(`body.vscode-${name}`).waitFor();
    await workbench.screenshot(`team-3-owners-${name}.png`);
  }
});

test('F161 the trend keeps what a later run does not report, and its review filters it', async ({
  stage,
}) => {
  const workbench = await openFindings(stage);
  await workbench.runCommand('Whitebox: Show Trend');
  const trend = await workbench.webviewFrame('Trend: shop');
  const rows = trend.getByRole('row');
  await rows.nth(3).waitFor();
  assert.deepEqual(
    (await rows.allInnerTexts()).slice(1).map((text) =>
      text
        .split('\t')
        .slice(1, 5)
        .map((cell) => cell.trim()),
    ),
    [
      ['3 (Critical: 1, Medium: 1, Low: 1)', '1', '0', '1 Review'],
      ['2 (Critical: 1, Medium: 1)', '1', '2', '0'],
      ['4 (Critical: 1, High: 1, Medium: 1, Low: 1)', '1', '0', '0'],
    ],
  );
  for (const [theme, name] of themes) {
    await writeTheme(stage, theme);
    await trend.locator(`body.vscode-${name}`).waitFor();
    await workbench.screenshot(`team-4-trend-${name}.png`);
  }
  await trend.getByRole('button', { name: 'Review' }).click();
  await eventually(
    () => findings(workbench),
    (labels) => labels.join() === cookie.title,
  );
});

test('without a chat, the question whether a finding is fixed is copied to the clipboard', async ({
  stage,
}) => {
  const workbench = await openFindings(stage);
  await workbench.runCommand('Whitebox: Clear Filters');
  await workbench.expandAll('Findings');
  await workbench.treeRowMenu('Findings', sql.title, 'Check Whether Fixed…');
  await workbench.notification(/clipboard/);
  await workbench.screenshot('team-5-check.png');
});
