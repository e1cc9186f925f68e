import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, before, describe, it } from 'mocha';
import * as vscode from 'vscode';
import type { ShownFinding, ShownRun } from '../../../../src/core/findings/shownFinding.ts';
import type { FindingStore } from '../../../../src/core/findings/findingStore.ts';
import type { Failure, Run } from '../../../../src/core/run/state/run.ts';
import type { RunNotes } from '../../../../src/core/run/disk/runNotes.ts';
import type { RunTracker } from '../../../../src/core/run/runTracker.ts';
import { showNotifications } from '../../../../src/editor/runs/notifications.ts';
import { removeRuns } from '../../../../src/editor/runs/removeRuns.ts';
import { downloadArtifacts, stopWatching } from '../../../../src/editor/runs/runCommands.ts';
import { runOf } from '../../../unit/run/sampleRuns.ts';
import { storageVariable } from '../../events.ts';
import { watchEachTest, replace } from '../../dialogs.ts';
import { openFolders } from '../../openFolders.ts';
import { endedRun, storeUnknownRun } from '../../storedRuns.ts';
import { inRestrictedMode } from '../../restrictedMode.ts';
import { setUserSettings } from '../../userSettings.ts';
import { silent } from '../../../silentLog.ts';

const storage = process.env[storageVariable]!;
const place = { baseUrl: 'https://assessment.example.test/v1', organizationId: 'invented' };

describe('runs that need a decision', () => {
  let folder: string;
  const messages = watchEachTest();

  before(async () => {
    [folder = ''] = await openFolders(1);
  });

  const detail = (): string => messages().at(-1)?.detail ?? '';

  describe('without an answer to their start', () => {
    const id = '20260101000000-unknown';
    const node = { kind: 'run', id };

    afterEach(async () => {
      await rm(path.join(storage, 'runs', id), { recursive: true });
      await vscode.commands.executeCommand('whitebox.refreshRuns');
    });

    const reasons: readonly (readonly [Failure, RegExp])[] = [
      [{ kind: 'interrupted' }, /The window that sent the start request closed or stopped responding\./],
      [{ kind: 'connectionLost', origin: place.baseUrl }, /No response was received\./],
      [{ kind: 'serverError', status: 502 }, /The service responded with HTTP 502\./],
      [
        { kind: 'intercepted', status: 200 },
        /A web page came back instead of the service’s response \(HTTP 200\)\./,
      ],
    ];
    for (const [reason, expected] of reasons)
      it(`explain the outcome after ${reason.kind}, invite no second payment, and say what giving up deletes`, async () => {
        await storeUnknownRun(storage, { id, folder, ...place }, reason);
        await vscode.commands.executeCommand('whitebox.refreshRuns');
        await vscode.commands.executeCommand('whitebox.resendDispatch', node);
        assert.match(detail(), expected);
        assert.doesNotMatch(detail(), /[Tt]ry again|before the run started/);
        assert.match(detail(), /If you stop watching, .* its uploaded source is deleted from the service\./);
        await vscode.commands.executeCommand('whitebox.removeRun', node);
        assert.match(detail(), /the run continues and spends credits\.\n\nThe uploaded source is deleted/);
      });

    it('F84 are not removed in Restricted Mode, since that calls the service', async () => {
      await storeUnknownRun(storage, { id, folder, ...place }, { kind: 'timeout' });
      await vscode.commands.executeCommand('whitebox.refreshRuns');
      await inRestrictedMode(() => vscode.commands.executeCommand('whitebox.removeRun', node));
      assert.deepEqual(
        messages()
          .slice(-1)
          .map(({ text, isModal, buttons }) => [text, isModal, buttons]),
        [
          [
            'This isn’t available in Restricted Mode. To use it, trust this workspace.',
            false,
            ['Manage Workspace Trust'],
          ],
        ],
      );
    });
  });

  /** Announces that runs have ended, and waits for the notifications. */
  const endWith = (level: string, ...runs: readonly Run[]): Promise<void> => endHaving({}, level, ...runs);

  /** Like `endWith`, with these findings. */
  const endHaving = async (
    read: Partial<ShownRun>,
    level: string,
    ...runs: readonly Run[]
  ): Promise<void> => {
    await setUserSettings({ 'whitebox.notifications.level': level });
    const ended = new vscode.EventEmitter<Run>();
    const tracker = {
      onDidEnd: ended.event,
      onDidFailToKeep: () => ended,
    } as unknown as RunTracker;
    const findings = { read: () => Promise.resolve({ shown: [], ...read }) } as unknown as FindingStore;
    const notices = showNotifications({ tracker, findings, log: silent });
    for (const run of runs) ended.fire(run);
    notices.dispose();
    await new Promise(setImmediate);
  };

  it('are announced if findings are missing, even if only runs that need attention are announced', async () => {
    const run = endedRun({ id: 'invented', folder, ...place });
    const lost = { name: 'findings', failure: { kind: 'connectionLost' as const } };
    await endWith('attention', run, { ...run, artifacts: [lost] });
    assert.equal(messages().length, 1);
    assert.match(messages()[0]!.text, /has finished\. The connection to .* was lost/);
    assert.deepEqual(messages()[0]!.buttons, ['Download Results Again']);
  });

  it("F107 offer to open an unreadable findings file, whatever the run's end", async () => {
    const ended = endedRun({ id: 'invented', folder, ...place });
    const failure = { kind: 'malformedFindings' as const };
    await endHaving({ failure }, 'attention', ended, { ...ended, state: 'aborted' });
    for (const { text, buttons } of messages()) {
      assert.match(text, /The findings file can’t be read/);
      assert.deepEqual(buttons, ['Open Findings File', 'Open Report']);
    }
    assert.equal(messages().length, 2);
  });

  it('F69 say how many findings are shown of how many, and how many of them are open', async () => {
    const run = endedRun({ id: 'invented', folder, ...place });
    const open = { triage: { state: 'open' } } as ShownFinding;
    const shown = Array.from({ length: 10_000 }, () => open);
    await endHaving({ shown, cut: { shown: 10_000, total: 60_000 } }, 'all', run);
    const fixed = { triage: { state: 'fixed' } } as ShownFinding;
    await endHaving({ shown: [...Array.from({ length: 9 }, () => open), fixed] }, 'all', run);
    assert.match(messages()[0]?.text ?? '', /has finished: 10,000 of 60,000 findings\.$/);
    assert.match(messages()[1]?.text ?? '', /has finished: 10 findings\. Of these, 9 are open\.$/);
  });

  it('F155 say what they cover when they found nothing, whatever their end', async () => {
    const ended = endedRun({ id: 'invented', folder, ...place });
    const coverage = { uploaded: 239, excluded: { ignored: 2 }, excludedFolders: 0, unpacked: 0 };
    const run = { ...ended, targets: [{ ...ended.targets[0]!, coverage }] };
    await endWith('all', run, { ...run, state: 'aborted' }, ended);
    const [finished, aborted, unknown] = messages().map(({ text }) => text);
    assert.match(
      finished ?? '',
      /has finished\. 0 findings in 239 uploaded files\. 2 files were excluded\.$/,
    );
    assert.match(aborted ?? '', /has ended: .* 2 files were excluded\. The run ended early\.$/);
    assert.match(unknown ?? '', /has finished\. 0 findings\.$/);
  });

  it('F155 give no count if the service sent no findings file', async () => {
    await endWith('attention', { ...endedRun({ id: 'invented', folder, ...place }), artifacts: [] });
    assert.match(messages()[0]?.text ?? '', /has finished, but its findings aren’t on this machine\.$/);
  });

  it('are not announced after a cancel if only runs that need attention are announced', async () => {
    const cancelled = { ...runOf.cancelled, noticeDue: false };
    await endWith('attention', cancelled);
    assert.deepEqual(messages(), []);
    await endWith('all', cancelled);
    assert.match(messages()[0]?.text ?? '', /has ended: canceled\.$/);
  });

  it('show their findings also when they were aborted or cancelled', async () => {
    const ended = endedRun({ id: 'invented', folder, ...place });
    const aborted = { ...ended, state: 'aborted' as const };
    await endWith('all', { ...aborted, artifacts: [] }, aborted, { ...ended, state: 'cancelled' });
    assert.deepEqual(
      messages().map(({ buttons }) => buttons),
      [['Show Runs'], ['Show Findings', 'Open Report'], ['Show Findings', 'Open Report']],
    );
  });

  it('no longer watched say that their source is deleted only if it is', async () => {
    const { running } = runOf;
    assert.ok(running.state === 'running');
    const stored = { ...running, targets: running.targets.map(({ folder, name }) => ({ folder, name })) };
    const deps = { tracker: {} as unknown as RunTracker };
    const saysSo = async (run: Run): Promise<boolean> => {
      await stopWatching(deps, run);
      return detail().endsWith('\n\nThe uploaded source is deleted from the service.');
    };
    assert.equal(await saysSo(running), true);
    assert.equal(await saysSo(runOf.collecting), true);
    assert.equal(await saysSo(stored), false, 'a run that is tracked has no files that are known');
    await setUserSettings({ 'whitebox.runs.deleteSourceAfterRun': false });
    assert.equal(await saysSo(running), false);
    assert.match(detail(), /^VS Code will no longer check this run\. .*: run-1$/);
  });

  it('offer to try again first if they failed before the service had them', async () => {
    const [failure, failed] = [{ kind: 'unauthorized' as const }, { ...runOf.failed, noticeDue: false }];
    assert.ok(failed.state === 'failed');
    await endWith('attention', { ...failed, failure }, { ...failed, failure, runId: 'invented' });
    assert.deepEqual(
      messages().map(({ buttons }) => buttons),
      [['Retry Upload…', 'Sign In…'], ['Sign In…']],
    );
  });

  it('are not announced as failed if nobody knows how they ended', async () => {
    const { failed } = runOf;
    assert.ok(failed.state === 'failed');
    const ended = (['unanswered', 'noResult'] as const).map((kind) => ({ ...failed, failure: { kind } }));
    await endWith('attention', ...ended);
    const [unanswered, noResult] = messages().map(({ text }) => text);
    assert.match(unanswered ?? '', /may still be running on the service and spending credits\. /);
    assert.match(noResult ?? '', /^The .* has ended\. /);
  });

  it('are not removed by a menu that was opened before their start', async () => {
    const removed: string[] = [];
    const tracker = { remove: (id: string) => Promise.resolve(removed.push(id)) } as unknown as RunTracker;
    await removeRuns({ tracker, notes: {} as unknown as RunNotes }, [runOf.running, runOf.preparing]);
    assert.deepEqual([messages(), removed], [[], []]);
  });

  it('stop downloading their results when the user cancels', async () => {
    const cancelled: vscode.CancellationToken = {
      isCancellationRequested: true,
      onCancellationRequested: (listener: (event: unknown) => unknown) => {
        listener(undefined);
        return new vscode.Disposable(() => undefined);
      },
    };
    const withProgress: typeof vscode.window.withProgress = (_options, task) =>
      task({ report: () => undefined }, cancelled);
    replace(vscode.window, { withProgress });
    const downloadAgain = (_id: string, signal?: AbortSignal): Promise<void> => {
      signal?.throwIfAborted();
      return Promise.resolve();
    };
    const tracker = { downloadAgain } as unknown as RunTracker;
    const run = endedRun({ id: 'invented', folder, ...place });
    const download = downloadArtifacts({ tracker }, run);
    await assert.rejects(download, { name: 'AbortError' });
  });
});
