import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { eventually } from '../host/workbench/eventually.ts';
import { makeSampleWorkspace, signedIn, type Stage } from './stage.ts';
import { test } from './fixtures.ts';

const folders = { folders: [{ path: 'shop' }, { path: 'tool' }] };

test.use({
  stageOptions: {
    language: 'ja',
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

test('F92 in Japanese, the user chooses folders, each becomes a separate archive, and both have findings', async ({
  service,
  stage,
  workbench,
}) => {
  await untilOpen(stage);
  await workbench.runCommand('Whitebox: 診断を開始…');
  assert.deepEqual((await workbench.currentQuickInput()).items, ['shop', 'tool']);
  await workbench.pickSeveral(['shop', 'tool']);
  const dialog = await workbench.dialogText();
  assert.match(dialog.message, /shop、tool の 30 ファイルを診断のためにアップロードしますか/);
  assert.match(dialog.detail, /shop[^]*15 ファイル[^]*tool[^]*15 ファイル/);
  await workbench.dialogButton('アップロードして開始');
  const [run] = await eventually(service.runs, (runs) => runs.length === 1);
  assert.equal(run?.archives.length, 2);
  assert.ok(JSON.stringify(run.request).includes('"language":"japanese"'));
  await eventually(
    () => workbench.statusBarItem('whitebox.status').innerText(),
    (text) => text.includes('0 分'),
  );
  await service.finishRun(run.id);
  await workbench.runCommand('Whitebox: 実行の状態を今すぐ確認');
  await workbench.notification('shop、tool の診断が完了しました: 指摘事項 24 件');
  const problems = await eventually(workbench.problems, (rows) => rows.length === 24);
  assert.ok(problems.some(({ message }) => message.startsWith('重大: ')));
  const tool = path.join(path.dirname(stage.folder), 'tool') + path.sep;
  assert.equal(problems.filter((problem) => problem.path.startsWith(tool)).length, 12);
  await workbench.runCommand('Whitebox: レポートを開く');
  const report = await workbench.webviewFrame('レポート: shop');
  await report.getByText('深刻度別の指摘事項').first().waitFor();
});

async function untilOpen(stage: Stage): Promise<void> {
  const explorer = stage.workbench().page.locator('.explorer-folders-view');
  let written = performance.now();
  await eventually(
    async () => {
      const text = await explorer.innerText();
      // VS Code in a browser sometimes opens a workspace file without its folders until the file
      // changes. It reads a changed file only after a pause.
      if (!text.includes('tool') && performance.now() - written > 5000) {
        await writeFile(stage.folder, JSON.stringify({ ...folders, at: Date.now() }));
        written = performance.now();
      }
      return text;
    },
    (text) => text.includes('shop') && text.includes('tool'),
  );
}
