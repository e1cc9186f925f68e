import assert from 'node:assert/strict';
import { eventually, untilEqual } from '../../host/workbench/eventually.ts';
import { importInvented, signIn } from '../stage.ts';
import { test } from '../fixtures.ts';

test.describe.configure({ mode: 'serial' });
test.use({
  stageOptions: { service: { runDurationMs: 3_600_000 } },
});

test('starting while signed out asks for sign-in first', async ({ service, workbench }) => {
  await workbench.trustWorkspace();
  await workbench.openView('Whitebox Assessment');
  await workbench.untilViewText('Runs', 'Sign in to the assessment service');
  await workbench.runCommand('Whitebox: Start Assessment…');
  const asked = await workbench.currentQuickInput();
  assert.equal(asked.title, 'Sign In to the Assessment Service (1/3)');
  await workbench.answer('not an address');
  await eventually(workbench.currentQuickInput, ({ message }) =>
    message.includes('Enter a URL such as https'),
  );
  await workbench.answer('http://assessment.example.com');
  await eventually(workbench.currentQuickInput, ({ message }) => message.includes('isn’t https'));
  await workbench.dismissQuickInput();
  assert.equal(service.requests.length, 0);
});

test('sign-in says where to find each value and can go back to an earlier question', async ({
  service,
  workbench,
}) => {
  const titleButton = (name: string) =>
    workbench.page.locator('.quick-input-titlebar').getByRole('button', { name });
  await workbench.runCommand('Whitebox: Sign In…');
  await workbench.answer(service.baseUrl);
  assert.match((await workbench.currentQuickInput()).message, /Ask the person who set up the service/);
  const where = workbench.page
    .locator('.gettingStartedContainer')
    .getByText('Organization ID: from the person who set up the service');
  // VS Code 1.108 knows an extension's walkthrough only 5 s after its start; until then it opens
  // another one.
  await eventually(
    async () => {
      await titleButton('Where Do I Get This?').click();
      return where.isVisible();
    },
    (isVisible) => isVisible,
  );
  await titleButton('Back').click();
  const first = await eventually(workbench.currentQuickInput, ({ title }) => title.includes('1/3'));
  assert.equal(first.value, service.baseUrl);
  await workbench.dismissQuickInput();
});

test('a rejected token keeps the sign-in at the token question', async ({ service, workbench }) => {
  await signIn(workbench, service, 'wrong-token');
  await workbench.notification('Sign-in failed: The access token for http://127.0.0.1');
  await workbench.notificationButton('Sign-in failed', 'Retry');
  await workbench.answer(service.baseUrl);
  await workbench.answer(service.organizationId);
  await workbench.answer(service.token);
  await workbench.notification('Signed in to http://127.0.0.1');
  await workbench.untilViewText('Runs', 'No assessment has been started yet');
  await workbench.dismissNotifications();
  assert.deepEqual(
    service.files().map(({ state }) => state),
    ['cancelled'],
    'the reservation that checks the token is given back',
  );
});

test('a start without an answer is not sent again, and continues with a run ID entered by the user', async ({
  service,
  workbench,
}) => {
  service.addFault({ match: { path: '/dispatch', nth: 1 }, after: { kind: 'reset' } });
  await workbench.runCommand('Whitebox: Start Assessment…');
  await workbench.dialogButton('Upload and Start');
  await workbench.notification('The response to the start request for the assessment of shop was lost');
  await workbench.openView('Whitebox Assessment');
  await workbench.expandAll('Runs');
  await untilEqual(() => workbench.containerBadge('Whitebox Assessment'), '1');
  const dispatches = service.requests.filter((request) => request.path.endsWith('/dispatch'));
  assert.equal(dispatches.length, 1);
  const [run] = service.runs();
  assert.ok(run);
  await workbench.notificationButton('The response to the start request', 'Enter Run ID…');
  await workbench.answer(run.id);
  await workbench.untilRow('Runs', ({ label }) => label.startsWith('Running'));
});

test('F169 a window whose keyring does not answer shows runs and findings, and goes on once it answers', async ({
  service,
  stage,
  workbench,
}) => {
  await importInvented(stage);
  const { page, reload, openView, untilRow, runCommand, statusBarItem } = workbench;
  const described = (): number =>
    service.requests.filter(({ path: name }) => name.endsWith('/describe')).length;
  const keyring = Promise.withResolvers<undefined>();
  // VS Code’s secret storage in the browser has its key from here.
  await page.context().route('**/mint-key', async (route) => {
    await keyring.promise;
    await route.fallback();
  });
  await reload();
  await openView('Whitebox Assessment');
  await untilRow('Findings', ({ label }) => label === 'High');
  const asked = described();
  // Both wait for the keyring until it is late.
  await runCommand('Whitebox: Start Assessment…');
  await untilRow('Runs', ({ description }) => description.startsWith('account not available yet'));
  await eventually(
    () => statusBarItem('whitebox.status').innerHTML(),
    (status) => status.includes('codicon-sync') && !status.includes('codicon-warning'),
  );
  await workbench.notification(
    'Your account isn’t available yet, because VS Code’s secret storage isn’t responding',
  );
  await workbench.dismissNotifications();
  assert.equal(described(), asked);
  keyring.resolve(undefined);
  await untilRow(
    'Runs',
    ({ label, description }) => label.startsWith('Running') && !description.startsWith('account'),
  );
  await eventually(described, (now) => now > asked);
});
