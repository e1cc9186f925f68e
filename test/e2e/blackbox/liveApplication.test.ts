import assert from 'node:assert/strict';
import { playBlackbox } from '../../demo/playBlackbox.ts';
import { eventually } from '../../host/workbench/eventually.ts';
import { test } from '../fixtures.ts';
import { signedIn } from '../stage.ts';

test.describe.configure({ mode: 'serial' });
test.use({ stageOptions: { application: true, service: { runDurationMs: 0 }, settings: signedIn } });

test('a live application is crawled, its features are chosen from and assessed, as the demo plays it', async ({
  service,
  stage,
}) => {
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

test('F138 its findings are in the Findings view, and none in Problems', async ({ workbench }) => {
  await workbench.expandAll('Findings');
  const rows = await workbench.treeRows('Findings');
  assert.ok(rows.some(({ label }) => /SQL|XSS|script/i.test(label)));
  assert.deepEqual(await eventually(workbench.problems, () => true), []);
});
