import assert from 'node:assert/strict';
import path from 'node:path';
import { beforeEach, describe, it } from 'mocha';
import * as vscode from 'vscode';
import { AssessmentError } from '../../../../src/core/errors.ts';
import type { RunStore } from '../../../../src/core/run/disk/runStore.ts';
import type { Failure, Run } from '../../../../src/core/run/state/run.ts';
import { describeError } from '../../../../src/editor/errors/errorMessages.ts';
import { capitalized } from '../../../../src/editor/formats.ts';
import { showStorageProblem } from '../../../../src/editor/runs/recoverRuns.ts';
import { showMenu } from '../../../../src/editor/runs/statusBar.ts';
import { eventually } from '../../../host/workbench/eventually.ts';
import { invent } from '../../../unit/findings/shownFindings.ts';
import { runOf } from '../../../unit/run/sampleRuns.ts';
import { answer, messages, recordCommand, replace } from '../../dialogs.ts';
import { clockAt, partly, storeOfFindings, storeOfRuns } from '../../doubles.ts';
import { inRestrictedMode } from '../../restrictedMode.ts';
import { ofFolder, runLines, storage } from '../../runsInStorage.ts';
import { showOf } from '../../shownRuns.ts';
import { call, rowOf, signInEachTest } from '../../signedIn.ts';
import { storeLiveRun, storeUnsentRun } from '../../storedRuns.ts';
import { printing, setUserSettings } from '../../userSettings.ts';

const minute = 60_000;
const day = 24 * 60 * minute;
const troubled = (kind: Failure['kind'], more: object = {}): Run =>
  ({ ...runOf.running, trouble: { kind, firstSeen: 0, ...more } }) as Run;
const refused = troubled('unauthorized');

describe('runs that wait for the user', () => {
  let offered: readonly string[];

  beforeEach(() => choose());

  /** Picks the entry with this name in the next quick pick, or none. */
  const choose = (name?: string): void =>
    answer({
      showQuickPick: (items: readonly { label: string; description?: string }[]) => {
        offered = items.map(({ label, description = '' }) =>
          `${label.replace(/^\$\(.*?\) /, '')} ${description}`.trim(),
        );
        return items[offered.indexOf(name ?? '')];
      },
    });
  const open = (
    { now = 0, findings = storeOfFindings(), state = 'signedIn' as 'signedIn' | 'unavailable' },
    ...runs: readonly Run[]
  ): Promise<void> =>
    showMenu({
      accounts: { state },
      runs: storeOfRuns(...runs),
      findings,
      clock: clockAt(now),
    });

  it('are listed in the menu of the status item with their next step', async () => {
    await open({}, runOf.running);
    assert.ok(!offered.includes('Sign In…') && !offered.includes('Stop Watching'), offered.join());
    await open({}, refused);
    assert.match(offered[0] ?? '', /^Sign In… http:\/\/\S+, organization \S+$/);
    await open({ now: 2 * day }, runOf.cancelling, runOf.failed);
    assert.ok(offered.includes('Stop Watching') && !offered.includes('Retry Upload…'), offered.join());
    await open({ findings: storeOfFindings([invent(), invent({ state: 'falsePositive' })]) });
    assert.ok(offered.includes('Show Findings 1 finding'), offered.join());
    const retried = recordCommand('whitebox.retryUpload');
    choose('Retry Upload…');
    await open({}, runOf.failed, runOf.running);
    assert.deepEqual(retried.calls, [[rowOf(runOf.failed.id)]], 'the newest, which failed before sending');
  });

  it('are listed by the command, without sign-in while the workspace is untrusted', async () => {
    await storeUnsentRun(storage, ofFolder('20260101000000-menu'));
    await call('refreshRuns');
    await call('showMenu');
    assert.deepEqual(offered, ['Sign In…', 'Retry Upload…', 'Show Runs', 'Show Log']);
    await inRestrictedMode(() => call('showMenu'));
    assert.deepEqual(offered, ['Show Runs', 'Show Log']);
  });

  describe('for a token command', () => {
    const service = signInEachTest({ 'whitebox.tokenCommand': undefined });

    it('F56 are polled when one is set or corrected', async () => {
      const id = '20260101000000-command';
      const answers = (): string[] =>
        service().requests.map(({ path: name, status }) => `${path.basename(name)} ${String(status)}`);
      const says = (text: string): Promise<unknown> =>
        eventually(
          () => runLines(id),
          (lines) => lines.some((line) => line.startsWith(text)),
        );
      await storeLiveRun(storage, ofFolder(id, service()));
      await call('refreshRuns');
      await says('Sign in to ');
      await setUserSettings({ 'whitebox.tokenCommand': [process.execPath, '-e', ''] });
      await says('The token command ');
      assert.deepEqual(answers(), []);
      await setUserSettings({ 'whitebox.tokenCommand': printing(service().token) });
      // With a valid token the service does not know the invented run.
      await says('The service didn’t find ');
      assert.equal(answers()[0], 'describe 404');
    });
  });

  const lineOf = async (
    run: Run,
    start: string,
    options?: Parameters<typeof showOf>[1],
  ): Promise<vscode.TreeItem | undefined> => {
    const [, ...lines] = await showOf(storeOfRuns(run), options).rowsOf(run.id);
    return lines.find(({ label }) => typeof label === 'string' && label.startsWith(start));
  };

  it('say in the Runs view what is wrong, and a click offers what to do next', async () => {
    for (const [run, start, command] of [
      [refused, 'The access token for ', 'signInForRun'],
      [runOf.unknown, 'The response to the start request was lost', 'resendDispatch'],
    ] as const)
      assert.equal((await lineOf(run, start))?.command?.command, `whitebox.${command}`);
  });

  it('F66 that were accepted but could not be saved show their run ID, and a click copies it', async () => {
    const line = await lineOf(runOf.dispatching, 'Run ID', { runId: 'run-7' });
    assert.deepEqual(
      [line?.label, line?.description, line?.command?.command],
      ['Run ID, not saved yet', 'run-7', 'whitebox.copyRunId'],
    );
  });

  it('F66 that cannot be saved show the cause above them while it lasts, and warn once', () => {
    const view = partly<vscode.TreeView<unknown>>({ message: '' });
    const changed = new vscode.EventEmitter<readonly Run[]>();
    const runs = { problem: undefined as string | undefined, onDidChange: changed.event };
    const shown = showStorageProblem(runs as RunStore, { view, fill: () => undefined });
    const above = ['EROFS', undefined, 'EROFS'].map((problem) => {
      runs.problem = problem;
      changed.fire([]);
      return view.message;
    });
    shown.dispose();
    const message =
      'VS Code can’t write to this extension’s storage (EROFS). Check the free disk space and your permissions. Until VS Code can write to it, no run can start, and runs are shown as last saved.';
    assert.deepEqual(above, [message, '', message]);
    assert.deepEqual(
      messages.shown.map(({ text, severity }) => [text, severity]),
      [[message, 'Warning']],
    );
  });

  it('F65 F99 of a newer version, and those that can’t be read, have rows that say so', async () => {
    const unread = (['newer', 'unreadable'] as const).map((state) => ({ state, id: state }));
    const { tree } = showOf(Object.assign(storeOfRuns(), { unread: () => unread }));
    const nodes = (await tree.getChildren()) ?? [];
    const rows = await Promise.all(nodes.map(async (node) => tree.getTreeItem(node)));
    assert.deepEqual(
      rows.map(({ label, description }) => [label, description]),
      [
        ['newer', 'created by a newer version'],
        ['unreadable', 'can’t be read'],
      ],
    );
  });

  it('F107 with unreadable findings say so in the Runs view, and a click opens the file', async () => {
    const findings = storeOfFindings([], { failureOf: (): Failure => ({ kind: 'malformedFindings' }) });
    const run = { ...runOf.succeeded, artifacts: [{ name: 'findings', file: 'findings.json' }] } as Run;
    const line = await lineOf(run, 'Findings', { findings });
    assert.match(String(line?.description), /can’t be read/);
    assert.equal(line?.command?.command, 'whitebox.openFindingsFile');
    assert.equal((await lineOf(run, 'Findings'))?.command?.command, 'whitebox.showRunFindings');
  });

  it("F58 show the service's reason for an abort in the Runs view as plain text", async () => {
    const abort = { code: 'invented', detail: { why: 'It was [too](command:x) hot.' } };
    const run = { ...runOf.aborted, exit: { kind: 'ABORTED', abort, artifacts: [] } } as Run;
    const said = await lineOf(run, 'Message from the service: ');
    assert.equal(said?.label, 'Message from the service: why: It was [too](command:x) hot.');
  });

  for (const [run, said, icon] of [
    [refused, 'running · sign-in needed', 'warning'],
    [troubled('tokenCommand'), 'running · token command failed', 'warning'],
    [troubled('secretStorage'), 'running · account not available yet', 'sync~spin'],
    [troubled('unsent'), 'running · offline', 'sync~spin'],
    [troubled('serverError'), 'running · last check failed', 'sync~spin'],
    [runOf.unknown, 'start unconfirmed · needs your decision', 'warning'],
    [runOf.running, 'running', 'sync~spin'],
  ] as const)
    it(`have “${said}” as label and accessible text`, async () => {
      const { item, rowsOf } = showOf(storeOfRuns(run));
      const [row] = await rowsOf(run.id);
      const [state = '', attention] = said.split(' · ');
      const title = `${capitalized(state)}${run.state === 'unknown' ? '' : ' 0m'}`;
      const facts = [...(attention === undefined ? [] : [attention]), 'Jan 1'].join(' · ');
      assert.deepEqual([row?.label, row?.description], [title, facts]);
      const read = row?.accessibilityInformation?.label ?? '';
      assert.match(read, new RegExp(`^Whitebox assessment · .*, ${title}, ${facts}$`));
      assert.equal((row?.iconPath as vscode.ThemeIcon).id, icon);
      const heard = item.accessibilityInformation?.label ?? '';
      assert.ok(heard.endsWith(`, ${said.replace(' · ', ', ')}, for 0m`), heard);
    });

  it('F155 are distinguished by workflow and application, and Confirm Live by its finding', async () => {
    const hosts = [{ folder: '/shop', name: 'shop.example.test' }];
    const crawl = { ...runOf.running, id: 'crawl', workflow: 'blackbox-crawl', targets: hosts } as Run;
    const confirming = {
      ...crawl,
      id: 'confirming',
      workflow: 'blackbox-assessment',
      confirms: 'invented',
      label: 'SQL from a request',
    } as Run;
    for (const [run, title, description] of [
      [crawl, 'Crawl · shop.example.test', 'Crawl · shop.example.test · Jan 1'],
      [
        confirming,
        'Confirm Live · shop.example.test',
        'Confirm Live · SQL from a request · shop.example.test · Jan 1',
      ],
    ] as const) {
      const { item, rowsOf, tooltip } = showOf(storeOfRuns(run));
      const [row] = await rowsOf(run.id);
      assert.deepEqual([row?.label, row?.description], ['Running 0m', description]);
      assert.ok(tooltip().startsWith(`${title}: running, 0m`), tooltip());
      assert.ok(item.accessibilityInformation?.label.includes(`: ${title}, running`));
    }
  });

  it('update the elapsed time each minute in the status item and the Runs view', () => {
    const beats: (() => void)[] = [];
    const { setInterval } = globalThis;
    // VS Code has timers, too, which must go off.
    replace(globalThis, {
      setInterval: (beat: () => void, ms: number) => {
        beats.push(beat);
        return setInterval(beat, ms);
      },
    });
    let now = runOf.running.createdAt;
    const { item, tree } = showOf(storeOfRuns(runOf.running), { clock: { ...clockAt(0), now: () => now } });
    let redrawn = 0;
    tree.onDidChangeTreeData!(() => (redrawn += 1));
    const before = item.text;
    now += 5 * minute;
    for (const beat of beats) beat();
    assert.notEqual(item.text, before);
    assert.equal(redrawn, 1);
  });

  it('F169 in trouble warn in the status item after 10 minutes, or at once if they need the user', () => {
    const warns = (run: Run, now: number): boolean =>
      showOf(storeOfRuns(run), { clock: clockAt(now) }).item.text.startsWith('$(warning)');
    for (const kind of ['unsent', 'connectionLost', 'secretStorage'] as const)
      assert.deepEqual(
        [0, 10 * minute - 1, 10 * minute].map((now) => warns(troubled(kind), now)),
        [false, false, true],
      );
    assert.equal(warns(refused, 0), true);
    assert.equal(warns(runOf.unknown, 0), true);
  });

  it('F169 whose polls are repeated automatically ask nobody to try again', async () => {
    for (const kind of [
      ...(['connectionLost', 'timeout', 'rateLimited', 'serverError', 'addressRefused'] as const),
      ...(['conflict', 'diskFull', 'storage', 'secretStorage'] as const),
    ]) {
      const { rowsOf, tooltip } = showOf(storeOfRuns(troubled(kind)));
      const said = JSON.stringify([await rowsOf(runOf.running.id), tooltip()]);
      assert.doesNotMatch(said, /try again/i, kind);
      assert.match(describeError(new AssessmentError(kind)).message, /Try again( later)?\./, kind);
    }
  });

  it('F169 have the first 200 characters of a long failure in their line, and all of it in the tooltip', async () => {
    const detail = 'x'.repeat(500);
    const line = await lineOf(troubled('serverError', { detail }), 'The service reported an error');
    const [label, tooltip] = [line?.label, line?.tooltip];
    assert.ok(typeof label === 'string' && typeof tooltip === 'string');
    assert.deepEqual([label.length, label.endsWith('x…'), tooltip.includes(detail)], [200, true, true]);
  });

  it('F169 and none at all say once that the account is not available yet, and offer the start, not a sign-in', async () => {
    const sentence = 'Your account isn’t available yet, because VS Code’s secret storage isn’t responding.';
    for (const [account, run, times] of [
      ['unavailable', runOf.succeeded, 1],
      ['unavailable', troubled('secretStorage'), 1],
      ['signedIn', runOf.succeeded, 0],
    ] as const)
      assert.equal(showOf(storeOfRuns(run), { account }).tooltip().split(sentence).length - 1, times);
    await open({ state: 'unavailable' });
    assert.ok(offered.includes('Start Assessment…') && !offered.includes('Sign In…'), offered.join());
  });

  it('show a warning in both the status item and the Runs view', () => {
    for (const [now, warns] of [
      [0, false],
      [2 * day, true],
    ] as const) {
      const { item, view } = showOf(storeOfRuns(runOf.cancelling), { clock: clockAt(now) });
      assert.equal(item.text.startsWith('$(warning)'), warns);
      assert.equal(view.badge?.value, warns ? 1 : undefined);
    }
  });
});
