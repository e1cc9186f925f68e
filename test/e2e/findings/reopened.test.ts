import { mkdir, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { openWorkbench } from '../../host/workbench.ts';
import { eventually, untilEqual } from '../../host/workbench/eventually.ts';
import { storeEndedRun } from '../../integration/storedRuns.ts';
import { test } from '../fixtures.ts';
import { signedIn } from '../stage.ts';

test.describe.configure({ timeout: 600_000 });
test.use({ stageOptions: { settings: signedIn } });

/** Twenty are opened every night: of nine, one once missed rows. */
const windows = Number(process.env['WINDOWS'] ?? 2);
/** Each invented finding has a group of its own, and two are in one file. */
const findings = [
  { severity: 'high', title: 'Query from input', file: 'src/orders.js', line: 1 },
  { severity: 'medium', title: 'Open redirect', file: 'src/server.js', line: 1 },
  { severity: 'low', title: 'Verbose error', file: 'src/server.js', line: 2 },
];
const rows = [
  ...['High', 'orders.js', 'Query from input'],
  ...['Medium', 'server.js', 'Open redirect'],
  ...['Low', 'server.js', 'Verbose error'],
];

/**
 * Runs in the page: holds back what it sends, from a message that contains `stallAt` until
 * `release`.
 */
const stall = `{
  const { send } = WebSocket.prototype;
  const held = [];
  let stalled;
  window.isStalled = () => stalled !== undefined;
  window.release = () => {
    window.stallAt = stalled = undefined;
    for (const sendNow of held.splice(0)) sendNow();
  };
  const isAwaited = (data) =>
    window.stallAt !== undefined && new TextDecoder('latin1').decode(data).includes(window.stallAt);
  WebSocket.prototype.send = function (data) {
    if (typeof data !== 'string' && isAwaited(data)) stalled ??= this;
    if (stalled === this) held.push(() => send.call(this, data));
    else send.call(this, data);
  };
}`;

test('each of several windows shows every row of the Findings view, though a run changes while it opens', async ({
  stage,
  workbench: { page },
}) => {
  const { baseUrl, organizationId } = stage.service;
  let refreshes = 0;
  page.on('websocket', (socket) =>
    socket.on('framereceived', ({ payload }) => {
      if (/\$refresh[^]{1,40}whitebox\.findings/.test(payload.toString('latin1'))) refreshes += 1;
    }),
  );
  await page.addInitScript(stall);
  for (let window = 0; window < windows; window++) {
    // VS Code opens an unknown folder with the Explorer. So the view is first shown when its
    // findings are already known.
    const folder = path.join(path.dirname(stage.folder), `folder-${window}`);
    await mkdir(path.join(folder, 'src'), { recursive: true });
    for (const name of ['orders.js', 'server.js'])
      await writeFile(path.join(folder, 'src', name), 'one\ntwo\n');
    const store = async (): Promise<void> => {
      await storeEndedRun(stage.storage, { id: `${window}`, folder, baseUrl, organizationId }, findings);
      const now = new Date();
      await utimes(path.join(stage.storage, 'runs', `${window}`), now, now);
    };
    await store();
    const workbench = await openWorkbench(page, stage.server.urlFor({ folder }));
    await page.locator('.activitybar .badge[aria-label^="Whitebox Assessment"]').waitFor();

    // VS Code asks for the children of the groups, which it names by their severities, when the run
    // changes.
    await page.evaluate(`window.stallAt = 'severity:'`);
    refreshes = 0;
    await workbench.openView('Whitebox Assessment');
    await untilEqual(() => page.evaluate<boolean>('window.isStalled()'), true);
    await store();
    await eventually(
      () => refreshes,
      (count) => count > 0,
    );
    await page.evaluate('window.release()');
    const labels = async (): Promise<string[]> =>
      (await workbench.treeRows('Findings')).map(({ label }) => label);
    await eventually(labels, (found) => found.length > 3);
    await workbench.expandAll('Findings');
    await untilEqual(labels, rows);
  }
});
