import assert from 'node:assert/strict';
import type { Workbench } from '../../host/workbench.ts';
import { eventually } from '../../host/workbench/eventually.ts';
import { storeCrawl } from '../../integration/storedRuns.ts';
import { signedIn } from '../stage.ts';
import { test } from '../fixtures.ts';

test.describe.configure({ mode: 'serial' });
test.use({
  stageOptions: {
    service: { runDurationMs: 3_600_000 },
    settings: signedIn,
    viewport: { width: 1280, height: 1100 },
  },
});

// Invented, as the formats of these artifacts are.
const artifacts = {
  features: [
    {
      name: 'Log in',
      method: 'POST',
      url: 'https://shop.example.test/login',
      description: 'Signs a customer in.',
    },
    { name: 'Search the catalogue', method: 'GET', url: 'https://shop.example.test/search' },
    { name: 'Pay\u202E[now](command:workbench.action.quit) $(bug)', url: 'https://shop.example.test/pay' },
  ],
  scan_progress: {
    completed: [
      { feature_name: 'Log in', perspective: 'Injection' },
      { feature_name: 'Log in', perspective: 'XSS' },
    ],
    skipped: [{ feature_name: 'Log in', perspective: 'FileSystem' }],
  },
};

test.beforeAll(({ stage }) => {
  const { baseUrl, organizationId } = stage.service;
  return storeCrawl(stage.storage, { id: 'crawl', folder: stage.folder, baseUrl, organizationId }, artifacts);
});

const message = (workbench: Workbench, start: string): Promise<string> =>
  eventually(
    () => workbench.viewText('Features'),
    (text) => text.startsWith(start),
  );

test('the row of a run opens its features as plain text with checkboxes', async ({ workbench }) => {
  await workbench.openView('Whitebox Assessment');
  await workbench.untilRow('Runs', ({ label }) => label === 'Finished');
  await workbench.treeRowAction('Runs', 'Finished', 'Show Features');
  await message(workbench, '33 of 33 pairs chosen. 2 tested, 1 not applicable.');
  const rows = await workbench.treeRows('Features');
  assert.deepEqual(
    rows.map(({ label, description, isChecked }) => [label, description, isChecked]),
    [
      ['Log in', '11 of 11 · POST https://shop.example.test/login', true],
      ['Search the catalogue', '11 of 11 · GET https://shop.example.test/search', true],
      [
        'Pay\\u{202E}[now](command:workbench.action.quit) $(bug)',
        '11 of 11 · https://shop.example.test/pay',
        true,
      ],
    ],
  );
});

test('pairs are chosen by keyboard, perspective and priority', async ({ workbench }) => {
  const { keyboard } = workbench.page;
  await workbench.treeRowClick('Features', 'Log in');
  await keyboard.press('Space');
  await message(workbench, '22 of 33 pairs chosen.');
  await keyboard.press('ArrowRight');
  await workbench.untilRow('Features', ({ label }) => label === 'XSS');
  await keyboard.press('ArrowDown');
  await keyboard.press('ArrowDown');
  await keyboard.press('Space');
  await message(workbench, '23 of 33 pairs chosen.');
  await workbench.treeRowMenu('Features', 'XSS', 'Set Priority…');
  await workbench.pick('High priority');
  const rows = await workbench.untilRow('Features', ({ description }) =>
    description.includes('High priority'),
  );
  const xss = rows.find(({ label }) => label === 'XSS');
  assert.deepEqual(
    [xss?.description, xss?.isChecked, xss?.ariaLabel.startsWith('XSS, tested · High priority')],
    ['tested · High priority', true, true],
  );
  await workbench.screenshot('features-1-chosen.png');

  await workbench.viewAction('Features', 'Choose Pairs…');
  await workbench.pick('By Perspective…');
  await workbench.screenshot('features-2-perspectives.png');
  await workbench.pickSeveral(['XSS', 'CORS']);
  await message(workbench, '6 of 33 pairs chosen.');
});

test('F136 without a chosen pair, no question is asked and nothing is sent', async ({
  service,
  workbench,
}) => {
  await workbench.viewAction('Features', 'Choose Pairs…');
  await workbench.pick('No Pairs');
  await message(workbench, '0 of 33 pairs chosen.');
  await workbench.viewAction('Features', 'Assess Chosen Pairs…');
  await workbench.notification('Nothing was sent: no pair is chosen.');
  await workbench.dismissNotifications();
  assert.ok(service.requests.every(({ method }) => method === 'GET'));
  await workbench.viewAction('Features', 'Choose Pairs…');
  await workbench.pick('All Pairs');
  await message(workbench, '33 of 33 pairs chosen.');
});
