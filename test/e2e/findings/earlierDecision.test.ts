import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Workbench } from '../../host/workbench.ts';
import { eventually } from '../../host/workbench/eventually.ts';
import { storeEndedRun } from '../../integration/storedRuns.ts';
import { test } from '../fixtures.ts';

test.use({ stageOptions: { settings: () => ({ 'security.workspace.trust.enabled': false }) } });

test('F148 “False positive” at line 3 does not hide the same title at line 12 of the next run', async ({
  stage,
}) => {
  const file = 'src/logins.js';
  const text = 'check(name, password);\n'.repeat(20);
  const sent = { [file]: text };
  await writeFile(path.join(stage.folder, file), text);
  const foundAt = async (id: string, line: number): Promise<Workbench> => {
    await stage.closeWindows();
    const { baseUrl, organizationId } = stage.service;
    const found = [
      { title: 'Timing attack', severity: 'high', cwe: 208, file, line },
      { title: 'Weak hash function', severity: 'medium', cwe: 328, file: 'src/passwords.js', line: 7 },
    ];
    await storeEndedRun(stage.storage, { id, folder: stage.folder, baseUrl, organizationId }, found, sent);
    const workbench = await stage.openWindow();
    await workbench.openView('Whitebox Assessment');
    return workbench;
  };
  const hidden = /Hidden because triage closed them: 1 finding/;
  const first = await foundAt('first', 3);
  await first.expandAll('Findings');
  await first.treeRowMenu('Findings', 'Timing attack', 'Set Triage State…');
  await first.pick('False positive');
  await first.answer('Invented: a constant name');
  await eventually(
    () => first.viewText('Findings'),
    (text) => hidden.test(text),
  );

  const next = await foundAt('second', 12);
  await eventually(next.problems, (problems) =>
    problems.some(({ message }) => message.includes('Timing attack')),
  );
  await next.expandAll('Findings');
  const row = (await next.treeRows('Findings')).find(({ label }) => label === 'Timing attack');
  assert.match(row?.description ?? '', /earlier decision was “False positive”; check it/);
  await next.screenshot('decision-1-earlier.png');

  const last = await foundAt('third', 3);
  await eventually(
    () => last.viewText('Findings'),
    (text) => hidden.test(text),
  );
});
