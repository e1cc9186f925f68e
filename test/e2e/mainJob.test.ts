import assert from 'node:assert/strict';
import { appendFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { eventually } from '../host/workbench/eventually.ts';
import { ignoredSecret, setStage, signIn, startAssessment, type Stage } from './stage.ts';

describe('the main job in a real VS Code', () => {
  let stage: Stage;

  before(async () => {
    stage = await setStage({ service: { runDurationMs: 3_600_000 } });
  });

  after(async () => {
    await stage.dispose();
  });

  test('F84 a folder that is not trusted can be looked at only', async () => {
    const workbench = await stage.openWindow();
    await workbench.restrictedMode();
    await workbench.openView('Whitebox Assessment');
    await eventually(
      () => workbench.viewText('Runs'),
      (text) => text.includes('Restricted Mode'),
    );
    for (const command of ['Start Assessment…', 'Sign In…'])
      assert.equal(await workbench.listsCommand(`Whitebox: ${command}`), false, command);
    assert.deepEqual(stage.service.requests, []);
    await workbench.trustWorkspace();
  });

  test('a new user is welcomed, learns that a token is wrong, and signs in', async () => {
    const workbench = stage.workbench();
    await eventually(
      () => workbench.viewText('Runs'),
      (text) => text.includes('Sign in to the assessment service'),
    );
    await workbench.screenshot('main-1-welcome.png');
    await signIn(workbench, stage.service, 'wrong-token');
    await workbench.notification('Sign-in failed: The access token for http://127.0.0.1');
    await workbench.notificationButton('Sign-in failed', 'Try Again');
    await workbench.answer(stage.service.baseUrl);
    await workbench.answer(stage.service.organizationId);
    await workbench.answer(stage.service.token);
    await workbench.notification('Signed in to http://127.0.0.1');
    await workbench.dismissNotifications();
    assert.deepEqual(
      stage.service.files().map(({ state }) => state),
      ['cancelled'],
      'the reservation that checks the token is given back',
    );
  });

  test('declining the upload sends nothing and leaves nothing', async () => {
    const workbench = stage.workbench();
    const before = stage.service.requests.length;
    await workbench.runCommand('Whitebox: Start Assessment…');
    const dialog = await workbench.dialogText();
    assert.match(dialog.message, /Upload 14 files of shop for assessment\?/);
    assert.match(dialog.detail, /Destination: http:\/\/127\.0\.0\.1:\d+, organization/);
    assert.match(dialog.detail, /credits/);
    await workbench.screenshot('main-2-confirm.png');
    await workbench.dialogButton('Cancel');
    await eventually(
      () => workbench.viewText('Runs'),
      (text) => text.includes('No assessment has been started yet'),
    );
    assert.equal(stage.service.requests.length, before);
  });

  test('a confirmed assessment uploads what git does not ignore, and runs', async () => {
    const workbench = stage.workbench();
    await startAssessment(stage);
    await eventually(
      () => workbench.statusBarItem('whitebox.status').innerText(),
      (text) => text.includes('Whitebox 0m'),
    );
    await workbench.expandAll('Runs');
    await workbench.screenshot('main-3-running.png');
    const [run] = stage.service.runs();
    const sent = run?.archives.flatMap(({ entries }) => entries.map((entry) => entry.path)) ?? [];
    assert.ok(sent.includes('src/server.js') && sent.includes('docs/設計.md'));
    assert.ok(
      !sent.some((file) => file === '.env' || file.startsWith('build/') || file.startsWith('.git/')),
      ignoredSecret,
    );
  });

  test('a run goes on while VS Code is closed, and its findings are there afterwards, with one notice', async () => {
    await stage.closeWindows();
    const [run] = stage.service.runs();
    assert.ok(run);
    await stage.service.finishRun(run.id);
    const workbench = await stage.openWindow();
    await workbench.notification('The assessment of shop has finished: 12 findings');
    await workbench.screenshot('main-4-finished.png');
    const problems = await eventually(workbench.problems, (rows) => rows.length === 12);
    assert.ok(problems.every(({ source }) => source === 'Whitebox'));
    await workbench.screenshot('main-5-problems.png');
    const told = await workbench.notifications();
    assert.deepEqual(
      told.map(({ message }) => message).filter((message) => message.includes('has finished')),
      ['The assessment of shop has finished: 12 findings.'],
    );
    const last = problems.at(-1);
    assert.ok(last);
    await workbench.openProblem(last.message);
    await eventually(workbench.editor, (editor) => editor.title === last.file && editor.line === last.line);
  });

  test('the uploaded source was deleted from the service, and the run says so', async () => {
    const workbench = stage.workbench();
    assert.deepEqual(
      stage.service.files().map(({ state }) => state),
      ['cancelled', 'deleted'],
    );
    await workbench.openView('Whitebox Assessment');
    await workbench.expandAll('Runs');
    const rows = await workbench.treeRows('Runs');
    assert.match(
      rows.find(({ label }) => label.startsWith('Uploaded source'))?.description ?? '',
      /^deleted from the service on/,
    );
  });

  test('a finding in the tree leads to its line', async () => {
    const workbench = stage.workbench();
    await workbench.expandAll('Findings');
    const rows = await workbench.treeRows('Findings');
    assert.deepEqual(
      rows.filter(({ level }) => level === 1).map(({ label, description }) => [label, description]),
      [
        ['Critical', '3'],
        ['High', '4'],
        ['Medium', '3'],
        ['Low', '1'],
        ['No impact', '1'],
      ],
    );
    await workbench.treeRowClick('Findings', 'Weak hash function');
    await eventually(workbench.editor, (editor) => editor.title === 'passwords.js' && editor.line === 7);
  });

  test('the report opens, leads to the code, and is still there after a reload', async () => {
    const workbench = stage.workbench();
    await workbench.dismissNotifications();
    await workbench.runCommand('Whitebox: Open Report');
    const report = await workbench.webviewFrame('Report: shop');
    await report.getByRole('heading', { name: 'Whitebox Assessment Report' }).waitFor();
    await workbench.screenshot('main-6-report.png');
    await report.getByText('tools/import_stock.py:10').first().click();
    await eventually(workbench.editor, (editor) => editor.title === 'import_stock.py' && editor.line === 10);
    await workbench.stateKept(/documentId/);
    await workbench.reload();
    const again = await workbench.webviewFrame('Report: shop');
    await again.getByRole('heading', { name: 'Whitebox Assessment Report' }).waitFor();
    assert.deepEqual(
      (await workbench.notifications()).filter(({ message }) => message.includes('has finished')),
      [],
      'a notice that was shown does not come again',
    );
  });

  test('starting again says that the same files were sent before', async () => {
    const workbench = stage.workbench();
    await workbench.runCommand('Whitebox: Start Assessment…');
    assert.match((await workbench.dialogText()).detail, /These are exactly the files that were sent/);
    await workbench.dialogButton('Cancel');
    await appendFile(path.join(stage.folder, 'README.md'), '\nChanged.\n');
    await workbench.runCommand('Whitebox: Start Assessment…');
    assert.doesNotMatch((await workbench.dialogText()).detail, /These are exactly the files that were sent/);
    await workbench.dialogButton('Cancel');
  });
});
