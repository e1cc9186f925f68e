import assert from 'node:assert/strict';
import { eventually } from '../host/workbench/eventually.ts';
import { test } from './fixtures.ts';
import { importInvented, signedIn } from './stage.ts';

test.describe.configure({ mode: 'serial' });
test.use({
  stageOptions: {
    settings: (service) => ({ ...signedIn(service), 'security.workspace.trust.enabled': true }),
  },
});

test('F84 an untrusted folder is read-only', async ({ service, workbench }) => {
  await workbench.restrictedMode();
  await workbench.openView('Whitebox Assessment');
  await workbench.untilViewText('Runs', 'Restricted Mode');
  for (const command of ['Start Assessment…', 'Sign In…'])
    assert.equal(await workbench.listsCommand(`Whitebox: ${command}`), false, command);
  assert.deepEqual(service.requests, []);
});

test('in Restricted Mode findings can be imported and viewed; nothing is sent', async ({
  service,
  stage,
  workbench,
}) => {
  await importInvented(stage);
  await eventually(workbench.problems, (rows) => rows.length === 1);
  assert.deepEqual(service.requests, []);
});

test('a user with a token command is signed in as soon as the workspace is trusted, without a reload', async ({
  workbench,
}) => {
  await workbench.trustWorkspace();
  await workbench.runCommand('Whitebox: Start Assessment…');
  assert.match((await workbench.dialogText()).message, /^Upload 14 files of shop/);
  await workbench.dialogButton('Cancel');
});
