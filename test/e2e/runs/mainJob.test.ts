import assert from 'node:assert/strict';
import { playJob } from '../../demo/playJob.ts';
import { eventually } from '../../host/workbench/eventually.ts';
import { test } from '../fixtures.ts';
import { ignoredSecret } from '../stage.ts';

test.describe.configure({ mode: 'serial' });
test.use({ stageOptions: { service: { runDurationMs: 3_600_000 } } });

test('the demo plays the whole job from sign-in to report', async ({ service, stage }) => {
  await playJob(stage, {
    step: () => undefined,
    picture: (name) => stage.workbench().screenshot(`main-${name}.png`),
    running: async () => {
      await eventually(
        () => stage.workbench().statusBarItem('whitebox.status').innerText(),
        (text) => text.includes('Whitebox 0m'),
      );
      await service.finishRun(service.runs()[0]!.id);
      await stage.workbench().runCommand('Whitebox: Check Run Status Now');
    },
  });
  const sent = service.runs()[0]?.archives.flatMap(({ entries }) => entries.map((entry) => entry.path)) ?? [];
  assert.ok(sent.includes('src/server.js') && sent.includes('docs/設計.md'));
  assert.ok(
    !sent.some((file) => file === '.env' || file.startsWith('build/') || file.startsWith('.git/')),
    ignoredSecret,
  );
  assert.deepEqual(
    service.files().map(({ state }) => state),
    ['cancelled', 'deleted'],
  );
});

test('the report links to the code; report and details are restored after a reload', async ({
  workbench,
}) => {
  const report = await workbench.webviewFrame('Report: shop');
  await report.getByRole('heading', { name: 'Whitebox Assessment Report' }).waitFor();
  await report.getByText('tools/import_stock.py:10').first().click();
  await eventually(workbench.editor, (editor) => editor.title === 'import_stock.py' && editor.line === 10);
  // The ID of a report is that of its run; the details of a finding, which are open as well, have a
  // longer one.
  await workbench.stateKept(/documentId\W+\d{14}-[0-9a-f]{8}[\\"]/);
  await workbench.reload();
  const again = await workbench.webviewFrame('Report: shop');
  await again.getByRole('heading', { name: 'Whitebox Assessment Report' }).waitFor();
  await workbench.page.locator('.tab').filter({ hasText: 'injection' }).waitFor();
  assert.deepEqual(
    (await workbench.notifications()).filter((message) => message.includes('has finished')),
    [],
    'a notice that was shown does not come again',
  );
});
