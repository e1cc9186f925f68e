import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { storeEndedRun, storeLiveRun } from '../../integration/storedRuns.ts';
import { startService } from '../../service/assessmentService.ts';
import { eventually } from '../core/eventually.ts';
import { parseWorker } from '../findings/parse/bundledWorker.ts';
import { openWindow } from './openedWindow.ts';

test(
  'F204 while findings are read, runs are polled, commands answer, and an agent waits',
  { timeout: 60_000 },
  async (t) => {
    const storage = await mkdtemp(join(tmpdir(), 'opened-window-'));
    t.after(() => rm(storage, { recursive: true, force: true, maxRetries: 5 }));
    const [folder, go] = [join(storage, 'shop'), join(storage, 'go')];
    await mkdir(folder);
    await mkdir(join(storage, 'dist'));
    // A silent share does the same: nothing is worked out before the file is there.
    const worker = `const wait = setInterval(() => {
    if (!require('node:fs').existsSync(${JSON.stringify(go)})) return;
    clearInterval(wait);
    import(${JSON.stringify(pathToFileURL(parseWorker).href)});
  }, 10);`;
    await writeFile(join(storage, 'dist', 'parseWorker.cjs'), worker);
    const service = await startService();
    t.after(() => service.close());
    const { baseUrl, organizationId, token } = service;
    const run = { id: '20260101000000-shop', folder, baseUrl, organizationId };
    await storeEndedRun(storage, run, [{ title: 'Found', severity: 'high' }]);
    await storeLiveRun(storage, { ...run, id: '20260102000000-live' });

    const window = await openWindow({ storage, folder, extensionPath: storage, token });
    t.after(() => window.dispose());
    const stateIs = (state: string) =>
      eventually(() => window.contexts.get('whitebox.findingsView') === state, state);
    await eventually(() => service.requests.some(({ path }) => path.includes('describe')), 'a poll');
    await window.run('whitebox.refreshRuns', []);
    await stateIs('reading');
    const told = window.askAgentTool('whitebox_listFindings');
    await window.run('whitebox.clearFindings', []);
    await stateIs('running');
    assert.match(await told, /"total": 0/);
    const shown = window.run('whitebox.showRunFindings', [{ kind: 'run', id: run.id }]);
    await stateIs('reading');
    const found = window.askAgentTool('whitebox_listFindings');
    await writeFile(go, '');
    assert.match(await found, /"Found"/);
    await shown;
    await stateIs('shown');
  },
);
