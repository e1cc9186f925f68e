import assert from 'node:assert/strict';
import { cp, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Log } from 'sarif';
import { eventually } from '../host/workbench/eventually.ts';
import { setStage, signedIn, startAssessment, type Stage } from './stage.ts';

/** Takes in a file by the command and VS Code's own file dialog. */
async function importFrom({ workbench }: Stage, file: string): Promise<void> {
  const { currentQuickInput, page, runCommand } = workbench();
  await runCommand('Whitebox: Import Findings or Bundle…');
  await eventually(currentQuickInput, ({ title }) => title === 'Import Findings or Bundle');
  const widget = page.locator('.quick-input-widget');
  const input = widget.locator('.quick-input-box input');
  // The dialog replaces what is typed while it still looks at the folder.
  await eventually(
    async () => {
      await input.fill(file, { timeout: 1_000 }).catch(() => undefined);
      await input.press('Enter', { timeout: 1_000 }).catch(() => undefined);
      return widget.isVisible();
    },
    (isOpen) => !isOpen,
  );
}

/** Chooses a folder in VS Code's own file dialog, which takes no answer before it has looked into what was typed. */
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

describe('findings are handed on as files and taken in again', () => {
  let stage: Stage;
  const saved = (ending: string): string =>
    path.join(path.dirname(stage.folder), `shop-findings-${new Date().toISOString().slice(0, 10)}.${ending}`);

  before(async () => {
    stage = await setStage({ service: { runDurationMs: 3_600_000 }, settings: signedIn });
    await stage.openWindow();
  });

  after(async () => {
    await stage.dispose();
  });

  async function exportTo(title: string, ending: string): Promise<string> {
    const workbench = stage.workbench();
    await workbench.runCommand(`Whitebox: ${title}`);
    if (ending === 'zip') {
      const { detail } = await workbench.dialogText();
      assert.match(detail, /Not in it: source files, tokens/);
      await workbench.dialogButton('Save Bundle…');
    }
    await workbench.saveAs(saved(ending));
    await workbench.notification(`12 findings saved in ${path.basename(saved(ending))}`);
    await workbench.dismissNotifications();
    return readFile(saved(ending), 'utf8');
  }

  test('without findings there is nothing to export, and it says so', async () => {
    const workbench = stage.workbench();
    await workbench.runCommand('Whitebox: Export as SARIF…');
    await workbench.notification('There are no findings to export yet.');
    await workbench.dismissNotifications();
  });

  test('a finished run is saved as SARIF, table and bundle', async () => {
    const workbench = stage.workbench();
    await startAssessment(stage);
    await stage.service.finishRun(stage.service.runs()[0]!.id);
    await workbench.runCommand('Whitebox: Check Run Status Now');
    await workbench.notification('has finished: 12 findings');
    await workbench.dismissNotifications();
    const log = JSON.parse(await exportTo('Export as SARIF…', 'sarif')) as Log;
    assert.equal(log.version, '2.1.0');
    assert.equal(log.runs[0]?.results?.length, 12);
    const csv = await exportTo('Export as CSV…', 'csv');
    assert.ok(csv.startsWith('\uFEFFid,title,severity'));
    const bundle = await exportTo('Export Offline Bundle…', 'zip');
    assert.ok(bundle.startsWith('PK'));
    for (const secret of [stage.service.token, stage.service.baseUrl])
      assert.ok(![bundle, csv, JSON.stringify(log)].some((text) => text.includes(secret)));
  });

  for (const ending of ['zip', 'sarif', 'csv'] as const) {
    test(`what was saved as ${ending} is taken in as a run of its own, shown in tree and Problems`, async () => {
      const workbench = stage.workbench();
      await workbench.runCommand('Whitebox: Clear Findings from Editor');
      await eventually(workbench.problems, (rows) => rows.length === 0);
      await importFrom(stage, saved(ending));
      await workbench.notification(`12 findings imported from ${path.basename(saved(ending))}`);
      await workbench.dismissNotifications();
      await eventually(workbench.problems, (rows) => rows.length === 12);
      await workbench.openView('Whitebox Assessment');
      const rows = await eventually(
        () => workbench.treeRows('Runs'),
        (all) => all.some(({ description }) => description === `imported · ${path.basename(saved(ending))}`),
      );
      assert.ok(rows.some(({ description }) => description.startsWith('imported')));
    });
  }

  test('what is no findings file changes nothing, and it says why', async () => {
    const workbench = stage.workbench();
    const file = path.join(path.dirname(stage.folder), 'notes.json');
    await writeFile(file, '{"name":"notes"}');
    const before = stage.service.requests.length;
    await importFrom(stage, file);
    await workbench.notification('Nothing was imported: the file is neither a bundle nor SARIF');
    await workbench.dismissNotifications();
    assert.equal((await workbench.problems()).length, 12);
    assert.equal(stage.service.requests.length, before);
  });

  test('decisions in a file count here only when they are taken over', async () => {
    const workbench = stage.workbench();
    const log = JSON.parse(await readFile(saved('sarif'), 'utf8')) as Log;
    const own = log.runs[0]?.results?.[0]?.properties?.['whitebox'] as Record<string, unknown>;
    own['triage'] = { state: 'falsePositive', note: 'decided elsewhere', at: 1 };
    const file = path.join(path.dirname(stage.folder), 'decided.sarif');
    await writeFile(file, JSON.stringify(log));
    for (const [answer, left] of [
      ['Leave Open', 12],
      ['Take Over', 11],
    ] as const) {
      await importFrom(stage, file);
      await workbench.notificationButton('what was decided about 1 finding', answer);
      await workbench.dismissNotifications();
      await eventually(workbench.problems, (rows) => rows.length === left);
    }
  });

  test('findings with paths of another machine get their places when their folder is named, and lose them again', async () => {
    const workbench = stage.workbench();
    const moved = path.join(stage.folder, 'moved');
    await cp(path.join(stage.folder, 'src'), path.join(moved, 'app'), { recursive: true });
    const file = path.join(path.dirname(stage.folder), 'foreign.json');
    const paths = ['build/agent/app/orders.js:5', 'build/agent/app/orders.js:12', 'elsewhere/gone.js:1'];
    await writeFile(
      file,
      JSON.stringify(
        paths.map((place) => ({ title: `Invented at ${place}`, severity: 'high', file: place })),
      ),
    );
    await importFrom(stage, file);
    await workbench.notification('3 findings imported from foreign.json');
    await workbench.dismissNotifications();
    await eventually(workbench.problems, (rows) => rows.length === 0);

    await workbench.runCommand('Whitebox: Map Finding Paths to Folder…');
    await eventually(workbench.currentQuickInput, ({ title }) =>
      title.startsWith('The Folder That the Paths of 3 findings Start In'),
    );
    await chooseFolder(stage, moved, 'app');
    const { message, detail } = await workbench.dialogText();
    assert.equal(message, '2 of 3 findings would get a place.');
    assert.match(detail, /Paths that start with build\/agent are looked up in moved\./);
    await workbench.dialogButton('Map Paths');
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
    await workbench.pick('Forget the Mapped Paths');
    await eventually(workbench.problems, (found) => found.length === 0);
  });
});

test('who is signed out, in Restricted Mode, takes findings in and sees them; nothing is sent', async () => {
  const stage = await setStage();
  try {
    const workbench = await stage.openWindow();
    await workbench.restrictedMode();
    const file = path.join(path.dirname(stage.folder), 'findings.json');
    await writeFile(
      file,
      JSON.stringify([{ title: 'Invented', severity: 'high', file: 'README.md', line: 1 }]),
    );
    await importFrom(stage, file);
    await workbench.notification('1 finding imported from findings.json');
    await eventually(workbench.problems, (rows) => rows.length === 1);
    assert.equal(stage.service.requests.length, 0);
  } finally {
    await stage.dispose();
  }
});
