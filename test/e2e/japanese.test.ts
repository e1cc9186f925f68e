import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { eventually } from '../host/workbench/eventually.ts';
import { setStage, signedIn, type Stage } from './stage.ts';

describe('VS Code in Japanese', () => {
  let stage: Stage;

  before(async () => {
    stage = await setStage({
      language: 'ja',
      service: { runDurationMs: 3_600_000 },
      settings: signedIn,
    });
    await stage.openWindow();
  });

  after(async () => {
    await stage.dispose();
  });

  test('the question, the notice, the problems and the report are Japanese, and so is the run', async () => {
    const workbench = stage.workbench();
    await workbench.runCommand('Whitebox: 診断を開始…');
    const dialog = await workbench.dialogText();
    assert.match(dialog.message, /shop の 14 ファイルを診断のためにアップロードしますか/);
    await workbench.screenshot('japanese-1-confirm.png');
    await workbench.dialogButton('アップロードして開始');
    await eventually(
      () => Promise.resolve(stage.service.runs()),
      (runs) => runs.length === 1,
    );
    await eventually(
      () => workbench.statusBarItem('whitebox.status').innerText(),
      (text) => text.includes('0 分'),
    );
    const [run] = stage.service.runs();
    assert.ok(run);
    assert.equal(JSON.stringify(run.request).includes('"language":"japanese"'), true);
    await stage.service.finishRun(run.id);
    await workbench.runCommand('Whitebox: 実行の状態を今すぐ確認');
    await workbench.notification('shop の診断が完了しました: 指摘事項 12 件');
    await workbench.dismissNotifications();
    const problems = await eventually(workbench.problems, (rows) => rows.length === 12);
    assert.ok(problems.some(({ message }) => message.startsWith('重大: ')));
    await workbench.openView('Whitebox Assessment');
    await workbench.expandAll('指摘事項');
    await workbench.runCommand('Whitebox: レポートを開く');
    const report = await workbench.webviewFrame('レポート: shop');
    await report.getByText('深刻度別の指摘事項').first().waitFor();
    await workbench.screenshot('japanese-2-report.png');
  });
});
