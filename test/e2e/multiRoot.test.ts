import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { eventually } from '../host/workbench/eventually.ts';
import { makeSampleWorkspace, setStage, signedIn, type Stage } from './stage.ts';

describe('a workspace of two folders', () => {
  let stage: Stage;
  let scratch: string;
  let file: string;

  before(async () => {
    scratch = await mkdtemp(path.join(tmpdir(), 'whitebox-two-'));
    await makeSampleWorkspace(path.join(scratch, 'shop'));
    await makeSampleWorkspace(path.join(scratch, 'tool'));
    file = path.join(scratch, 'two.code-workspace');
    await writeFile(file, JSON.stringify({ folders: [{ path: 'shop' }, { path: 'tool' }] }));
    stage = await setStage({ folder: file, service: { runDurationMs: 3_600_000 }, settings: signedIn });
    const workbench = await stage.openWindow();
    await eventually(
      async () => {
        const text = await workbench.page.locator('.explorer-folders-view').innerText();
        // VS Code in a browser sometimes opens a workspace file without its folders until the file changes.
        if (!text.includes('tool'))
          await writeFile(
            file,
            JSON.stringify({ folders: [{ path: 'shop' }, { path: 'tool' }], at: Date.now() }),
          );
        return text;
      },
      (text) => text.includes('shop') && text.includes('tool'),
    );
  });

  after(async () => {
    await stage.dispose();
    await rm(scratch, { recursive: true, force: true });
  });

  test('F92 a person chooses the folders, each is listed and becomes an archive of its own, and findings lead to the right one', async () => {
    const workbench = stage.workbench();
    await workbench.runCommand('Whitebox: Start Assessment…');
    assert.deepEqual(
      (await workbench.currentQuickInput()).items.map(({ label }) => label),
      ['shop', 'tool'],
    );
    await workbench.pickSeveral(['shop', 'tool']);
    const dialog = await workbench.dialogText();
    assert.match(dialog.message, /Upload 28 files of shop, tool for assessment\?/);
    assert.match(dialog.detail, /shop: 14 files; left out/);
    assert.match(dialog.detail, /tool: 14 files; left out/);
    await workbench.dialogButton('Upload and Start');
    const [run] = await eventually(
      () => Promise.resolve(stage.service.runs()),
      (runs) => runs.length === 1,
    );
    assert.equal(run?.archives.length, 2);
    await stage.service.finishRun(run.id);
    await workbench.runCommand('Whitebox: Check Run Status Now');
    await workbench.notification('The assessment of shop, tool has finished: 24 findings');
    const problems = await eventually(workbench.problems, (rows) => rows.length === 24);
    const inTool = problems.filter((problem) =>
      problem.path.startsWith(path.join(scratch, 'tool') + path.sep),
    );
    assert.equal(inTool.length, 12);
  });
});
