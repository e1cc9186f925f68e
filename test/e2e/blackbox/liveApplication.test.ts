import assert from 'node:assert/strict';
import { playBlackbox } from '../../demo/playBlackbox.ts';
import { eventually } from '../../host/workbench/eventually.ts';
import { test } from '../fixtures.ts';
import { signedIn } from '../stage.ts';

test.describe.configure({ mode: 'serial' });
test.use({ stageOptions: { application: true, service: { runDurationMs: 0 }, settings: signedIn } });

test('the demo crawls a live application, chooses features and assesses them', async ({ service, stage }) => {
  await stage.openWindow();
  await playBlackbox(stage, {
    step: () => undefined,
    picture: (name) => stage.workbench().screenshot(`blackbox-${name}.png`),
    running: async () => {
      await service.settle();
      await stage.workbench().runCommand('Whitebox: Check Run Status Now');
    },
  });
  const dispatches = service.requests.filter(({ path }) => path.endsWith('/dispatch'));
  assert.deepEqual(
    dispatches.map(({ path }) => path.split('/').at(-2)),
    ['blackbox-crawl', 'blackbox-assessment'],
  );
  const { input } = dispatches[1]?.body as { input: { pairs?: { perspective: string }[] } };
  assert.deepEqual(
    new Set(input.pairs?.map(({ perspective }) => perspective)),
    new Set(['Injection', 'XSS', 'OpenRedirect']),
  );
});

test('F138 findings of a live application appear in the Findings view and not in Problems', async ({
  workbench,
}) => {
  await workbench.expandAll('Findings');
  const rows = await workbench.treeRows('Findings');
  assert.ok(rows.some(({ label }) => /SQL|XSS|script/i.test(label)));
  assert.deepEqual(await eventually(workbench.problems, () => true), []);
});

test('F143 continuing an assessment of chosen pairs after its limit keeps these pairs, and the question names them', async ({
  service,
  workbench,
}) => {
  const nextPairs = async (): Promise<readonly { readonly feature_name: string }[]> => {
    const before = service.requests.length;
    await workbench.dialogButton('Start Assessment');
    const dispatch = await eventually(
      () => service.requests.slice(before).find(({ path }) => path.endsWith('/dispatch')),
      (sent) => sent !== undefined,
    );
    return (dispatch?.body as { input: { pairs: { feature_name: string }[] } }).input.pairs;
  };
  const [feature] = await workbench.treeRows('Features');
  assert.ok(feature !== undefined);
  await workbench.viewAction('Features', 'Choose Pairs…');
  await workbench.pick('All Pairs');
  const all = /^(\d+) of \1 pairs chosen/;
  await eventually(
    () => workbench.viewText('Features'),
    (text) => all.test(text),
  );
  await workbench.treeRowClick('Features', feature.label);
  await workbench.page.keyboard.press('Space');
  await eventually(
    () => workbench.viewText('Features'),
    (text) => !all.test(text),
  );
  await workbench.runCommand('Whitebox: Assess Chosen Pairs…');
  await workbench.answer('10', 'Credits for testing');
  await workbench.answer('5', 'Credits for crawling');
  const chosen = await nextPairs();
  assert.ok(chosen.every(({ feature_name }) => feature_name !== feature.label));
  await service.settle();
  await workbench.runCommand('Whitebox: Check Run Status Now');
  await workbench.notificationButton('credit limit reached', 'Continue with More Credits…');
  await workbench.answer('50', 'Credits for testing');
  await workbench.answer('20', 'Credits for crawling');
  const { detail } = await workbench.dialogText();
  const listed = new RegExp(
    `Only these pairs are tested: ${chosen.length}\\.\\n(.+ · .+\\n){5}… and ${chosen.length - 5} more`,
  );
  assert.match(detail, listed);
  await workbench.screenshot('blackbox-continue.png');
  assert.deepEqual(await nextPairs(), chosen);
});
