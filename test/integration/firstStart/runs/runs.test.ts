import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import * as vscode from 'vscode';
import type { ShownRun } from '../../../../src/core/findings/shownFinding.ts';
import type { RunTracker } from '../../../../src/core/run/runTracker.ts';
import type { Failure, Run } from '../../../../src/core/run/state/run.ts';
import { showNotifications } from '../../../../src/editor/runs/notifications.ts';
import { downloadArtifacts, stopWatching } from '../../../../src/editor/runs/runCommands.ts';
import { silent } from '../../../silentLog.ts';
import { invent } from '../../../unit/findings/shownFindings.ts';
import { runOf } from '../../../unit/run/sampleRuns.ts';
import { messages, replace, watchMessages } from '../../dialogs.ts';
import { partly, storeOfFindings } from '../../doubles.ts';
import { inRestrictedMode } from '../../restrictedMode.ts';
import { ofFolder, storage } from '../../runsInStorage.ts';
import { call, rowOf } from '../../signedIn.ts';
import { endedRun, inventedAccount, storeUnknownRun } from '../../storedRuns.ts';
import { setUserSettings } from '../../userSettings.ts';

const ended = endedRun({ id: 'invented', folder: '/invented/shop', ...inventedAccount });
const detail = (): string => messages.shown.at(-1)?.detail ?? '';

describe('runs without an answer to their start', () => {
  const id = '20260101000000-unknown';
  const store = async (reason: Failure): Promise<void> => {
    await storeUnknownRun(storage, ofFolder(id), reason);
    await call('refreshRuns');
  };

  for (const [reason, expected] of [
    [{ kind: 'interrupted' }, /The window that sent the start request closed or stopped responding\./],
    [{ kind: 'connectionLost', origin: inventedAccount.baseUrl }, /No response was received\./],
    [{ kind: 'serverError', status: 502 }, /The service responded with HTTP 502\./],
    [
      { kind: 'serverError', status: 502, isPage: true },
      /The service, or a proxy before it, responded with HTTP 502\./,
    ],
    [
      { kind: 'intercepted', status: 200 },
      /A web page came back instead of the service’s response \(HTTP 200\)\./,
    ],
  ] as const)
    it(`explain the outcome ${JSON.stringify(reason)}, invite no second payment, and say what giving up deletes`, async () => {
      await store(reason);
      await call('resendDispatch', rowOf(id));
      assert.match(detail(), expected);
      assert.doesNotMatch(detail(), /[Tt]ry again|before the run started/);
      assert.match(detail(), /If you stop watching, .* its uploaded source is deleted from the service\./);
      await call('removeRun', rowOf(id));
      assert.match(detail(), /the run continues and spends credits\.\n\nThe uploaded source is deleted/);
    });

  it('F84 are not removed in Restricted Mode, since that calls the service', async () => {
    await store({ kind: 'timeout' });
    await inRestrictedMode(() => call('removeRun', rowOf(id)));
    const { text, isModal, buttons } = messages.shown.at(-1)!;
    assert.equal(text, 'This isn’t available in Restricted Mode. To use it, trust this workspace.');
    assert.deepEqual([isModal, buttons], [false, ['Manage Workspace Trust']]);
  });
});

describe('runs that have ended', () => {
  const announce = async (
    level: 'all' | 'attention',
    runs: readonly Run[],
    read: Partial<ShownRun> = {},
  ): Promise<(readonly [text: string, buttons: string])[]> => {
    await setUserSettings({ 'whitebox.notifications.level': level });
    const { shown } = watchMessages();
    const event = new vscode.EventEmitter<Run>();
    const tracker = partly<RunTracker>({ onDidEnd: event.event, onDidFailToSave: () => event });
    const findings = storeOfFindings([], { read: () => Promise.resolve({ shown: [], ...read }) });
    const notices = showNotifications({ tracker, findings, log: silent });
    for (const run of runs) event.fire(run);
    notices.dispose();
    await new Promise(setImmediate);
    return shown.map(({ text, buttons }) => [text, buttons.join()]);
  };
  const assertTexts = (
    said: readonly (readonly [string, string])[],
    ...expected: readonly RegExp[]
  ): void => {
    assert.equal(said.length, expected.length);
    for (const [at, [text]] of said.entries()) assert.match(text, expected[at]!);
  };

  it('are announced if findings are missing, even if only runs that need attention are announced', async () => {
    const lost = { name: 'findings', failure: { kind: 'connectionLost' as const } };
    const said = await announce('attention', [ended, { ...ended, artifacts: [lost] }]);
    assertTexts(said, /has finished\. The connection to .* was lost/);
    assert.equal(said[0]?.[1], 'Download Results Again');
  });

  it("F107 offer to open an unreadable findings file, whatever the run's end", async () => {
    const failure = { kind: 'malformedFindings' as const };
    const said = await announce('attention', [ended, { ...ended, state: 'aborted' }], { failure });
    assertTexts(said, /The findings file can’t be read/, /The findings file can’t be read/);
    for (const [, buttons] of said) assert.equal(buttons, 'Open Findings File,Open Report');
  });

  it('F69 say how many findings are shown of how many, and how many of them are open', async () => {
    const shown = Array.from({ length: 10_000 }, () => invent());
    const cut = { shown: 10_000, total: 60_000 };
    assertTexts(await announce('all', [ended], { shown, cut }), /has finished: 10,000 of 60,000 findings\.$/);
    const some = [...shown.slice(0, 9), invent({ state: 'fixed' })];
    assertTexts(await announce('all', [ended], { shown: some }), /: 10 findings\. Open: 9\.$/);
  });

  it('F155 say what they cover when they found nothing, whatever their end, and give no count without a file', async () => {
    const coverage = { uploaded: 239, excluded: { ignored: 2 }, excludedFolders: 0, notPackaged: 0 };
    const run = { ...ended, targets: [{ ...ended.targets[0]!, coverage }] };
    assertTexts(
      await announce('all', [run, { ...run, state: 'aborted' }, ended]),
      /has finished\. 0 findings in 239 uploaded files\. 2 files were excluded\.$/,
      /has ended: .* 2 files were excluded\. The run ended early\.$/,
      /has finished\. 0 findings\.$/,
    );
    const without = { ...ended, artifacts: [] };
    assertTexts(await announce('all', [without]), /has finished, but its findings aren’t on this machine\.$/);
  });

  it('are not announced after a cancel if only runs that need attention are announced', async () => {
    const cancelled = { ...runOf.cancelled, noticeDue: false };
    assertTexts(await announce('attention', [cancelled]));
    assertTexts(await announce('all', [cancelled]), /has ended: canceled\.$/);
  });

  it('show their findings also when they were aborted or cancelled', async () => {
    const aborted = { ...ended, state: 'aborted' as const };
    const runs = [{ ...aborted, artifacts: [] }, aborted, { ...ended, state: 'cancelled' as const }];
    assert.deepEqual(
      (await announce('all', runs)).map(([, buttons]) => buttons),
      ['Show Runs', 'Show Findings,Open Report', 'Show Findings,Open Report'],
    );
  });

  it('offer to try again first if they failed before the service had them', async () => {
    const failed = { ...runOf.failed, noticeDue: false, failure: { kind: 'unauthorized' } } as Run;
    const said = await announce('attention', [failed, { ...failed, runId: 'invented' } as Run]);
    assert.deepEqual(
      said.map(([, buttons]) => buttons),
      ['Retry Upload…,Sign In…', 'Sign In…'],
    );
  });

  it('are not announced as failed if nobody knows how they ended', async () => {
    const unknown = (['unanswered', 'noResult'] as const).map((kind) => ({ ...runOf.failed, failure: { kind } }) as Run); // prettier-ignore
    assertTexts(
      await announce('attention', unknown),
      /may still be running on the service and spending credits\. /,
      /^The .* has ended\. /,
    );
  });
});

describe('runs that the user gives up', () => {
  it('say that their source is deleted only if it is', async () => {
    const { running } = runOf;
    const stored = { ...running, targets: running.targets.map(({ folder, name }) => ({ folder, name })) };
    const saysSo = async (run: Run): Promise<boolean> => {
      await stopWatching(run, { tracker: partly<RunTracker>() });
      return detail().endsWith('\n\nThe uploaded source is deleted from the service.');
    };
    assert.equal(await saysSo(running), true);
    assert.equal(await saysSo(runOf.collecting), true);
    assert.equal(await saysSo(stored), false, 'a run that is tracked has no files that are known');
    await setUserSettings({ 'whitebox.runs.deleteSourceAfterRun': false });
    assert.equal(await saysSo(running), false);
    assert.match(detail(), /^VS Code will no longer check this run\. .*: run-1$/);
  });

  it('stop downloading their results when the user cancels', async () => {
    const cancelled = new vscode.CancellationTokenSource();
    cancelled.cancel();
    const withProgress: typeof vscode.window.withProgress = (_options, task) =>
      task({ report: () => undefined }, cancelled.token);
    replace(vscode.window, { withProgress });
    const downloadAgain = (_id: string, signal?: AbortSignal): Promise<void> =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason as Error));
      });
    const tracker = partly<RunTracker>({ downloadAgain });
    const download = downloadArtifacts(ended, { tracker });
    await assert.rejects(download, { name: 'AbortError' });
  });
});
