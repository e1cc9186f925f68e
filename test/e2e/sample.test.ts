import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from '@playwright/test';
import { playSample } from '../demo/playSample.ts';
import { startRecording } from '../integration/network/recordingServer.ts';
import { setStage } from './stage.ts';

const invented =
  'These sample findings are invented. To assess your own code, open its folder and run “Start Assessment…”';

test('the sample opens without an account, in Restricted Mode, and without a request to anybody', async () => {
  const proxy = await startRecording();
  const stage = await setStage({
    settings: () => ({ 'http.proxy': `http://127.0.0.1:${String(proxy.port)}` }),
  });
  try {
    await playSample(stage, {
      step: () => undefined,
      picture: async () => {
        const { page, problems, restrictedMode, screenshot, treeRows } = stage.workbench();
        await restrictedMode();
        // Findings that triage has closed are not among them.
        assert.equal((await problems()).length, 7);
        const rows = (await treeRows('Findings')).map(({ label }) => label);
        assert.ok(rows.includes('Any customer can read any order'), rows.join('\n'));
        await page.getByText(invented).first().waitFor();
        await screenshot(path.join('sample', 'window.png'));
      },
    });
    assert.deepEqual([proxy.requests, stage.service.requests], [[], []]);
  } finally {
    await stage.dispose();
    await proxy.close();
  }
});
