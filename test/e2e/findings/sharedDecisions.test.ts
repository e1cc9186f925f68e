import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fingerprintOf } from '../../../src/core/findings/identity.ts';
import { entryName, formatEntry, type TriageEntry } from '../../../src/core/findings/triage/book.ts';
import type { Workbench } from '../../host/workbench.ts';
import { eventually } from '../../host/workbench/eventually.ts';
import { storeEndedRun } from '../../integration/storedRuns.ts';
import { identityFor, invent } from '../../unit/findings/shownFindings.ts';
import { test } from '../fixtures.ts';
import { makeSampleWorkspace, signedIn } from '../stage.ts';

const found = [
  {
    title: 'SQL injection through a composed statement',
    severity: 'critical',
    cwe: 89,
    locations: [
      {
        file: 'src/orders.js',
        start_line: 5,
        snippet: "db.query('SELECT * FROM orders WHERE customer_id = ' + req.query.customer);",
      },
    ],
  },
  {
    title: 'Weak hash function',
    severity: 'medium',
    cwe: 328,
    locations: [
      {
        file: 'src/passwords.js',
        start_line: 7,
        snippet: "return createHash('md5').update(text).digest('hex');",
      },
    ],
  },
];

/** Adds a colleague's decision about a finding to the folder, as a pull does; `title` is the one claimed in its file. */
async function share(folder: string, at: number, title: string): Promise<void> {
  const { cwe = 0, locations: [place] = [] } = found[at] ?? {};
  const { file = '', snippet } = place ?? {};
  const { finding } = invent({ title, cwes: [cwe] });
  const entry: TriageEntry = {
    // Of a machine that saw other runs.
    ...identityFor('theirs', at),
    fingerprint: fingerprintOf({ ...finding, places: [{ path: file, snippet }] }, { path: file }),
    title,
    state: 'falsePositive',
    note: 'Invented reason.',
    at: 1_000,
    path: file,
  };
  const decisions = path.join(folder, '.vscode/whitebox-triage');
  await mkdir(decisions, { recursive: true });
  await writeFile(path.join(decisions, entryName(entry)), formatEntry(entry));
}

const makeClone = async (scratch: string): Promise<string> => {
  const folder = await makeSampleWorkspace(path.join(scratch, 'shop'));
  await share(folder, 0, 'Unused import');
  const settings = {
    'whitebox.triage.storage': 'shared',
    'whitebox.findings.minimumSeverity': 'critical',
    'whitebox.findings.showInProblems': false,
  };
  await writeFile(path.join(folder, '.vscode/settings.json'), JSON.stringify(settings));
  const git = (...args: string[]): unknown => execFileSync('git', ['-C', folder, ...args]);
  git('add', '-A');
  git('-c', 'user.name=Ann', '-c', 'user.email=ann@example.test', 'commit', '-qm', 'Invented');
  return folder;
};

test.describe.configure({ mode: 'serial' });
test.use({ stageOptions: { settings: signedIn, makeFolder: makeClone } });

test.beforeAll(({ stage }) => {
  const { baseUrl, organizationId } = stage.service;
  return storeEndedRun(stage.storage, { id: 'first', folder: stage.folder, baseUrl, organizationId }, found);
});

const review = 'Review Shared Decisions…';
const topRows = async ({ treeRows }: Workbench): Promise<string> =>
  (await treeRows('Findings'))
    .filter(({ level }) => level === 1)
    .map(({ label, description }) => `${label} ${description}`.trim())
    .join(', ');
const untilRows = (workbench: Workbench, expected: string): Promise<string> =>
  eventually(
    () => topRows(workbench),
    (rows) => rows === expected,
  );

test('F147 decisions and settings in a clone hide nothing, and the review names the finding of each decision', async ({
  workbench,
}) => {
  await workbench.openView('Whitebox Assessment');
  await untilRows(workbench, `${review} 1, Critical 1, Medium 1`);
  assert.match(await workbench.viewText('Findings'), /1 new decision came with this folder/);
  await eventually(workbench.problems, (rows) => rows.length === 2);
  await workbench.screenshot('shared-1-proposal.png');
  await workbench.treeRowClick('Findings', review);
  const { title, items } = await workbench.currentQuickInput();
  assert.equal(title, 'Review Shared Decisions: shop');
  assert.deepEqual(
    items.map(({ label }) => label),
    ['Accept', 'Reject', 'False positive — Critical: SQL injection through a composed statement'],
  );
  assert.match(
    items[0]?.detail ?? '',
    /^After a container is rebuilt, your own earlier decisions are also listed/,
  );
  await workbench.screenshot('shared-2-review.png');
  // Enter shows the finding: it accepts nothing.
  await workbench.page.keyboard.press('Enter');
  await workbench.webviewFrame('SQL injection through a composed statement');
  await untilRows(workbench, `${review} 1, Critical 1, Medium 1`);
});

test('F147 accepting a decision hides its finding at once; a later one is new, and stays visible once rejected', async ({
  stage,
  workbench,
}) => {
  await workbench.runCommand('Whitebox: Review Shared Decisions…');
  await workbench.pick('Accept');
  await untilRows(workbench, 'Medium 1');
  assert.match(await workbench.viewText('Findings'), /Hidden because triage closed them: 1 finding/);
  await workbench.screenshot('shared-3-accepted.png');
  await share(stage.folder, 1, 'Weak hash function');
  await untilRows(workbench, `${review} 1, Medium 1`);
  await workbench.runCommand('Whitebox: Review Shared Decisions…');
  await workbench.pick('Reject');
  await untilRows(workbench, 'Medium 1');
});
