import assert from 'node:assert/strict';
import type { Workbench } from '../../host/workbench.ts';
import { eventually } from '../../host/workbench/eventually.ts';
import { test } from '../fixtures.ts';
import { signedIn, startAssessment } from '../stage.ts';

/** Every night each way a window can go is repeated ten times. */
const times = Number(process.env['TAKEOVERS'] ?? 1);

test.describe.configure({ mode: 'serial', timeout: times * 300_000 });
test.use({ stageOptions: { service: { runDurationMs: 3_600_000 }, settings: signedIn } });

const waysToGo: Readonly<Record<string, (window: Workbench) => Promise<unknown>>> = {
  // Its extension host keeps running and waits for a reconnection.
  'is killed': ({ page }) => page.goto('chrome://crash').catch(() => undefined),
  reloads: ({ reload }) => reload(),
};

let other: Workbench | undefined;

for (const [way, go] of Object.entries(waysToGo))
  test(`F172 another window drives a run whose window ${way}, and one notification shows its end`, async ({
    service,
    stage,
  }) => {
    other ??= await stage.openWindow();
    for (let time = 0; time < times; time++) {
      const starter = await stage.openWindow();
      await startAssessment(stage);
      const statusOf = ({ statusBarItem }: Workbench): Promise<string> =>
        statusBarItem('whitebox.status').innerText();
      await eventually(
        () => statusOf(other!),
        (text) => text.includes('Whitebox 0m'),
      );
      await go(starter);
      const goneAt = performance.now();
      await service.finishRun(service.runs().at(-1)!.id);
      const windows = way === 'reloads' ? [other, starter] : [other];
      for (const window of windows)
        await eventually(
          () => statusOf(window),
          (text) => text.trim() === '12',
        );
      console.log(`${way}: its end was there after ${Math.round((performance.now() - goneAt) / 1000)} s`);
      const notices = async (): Promise<string[]> =>
        (await Promise.all(windows.map((window) => window.notifications())))
          .flat()
          .filter((message) => message.includes('has finished'));
      await eventually(notices, ({ length }) => length > 0);
      assert.equal((await notices()).length, 1);
      for (const window of windows) await window.dismissNotifications();
      await starter.page.close();
    }
  });
