import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { eventually } from '../host/workbench/eventually.ts';
import type { Workbench } from '../host/workbench.ts';
import { setStage, signedIn, startAssessment, type Stage } from './stage.ts';

describe('two windows at once', () => {
  let stage: Stage;
  let first: Workbench;

  before(async () => {
    stage = await setStage({ service: { runDurationMs: 3_600_000 }, settings: signedIn });
    first = await stage.openWindow();
    await stage.openWindow();
  });

  after(async () => {
    await stage.dispose();
  });

  test('F63 a run that is started in one shows in the other, which nobody has touched', async () => {
    await startAssessment(stage);
    await eventually(
      () => first.statusBarItem('whitebox.status').innerText(),
      (text) => text.includes('Whitebox 0m'),
    );
  });

  test('F63 its end is told in one of them only, and shown in both', async () => {
    const [run] = stage.service.runs();
    assert.ok(run);
    await stage.service.finishRun(run.id);
    const second = stage.workbench();
    await second.runCommand('Whitebox: Check Run Status Now');
    await second.notification('The assessment of shop has finished');
    await eventually(
      () => first.statusBarItem('whitebox.status').innerText(),
      (text) => text.trim() === '12',
    );
    const told = (await first.notifications()).filter(({ message }) => message.includes('has finished'));
    assert.deepEqual(told, []);
  });
});
