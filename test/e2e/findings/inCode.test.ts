import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { eventually } from '../../host/workbench/eventually.ts';
import { storeEndedRun } from '../../integration/storedRuns.ts';
import { type Stage, writeTheme } from '../stage.ts';
import { test } from '../fixtures.ts';

const trusting = (): Record<string, unknown> => ({ 'security.workspace.trust.enabled': false });

/** Invented findings of the sample workspace; the first has everything a finding can have. */
const findings = [
  {
    id: 'WB-1',
    title: 'SQL injection through a composed statement',
    severity: 'critical',
    cwe: ['CWE-89', 'CWE-943'],
    cvss: { score: 9.8, vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H' },
    description:
      'The statement is put together from text and a **value of the request**.\n\n| who | can |\n|---|---|\n| anybody | read other records |\n\n<img src=x onerror=alert(1)> [a link](command:workbench.action.quit)',
    impact: 'Every order of every customer can be read, changed or deleted.',
    reproduction_steps: ['Open `/orders?customer=1`', "Replace the number by `1' OR '1'='1`"],
    recommendation:
      'Use placeholders and pass the values separately:\n\n```js\nawait db.query("SELECT * FROM orders WHERE customer = ?", [customer]);\n```\n\n[more](https://hostile.example.test/) ![](https://hostile.example.test/x.png)',
    locations: [
      {
        file: 'src/orders.js',
        start_line: 5,
        message: 'the statement is composed here',
        snippet:
          "const rows = await db.query('SELECT * FROM orders WHERE customer_id = ' + req.query.customer);",
      },
      { file: 'src/server.js', start_line: 9, message: 'the value comes in here' },
      { file: 'gone/elsewhere.js', start_line: 3 },
    ],
  },
  {
    id: 'WB-2',
    title: 'Weak hash function',
    severity: 'medium',
    cwe: 328,
    recommendation: 'Use a password hash such as Argon2id.',
    file: 'src/passwords.js',
    line: 7,
  },
];

test.describe.configure({ mode: 'serial' });
test.use({ stageOptions: { settings: trusting } });

test.beforeAll(({ stage }) => store(stage, 'first', findings));

test('Next Finding moves to the next finding, and the status bar names it', async ({ workbench }) => {
  await workbench.openView('Whitebox Assessment');
  await workbench.treeRows('Findings');
  await workbench.runCommand('Whitebox: Go to Next Finding');
  await eventually(workbench.editor, ({ title, line }) => title === 'orders.js' && line === 5);
  await workbench.statusBarItem('Finding 1 of 2: SQL injection').waitFor();
});

test('F80 the hover shows the recommendation, and nothing in it is active', async ({ workbench }) => {
  const text = await workbench.hoverText('SELECT * FROM orders WHERE customer_id', 'Recommendation');
  assert.match(text, /Use placeholders and pass the values separately/);
  assert.match(text, /SELECT \* FROM orders WHERE customer = \?/);
  assert.deepEqual(await workbench.hoverLinks(), []);
  await workbench.screenshot('code-1-hover.png');
  await workbench.page.keyboard.press('Escape');
});

test('a quick fix opens the details beside the code, and the details link back', async ({ workbench }) => {
  const fixes = await workbench.quickFixes();
  assert.ok(fixes.includes('Show Details: SQL injection through a composed statement'), fixes.join());
  await workbench.screenshot('code-2-quick-fix.png');
  await workbench.takeQuickFix('Show Details');
  const title = 'SQL injection through a composed statement';
  const details = await workbench.webviewFrame(title);
  await details.getByRole('heading', { name: 'Recommendation' }).waitFor();
  // Parts of a long page are drawn one after another.
  await eventually(
    () => details.locator('body').innerText(),
    (text) =>
      ['CWE-943', '9.8', 'not in this workspace', '<img src=x onerror=alert(1)>', 'How to reproduce'].every(
        (part) => text.includes(part),
      ),
  );
  await details.getByText('src/server.js:9').first().click();
  await eventually(workbench.editor, (editor) => editor.title === 'server.js' && editor.line === 9);
  assert.deepEqual(await workbench.editorTitles(), ['server.js', title]);
});

test('the details are readable in light, dark and high contrast themes', async ({ stage, workbench }) => {
  for (const [theme, name] of [
    ['Default Light Modern', 'light'],
    ['Default Dark Modern', 'dark'],
    ['Default High Contrast', 'high-contrast'],
  ] as const) {
    await writeTheme(stage, theme);
    const details = await workbench.webviewFrame('SQL injection through a composed statement');
    await details.locator(`body.vscode-${name}`).waitFor();
    await details.getByRole('heading', { name: 'Recommendation' }).waitFor();
    await workbench.screenshot(`code-3-details-${name}.png`);
  }
});

test('the details are restored after a reload', async ({ workbench }) => {
  await workbench.stateKept(/documentId\W+first:0\b/);
  await workbench.reload();
  const details = await workbench.webviewFrame('SQL injection through a composed statement');
  await details.getByRole('heading', { name: 'Recommendation' }).waitFor();
});

test('the Findings view counts the findings that Problems cannot show for one file', async ({ stage }) => {
  await stage.closeWindows();
  const count = 1_100;
  await writeFile(path.join(stage.folder, 'src/crowded.js'), 'line\n'.repeat(count));
  const crowded = Array.from({ length: count }, (_, at) => ({
    title: `One of many ${String(at)}`,
    severity: 'low',
    file: 'src/crowded.js',
    line: at + 1,
  }));
  await store(stage, 'last', [...findings, ...crowded]);
  const workbench = await stage.openWindow();
  await workbench.openView('Whitebox Assessment');
  await workbench.untilViewText('Findings', 'Shown here, but not in Problems: 100 findings');
  // Including VS Code's line that there are more.
  assert.equal(await workbench.problemCount('crowded.js'), 1_001);
  await workbench.screenshot('code-4-crowded.png');
});

async function store(stage: Stage, id: string, list: readonly unknown[]): Promise<void> {
  const { baseUrl, organizationId } = stage.service;
  await storeEndedRun(stage.storage, { id, folder: stage.folder, baseUrl, organizationId }, list);
}
