import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { eventually } from '../host/workbench/eventually.ts';
import { makeSampleWorkspace, signedIn, type Stage } from './stage.ts';
import { test } from './fixtures.ts';

test.describe.configure({ mode: 'serial' });
test.use({
  stageOptions: {
    service: { runDurationMs: 3_600_000 },
    settings: signedIn,
    makeFolder: async (scratch) => {
      for (const name of ['shop', 'tool']) await makeSampleWorkspace(path.join(scratch, name));
      const file = path.join(scratch, 'two.code-workspace');
      await writeFile(file, JSON.stringify(folders));
      return file;
    },
  },
});

const folders = { folders: [{ path: 'shop' }, { path: 'tool' }] };

test('F92 the user chooses folders, each becomes a separate archive, and findings open the right folder', async ({
  service,
  stage,
  workbench,
}) => {
  await untilOpen(stage);
  await workbench.runCommand('Whitebox: Start Assessment…');
  assert.deepEqual(
    (await workbench.currentQuickInput()).items.map(({ label }) => label),
    ['shop', 'tool'],
  );
  await workbench.pickSeveral(['shop', 'tool']);
  const dialog = await workbench.dialogText();
  assert.match(dialog.message, /Upload 28 files of shop, tool for assessment\?/);
  assert.match(dialog.detail, /shop: 14 files; excluded/);
  assert.match(dialog.detail, /tool: 14 files; excluded/);
  await workbench.dialogButton('Upload and Start');
  const [run] = await eventually(
    () => service.runs(),
    (runs) => runs.length === 1,
  );
  assert.equal(run?.archives.length, 2);
  await service.finishRun(run.id);
  await workbench.runCommand('Whitebox: Check Run Status Now');
  await workbench.notification('The assessment of shop, tool has finished: 24 findings');
  const problems = await eventually(workbench.problems, (rows) => rows.length === 24);
  const inTool = problems.filter((problem) =>
    problem.path.startsWith(path.join(path.dirname(stage.folder), 'tool') + path.sep),
  );
  assert.equal(inTool.length, 12);
});

async function untilOpen(stage: Stage): Promise<void> {
  const explorer = stage.workbench().page.locator('.explorer-folders-view');
  await eventually(
    async () => {
      const text = await explorer.innerText();
      // VS Code in a browser sometimes opens a workspace file without its folders until the file changes.
      if (!text.includes('tool'))
        await writeFile(stage.folder, JSON.stringify({ ...folders, at: Date.now() }));
      return text;
    },
    (text) => text.includes('shop') && text.includes('tool'),
  );
}
