import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from '../fixtures.ts';
import { signedIn, type Stage, targetFile } from '../stage.ts';

test.describe.configure({ mode: 'serial' });
test.use({
  stageOptions: {
    application: true,
    service: { runDurationMs: 0 },
    settings: signedIn,
    viewport: { width: 1280, height: 700 },
  },
});

const common = `${'Open the login page of the shop, and wait for its form. '.repeat(3)}Use the large button on its right side. `;

/** Writes login instructions with a common prefix of more than 200 letters. */
async function tellWhereToLogIn({ folder }: Stage, where: string): Promise<void> {
  const file = path.join(folder, targetFile);
  const content = JSON.parse(await readFile(file, 'utf8')) as { authentication: object };
  const authentication = {
    ...content.authentication,
    additional_instructions: `${common}Log in at ${where}.`,
  };
  await writeFile(file, JSON.stringify({ ...content, authentication }, undefined, 2));
}

const dispatches = ({ service }: Stage): number =>
  service.requests.filter(({ path: at }) => at.endsWith('/dispatch')).length;

/** The shown question, which must fit the window. */
async function readQuestion(stage: Stage, picture: string) {
  const { dialogText, page, screenshot } = stage.workbench();
  const dialog = await dialogText();
  await screenshot(`blackbox-${picture}.png`);
  const hidden = await page
    .locator('.monaco-dialog-box .dialog-message-container')
    .evaluate(({ scrollHeight, clientHeight }) => scrollHeight - clientHeight);
  assert.equal(hidden, 0, `${String(hidden)} pixels of the question are out of view:\n${dialog.detail}`);
  return dialog;
}

async function endRun({ service, workbench }: Stage): Promise<void> {
  await service.settle();
  await workbench().runCommand('Whitebox: Check Run Status Now');
  await workbench().notification(/The crawl of .* has finished/);
  await workbench().dismissNotifications();
}

test('the question before a crawl fits the window and says where the service logs in', async ({ stage }) => {
  await tellWhereToLogIn(stage, '/login');
  const workbench = await stage.openWindow();
  await workbench.runCommand('Whitebox: Start Crawl…');
  for (const { id, password } of stage.application?.credentials ?? [])
    await workbench.answer(password, `Password for ${id}`);
  const { detail } = await readQuestion(stage, 'start');
  assert.ok(
    detail.includes(`The service logs in as these instructions say: ${common}Log in at /login.`),
    detail,
  );
  await workbench.dialogButton('Start Crawl');
  await endRun(stage);
});

test('F144 the question shows a change late in the instructions before a saved password is used; Enter sends nothing', async ({
  stage,
  workbench,
}) => {
  const sent = dispatches(stage);
  await tellWhereToLogIn(stage, 'https://evil.example');
  await workbench.runCommand('Whitebox: Start Crawl…');
  const { detail, buttons } = await readQuestion(stage, 'changed');
  assert.match(detail, /\+ ….*Log in at https:\/\/evil\.example\.\n/);
  assert.match(detail, /− ….*Log in at \/login\.$/m);
  assert.ok(buttons.includes('Use Saved Password'));
  await workbench.page.keyboard.press('Enter');
  const { isMasked, title } = await workbench.currentQuickInput();
  assert.deepEqual([isMasked, title.startsWith('Password for ')], [true, true]);
  await workbench.dismissQuickInput();
  assert.equal(dispatches(stage), sent);

  await workbench.runCommand('Whitebox: Start Crawl…');
  for (const { id } of stage.application?.credentials ?? []) {
    assert.match((await workbench.dialogText()).message, new RegExp(`password for ${id}`));
    await workbench.dialogButton('Use Saved Password');
  }
  const question = await readQuestion(stage, 'start-changed');
  assert.match(question.detail, /since the last start[^]*\+ ….*https:\/\/evil\.example\.\n/);
  await workbench.dialogButton('Start Crawl');
  await endRun(stage);
  assert.equal(dispatches(stage), sent + 1);
});

test('the question before a continuation fits the window', async ({ stage, workbench }) => {
  await workbench.runCommand('Whitebox: Assess Chosen Pairs…');
  await workbench.answer('50', 'Credits for testing');
  await workbench.answer('20', 'Credits for crawling');
  const { detail } = await readQuestion(stage, 'continuation');
  assert.ok(detail.indexOf('Credits:') < detail.indexOf('This run continues from'), detail);
});
