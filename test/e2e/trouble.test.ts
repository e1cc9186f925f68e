import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { eventually } from '../host/workbench/eventually.ts';
import { setStage, signedIn, signIn, startAssessment, type Stage } from './stage.ts';

describe('what goes wrong is said, with what to do next', () => {
  let stage: Stage;

  before(async () => {
    stage = await setStage({ service: { runDurationMs: 3_600_000, cancelDelayMs: 3_600_000 } });
    const workbench = await stage.openWindow();
    await workbench.trustWorkspace();
  });

  after(async () => {
    await stage.dispose();
  });

  test('starting without being signed in asks for the sign-in first', async () => {
    const workbench = stage.workbench();
    await workbench.runCommand('Whitebox: Start Assessment…');
    const asked = await workbench.currentQuickInput();
    assert.equal(asked.title, 'Sign In to the Assessment Service (1/3)');
    await workbench.answer('not an address');
    assert.match((await workbench.currentQuickInput()).message, /Enter an address such as https/);
    await workbench.answer('http://assessment.example.com');
    assert.match((await workbench.currentQuickInput()).message, /not https/);
    await workbench.dismissQuickInput();
    assert.equal(stage.service.requests.length, 0);
  });

  test('the sign-in says where to get what it asks for, and goes back to an earlier question', async () => {
    const workbench = stage.workbench();
    const titleButton = (name: string) =>
      workbench.page.locator('.quick-input-titlebar').getByRole('button', { name });
    await workbench.runCommand('Whitebox: Sign In…');
    await workbench.answer(stage.service.baseUrl);
    assert.match((await workbench.currentQuickInput()).message, /Whoever set the service up for you/);
    await titleButton('Where Do I Get This?').click();
    const walkthrough = workbench.page.locator('.gettingStartedContainer');
    await walkthrough.getByText('Organization ID: from whoever set the service up').waitFor();
    await titleButton('Back').click();
    const first = await eventually(workbench.currentQuickInput, ({ title }) => title.includes('1/3'));
    assert.equal(first.value, stage.service.baseUrl);
    await workbench.dismissQuickInput();
  });

  test('a service that cannot be reached is named', async () => {
    const workbench = stage.workbench();
    const free = await freeAddress();
    await signIn(workbench, { ...stage.service, baseUrl: free });
    await workbench.notification(
      /Sign-in failed: http:\/\/127\.0\.0\.1:\d+ cannot be reached \(ECONNREFUSED\)/,
    );
    await workbench.dismissNotifications();
  });

  test('a page in place of the API is recognised', async () => {
    const workbench = stage.workbench();
    const remove = stage.service.addFault({
      match: { path: '/get-upload-url' },
      before: {
        kind: 'reply',
        status: 200,
        headers: { 'content-type': 'text/html' },
        body: '<title>Company proxy</title>',
      },
    });
    await signIn(workbench, stage.service);
    await workbench.notification('answered with something that is not the assessment API');
    await workbench.dismissNotifications();
    remove();
  });

  test('a wrong organization is refused at the sign-in', async () => {
    const workbench = stage.workbench();
    await signIn(workbench, { ...stage.service, organizationId: 'somebody-else' });
    await workbench.notification(/Sign-in failed: .*organization/);
    await workbench.dismissNotifications();
  });

  test('a lost answer to the start is not sent again; the run ID that a person finds goes on with it', async () => {
    const workbench = stage.workbench();
    await signIn(workbench, stage.service);
    await workbench.notification('Signed in to');
    await workbench.dismissNotifications();
    stage.service.addFault({ match: { path: '/dispatch', nth: 1 }, after: { kind: 'reset' } });
    await workbench.runCommand('Whitebox: Start Assessment…');
    await workbench.dialogButton('Upload and Start');
    await workbench.notification('The answer to the start of the assessment of shop was lost');
    await workbench.openView('Whitebox Assessment');
    await workbench.expandAll('Runs');
    await workbench.screenshot('trouble-1-unknown.png');
    assert.equal(await workbench.containerBadge('Whitebox Assessment'), '1');
    const dispatches = stage.service.requests.filter((request) => request.path.endsWith('/dispatch'));
    assert.equal(dispatches.length, 1);
    const [run] = stage.service.runs();
    assert.ok(run);
    await workbench.notificationButton('The answer to the start', 'I Have the Run ID…');
    await workbench.answer(run.id);
    await eventually(
      () => workbench.treeRows('Runs'),
      (rows) => rows.some(({ description }) => description.startsWith('running')),
    );
  });

  test('a run is cancelled after a question, and stays "cancelling" until the service says that it has ended', async () => {
    const workbench = stage.workbench();
    await workbench.runCommand('Whitebox: Cancel Run…');
    await workbench.dialogButton('Cancel the Run');
    await eventually(
      () => workbench.treeRows('Runs'),
      (rows) => rows.some(({ description }) => description.startsWith('cancelling')),
    );
    const [run] = stage.service.runs();
    assert.ok(run);
    await stage.service.finishRun(run.id, { kind: 'aborted', code: 'cancelled' });
    await workbench.runCommand('Whitebox: Check Run Status Now');
    await eventually(
      () => workbench.treeRows('Runs'),
      (rows) => rows.some(({ description }) => description.startsWith('cancelled')),
    );
    await workbench.notification('The assessment of shop has ended: cancelled');
    await workbench.dismissNotifications();
  });

  test('a findings file that is no list is kept and named; the report still opens', async () => {
    const workbench = stage.workbench();
    await startAssessment(stage);
    const run = stage.service.runs().at(-1);
    assert.ok(run);
    await stage.service.finishRun(run.id, { kind: 'success', contents: { findings: '"nothing"' } });
    await workbench.runCommand('Whitebox: Check Run Status Now');
    await workbench.notification('The findings file cannot be read as a list of findings');
    await workbench.notificationButton('The findings file cannot be read', 'Open Report');
    const report = await workbench.webviewFrame('Report: shop');
    await report.getByRole('heading', { name: 'Whitebox Assessment Report' }).waitFor();
    await workbench.dismissNotifications();
  });

  test('a run that was started elsewhere is tracked by its ID', async () => {
    const workbench = stage.workbench();
    await workbench.runCommand('Whitebox: Track Existing Run by ID…');
    await workbench.answer('no-such-run');
    await workbench.notification('The service does not know this organization or run');
    await workbench.dismissNotifications();
  });

  test('a token that stops working in mid-run pauses the run until a new sign-in', async () => {
    const workbench = stage.workbench();
    await startAssessment(stage);
    stage.service.setTokens(['another-invented-token']);
    await workbench.runCommand('Whitebox: Check Run Status Now');
    await eventually(
      () => workbench.statusBarItem('whitebox.status').innerHTML(),
      (html) => html.includes('codicon-warning'),
    );
    await workbench.screenshot('trouble-2-token.png');
    await workbench.runCommand('Whitebox: Test Connection');
    await workbench.notification(/Connection test, token: .* These work: address, network, .*, service\./);
    await workbench.dismissNotifications();
    // The run waits for the token of its own service and organization: nothing else is asked.
    await workbench.statusBarItem('whitebox.status').click();
    await workbench.pick('Sign In…');
    await workbench.answer('another-invented-token');
    await eventually(
      () => workbench.statusBarItem('whitebox.status').innerHTML(),
      (html) => html.includes('codicon-sync'),
    );
  });
});

describe('a folder with nothing to send', () => {
  let stage: Stage;
  let folder: string;

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'whitebox-empty-'));
    await mkdir(path.join(folder, 'logs'));
    await writeFile(path.join(folder, '.gitignore'), '*\n');
    await writeFile(path.join(folder, 'logs', 'a.log'), 'ignored\n');
    stage = await setStage({
      folder,
      settings: (service) => ({ ...signedIn(service), 'whitebox.archive.maxSizeMB': 1 }),
    });
    await stage.openWindow();
  });

  after(async () => {
    await stage.dispose();
    await rm(folder, { recursive: true, force: true });
  });

  test('F31 it is refused before any call', async () => {
    const workbench = stage.workbench();
    await workbench.runCommand('Whitebox: Start Assessment…');
    await workbench.notification('There is nothing to send');
    await workbench.dismissNotifications();
    assert.equal(stage.service.requests.length, 0);
  });

  test('an archive over the limit is refused before any call, and the limit can be opened', async () => {
    const workbench = stage.workbench();
    await rm(path.join(folder, '.gitignore'));
    await writeFile(path.join(folder, 'noise.bin'), crypto.getRandomValues(new Uint8Array(60_000)));
    for (let i = 0; i < 40; i += 1) {
      await writeFile(
        path.join(folder, `noise-${String(i)}.bin`),
        crypto.getRandomValues(new Uint8Array(60_000)),
      );
    }
    await workbench.runCommand('Whitebox: Start Assessment…');
    await workbench.notification('The archive is larger than the limit of 1');
    await workbench.notificationButton('The archive is larger', 'Open Settings');
    await eventually(workbench.editorTitles, (titles) => titles.includes('Settings'));
    assert.equal(stage.service.requests.length, 0);
  });
});

async function freeAddress(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  assert.ok(typeof address === 'object' && address !== null);
  return `http://127.0.0.1:${String(address.port)}/v1`;
}
