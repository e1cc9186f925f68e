import assert from 'node:assert/strict';
import { cp, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Log } from 'sarif';
import { zipBundle } from '../../src/core/findings/importExport/bundle.ts';
import { readBundle, sha256 } from '../../src/core/findings/importExport/readContent.ts';
import {
  brokenRules,
  codeScanningRules,
  ourRules,
  sarifProse,
} from '../unit/findings/importExport/sarifRules.ts';
import { eventually } from '../host/workbench/eventually.ts';
import { importFrom, signedIn, startAssessment, type Stage } from './stage.ts';
import { test } from './fixtures.ts';

/** Chooses a folder in VS Code's file dialog, which accepts no answer before it has read the typed path. */
async function chooseFolder({ workbench }: Stage, folder: string, child: string): Promise<void> {
  const { currentQuickInput, page } = workbench();
  const widget = page.locator('.quick-input-widget');
  await eventually(
    async () => {
      const { value, items } = await currentQuickInput();
      if (value !== `${folder}/`) await widget.locator('.quick-input-box input').fill(`${folder}/`);
      return items.map(({ label }) => label);
    },
    (labels) => labels.includes(child),
  );
  await page.keyboard.press('Enter');
}

test.describe.configure({ mode: 'serial' });
test.use({ stageOptions: { service: { runDurationMs: 3_600_000 }, settings: signedIn } });

const saved = ({ folder }: Stage, ending: string): string =>
  path.join(path.dirname(folder), `shop-findings-${new Date().toISOString().slice(0, 10)}.${ending}`);

async function exportTo(stage: Stage, title: string, ending: string, form = 'SARIF'): Promise<string> {
  const workbench = stage.workbench();
  await workbench.runCommand(`Whitebox: ${title}`);
  if (ending.endsWith('sarif')) await workbench.pick(form);
  if (ending === 'zip') {
    const { detail } = await workbench.dialogText();
    assert.match(detail, /Doesn’t contain: source files, tokens/);
    await workbench.dialogButton('Save Bundle…');
  }
  await workbench.saveAs(saved(stage, ending));
  await workbench.notification(`12 findings saved to ${path.basename(saved(stage, ending))}`);
  await workbench.dismissNotifications();
  return readFile(saved(stage, ending), 'utf8');
}

test('exporting without findings says that there is nothing to export', async ({ workbench }) => {
  await workbench.runCommand('Whitebox: Export as SARIF…');
  await workbench.notification('There are no findings to export yet.');
  await workbench.dismissNotifications();
});

test('a finished run is exported as SARIF, CSV and bundle', async ({ service, stage, workbench }) => {
  await startAssessment(stage);
  await service.finishRun(service.runs()[0]!.id);
  await workbench.runCommand('Whitebox: Check Run Status Now');
  await workbench.notification('has finished: 12 findings');
  await workbench.dismissNotifications();
  const log = JSON.parse(await exportTo(stage, 'Export as SARIF…', 'sarif')) as Log;
  assert.equal(log.version, '2.1.0');
  assert.equal(log.runs[0]?.results?.length, 12);
  const csv = await exportTo(stage, 'Export as CSV…', 'csv');
  assert.ok(csv.startsWith('\uFEFF"id","title","severity"'));
  const bundle = await exportTo(stage, 'Export Offline Bundle…', 'zip');
  assert.ok(bundle.startsWith('PK'));
  for (const secret of [service.token, service.baseUrl])
    assert.ok(![bundle, csv, JSON.stringify(log)].some((text) => text.includes(secret)));
});

test('F151 a finished run is exported in a form that GitHub code scanning accepts', async ({
  stage,
  workbench,
}) => {
  await workbench.runCommand('Whitebox: Export as SARIF…');
  await eventually(workbench.currentQuickInput, ({ items }) => items.length === 3);
  await workbench.screenshot('export-1-form.png');
  await workbench.dismissQuickInput();
  const log = JSON.parse(
    await exportTo(stage, 'Export as SARIF…', 'code-scanning.sarif', 'SARIF for Code Scanning'),
  ) as Log;
  assert.deepEqual(brokenRules(log, [...sarifProse, ...codeScanningRules, ...ourRules]), []);
  const files = new Set(
    log.runs[0]?.results?.map(({ locations }) => locations?.[0]?.physicalLocation?.artifactLocation?.uri),
  );
  assert.equal(log.runs[0]?.results?.length, 12);
  assert.ok(files.has('src/orders.js'), [...files].join(' '));
});

for (const ending of ['zip', 'sarif'] as const) {
  test(`an exported ${ending} is imported as a separate run, shown in tree and Problems`, async ({
    stage,
    workbench,
  }) => {
    await workbench.runCommand('Whitebox: Clear Findings from Editor');
    await eventually(workbench.problems, (rows) => rows.length === 0);
    await importFrom(stage, saved(stage, ending));
    await workbench.notification(`12 findings imported from ${path.basename(saved(stage, ending))}`);
    await workbench.dismissNotifications();
    await eventually(workbench.problems, (rows) => rows.length === 12);
    await workbench.openView('Whitebox Assessment');
    const rows = await workbench.untilRow('Runs', ({ description }) =>
      description.startsWith(`${path.basename(saved(stage, ending))} · `),
    );
    assert.ok(rows.some(({ label }) => label === 'Imported'));
  });
}

test('decisions in an imported bundle count only after they are taken over', async ({ stage, workbench }) => {
  const { run, files } = await readBundle(await readFile(saved(stage, 'zip')));
  const decided = { index: 0, state: 'falsePositive', note: 'decided elsewhere', at: 1 };
  const contents = [...files].map(([name, content]) => ({
    path: name,
    content: name === 'triage.json' ? Buffer.from(JSON.stringify([decided])) : content,
  }));
  const index = {
    kind: 'whitebox-assessment-bundle',
    version: 1,
    tool: { name: 'whitebox-assessment', version: '1.0.0' },
    run,
    files: contents.map((each) => ({
      path: each.path,
      bytes: each.content.length,
      sha256: sha256(each.content),
    })),
  };
  const file = path.join(path.dirname(stage.folder), 'decided.zip');
  const indexFile = { path: 'bundle.json', content: Buffer.from(JSON.stringify(index)) };
  await writeFile(file, zipBundle([indexFile, ...contents]));
  for (const [answer, left] of [
    ['Leave Findings Open', 12],
    ['Import Decisions', 11],
  ] as const) {
    await importFrom(stage, file);
    await workbench.notificationButton('triage decisions with notes for 1 finding', answer);
    await workbench.dismissNotifications();
    await eventually(workbench.problems, (rows) => rows.length === left);
  }
});

test('findings with paths of another machine are placed after mapping a folder, and unplaced after undoing it', async ({
  stage,
  workbench,
}) => {
  const moved = path.join(stage.folder, 'moved');
  await cp(path.join(stage.folder, 'src'), path.join(moved, 'app'), { recursive: true });
  const file = path.join(path.dirname(stage.folder), 'foreign.json');
  const paths = ['build/agent/app/orders.js:5', 'build/agent/app/orders.js:12', 'elsewhere/gone.js:1'];
  await writeFile(
    file,
    JSON.stringify(paths.map((place) => ({ title: `Invented at ${place}`, severity: 'high', file: place }))),
  );
  await importFrom(stage, file);
  await workbench.notification('3 findings imported from foreign.json');
  await workbench.dismissNotifications();
  await eventually(workbench.problems, (rows) => rows.length === 0);

  await workbench.runCommand('Whitebox: Map Finding Paths to Folder…');
  await eventually(workbench.currentQuickInput, ({ title }) =>
    title.startsWith('Base Folder for the Paths of 3 findings'),
  );
  await chooseFolder(stage, moved, 'app');
  await workbench.notificationButton(
    'This finds locations for 2 of 3 findings. Paths that start with “build/agent” are looked up in “moved”.',
    'Map Paths',
  );
  const problems = await eventually(workbench.problems, (rows) => rows.length === 2);
  const orders = path.join(moved, 'app/orders.js');
  assert.deepEqual(
    problems.map((problem) => [problem.path, problem.line]),
    [
      [orders, 5],
      [orders, 12],
    ],
  );
  await workbench.expandAll('Findings');
  const rows = await workbench.treeRows('Findings');
  assert.ok(rows.some(({ ariaLabel }) => ariaLabel === 'moved/app/orders.js, 2 findings'));

  await workbench.runCommand('Whitebox: Map Finding Paths to Folder…');
  await workbench.pick('Clear Path Mappings');
  await eventually(workbench.problems, (found) => found.length === 0);
});
