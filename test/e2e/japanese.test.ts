import assert from 'node:assert/strict';
import { eventually } from '../host/workbench/eventually.ts';
import { storeEndedRun } from '../integration/storedRuns.ts';
import { signedIn } from './stage.ts';
import { test } from './fixtures.ts';

test.describe.configure({ mode: 'serial' });
test.use({ stageOptions: { language: 'ja', service: { runDurationMs: 3_600_000 }, settings: signedIn } });

test.beforeAll(({ stage }) => {
  const { baseUrl, organizationId } = stage.service;
  const run = { id: 'earlier', folder: stage.folder, baseUrl, organizationId };
  return storeEndedRun(stage.storage, run, [
    {
      title: 'SQL injection through a composed statement',
      severity: 'critical',
      recommendation: 'Use placeholders and pass the values separately.',
      locations: [{ file: 'src/orders.js', start_line: 5 }],
    },
  ]);
});

test('hover, quick fix and details are in Japanese', async ({ workbench }) => {
  await workbench.runCommand('Whitebox: 次の指摘事項へ移動');
  await eventually(workbench.editor, ({ title, line }) => title === 'orders.js' && line === 5);
  await workbench.hoverText('SELECT * FROM orders WHERE customer_id', '推奨される対策');
  await workbench.page.keyboard.press('Escape');
  await workbench.quickFixes();
  await workbench.takeQuickFix('詳細を表示');
  const details = await workbench.webviewFrame('SQL injection through a composed statement');
  await details.getByRole('heading', { name: '該当箇所' }).waitFor();
  await workbench.screenshot('code-5-japanese.png');
});

test('question, notification, problems, report and run are in Japanese', async ({ service, workbench }) => {
  await workbench.runCommand('Whitebox: 診断を開始…');
  const dialog = await workbench.dialogText();
  assert.match(dialog.message, /shop の 14 ファイルを診断のためにアップロードしますか/);
  await workbench.screenshot('japanese-1-confirm.png');
  await workbench.dialogButton('アップロードして開始');
  await eventually(
    () => service.runs(),
    (runs) => runs.length === 1,
  );
  await eventually(
    () => workbench.statusBarItem('whitebox.status').innerText(),
    (text) => text.includes('0 分'),
  );
  const [run] = service.runs();
  assert.ok(run);
  assert.equal(JSON.stringify(run.request).includes('"language":"japanese"'), true);
  await service.finishRun(run.id);
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
