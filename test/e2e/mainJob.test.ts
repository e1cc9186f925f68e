import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { eventually } from '../host/workbench/eventually.ts';
import { setStage, signIn, type Stage } from './stage.ts';

describe('the main job in a real VS Code', () => {
  let stage: Stage;

  before(async () => {
    stage = await setStage({ service: { runDurationMs: 3_600_000 } });
  });

  after(async () => {
    await stage.dispose();
  });

  test('a new user is welcomed, and signs in', async () => {
    const workbench = await stage.openWindow();
    await workbench.trustWorkspace();
    await workbench.openView('Whitebox Assessment');
    await eventually(
      () => workbench.viewText('Runs'),
      (text) => text.includes('Sign in to the assessment service'),
    );
    await workbench.screenshot('main-1-welcome.png');
    await signIn(workbench, stage.service, 'wrong-token');
    await workbench.notification(/Sign-in failed: The access token is invalid/);
    await workbench.screenshot('main-2-wrong-token.png');
    await workbench.notificationButton(/Sign-in failed/, 'Try Again');
    await workbench.answer(stage.service.baseUrl);
    await workbench.answer(stage.service.organizationId);
    await workbench.answer(stage.service.token);
    await workbench.notification(/Signed in to http:\/\/127\.0\.0\.1/);
    await workbench.dismissNotifications();
    assert.deepEqual(
      stage.service.files().map(({ state }) => state),
      ['cancelled'],
    );
  });

  test('an assessment says what will be sent, and starts once confirmed', async () => {
    const workbench = stage.workbench();
    await workbench.runCommand('Whitebox: Start Assessment…');
    const dialog = await workbench.dialogText();
    assert.match(dialog.message, /Upload \d+ files of shop for assessment\?/);
    assert.match(dialog.detail, /credits/);
    await workbench.screenshot('main-3-confirm.png');
    await workbench.dialogButton('Upload and Start');
    await eventually(
      () => Promise.resolve(stage.service.runs()),
      (runs) => runs.length === 1,
    );
    await eventually(
      () => workbench.statusBarItem('whitebox.status').innerText(),
      (text) => text.includes('Whitebox 0m'),
    );
    await workbench.openView('Whitebox Assessment');
    await workbench.expandAll('Runs');
    await workbench.screenshot('main-4-running.png');
  });

  test('a run goes on while VS Code is closed, and its findings are there afterwards', async () => {
    await stage.closeWindows();
    const [run] = stage.service.runs();
    assert.ok(run);
    await stage.service.finishRun(run.id);
    const workbench = await stage.openWindow();
    await workbench.notification(/The assessment of shop has finished: \d+ findings/);
    await workbench.screenshot('main-5-finished.png');
    const problems = await eventually(workbench.problems, (rows) => rows.length > 0);
    assert.ok(problems.every(({ source }) => source === 'Whitebox'));
    await workbench.screenshot('main-6-problems.png');
    const [first] = problems;
    assert.ok(first);
    await workbench.openProblem(first.message);
    await eventually(workbench.editor, (editor) => editor.title === first.file && editor.line === first.line);
  });

  test('the report opens and leads to the code', async () => {
    const workbench = stage.workbench();
    await workbench.dismissNotifications();
    await workbench.runCommand('Whitebox: Open Report');
    const report = await workbench.webviewFrame('Report: shop');
    await report.getByRole('heading').first().waitFor();
    await workbench.openView('Whitebox Assessment');
    await workbench.expandAll('Findings');
    await workbench.screenshot('main-7-report.png');
  });
});
