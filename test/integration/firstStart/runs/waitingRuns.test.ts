import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { before, beforeEach, describe, it } from 'mocha';
import * as vscode from 'vscode';
import { AssessmentError } from '../../../../src/core/errors.ts';
import type { FindingStore } from '../../../../src/core/findings/findingStore.ts';
import type { Clock } from '../../../../src/core/ports.ts';
import type { Failure, Run } from '../../../../src/core/run/state/run.ts';
import type { RunStore } from '../../../../src/core/run/disk/runStore.ts';
import type { SignInState } from '../../../../src/editor/account/accounts.ts';
import { describeError } from '../../../../src/editor/errors/messages.ts';
import { capitalized } from '../../../../src/editor/formats.ts';
import { showStorageProblem } from '../../../../src/editor/runs/recoverRuns.ts';
import { type RunsNode, showRuns } from '../../../../src/editor/runs/runsView.ts';
import { showMenu, showStatus } from '../../../../src/editor/runs/statusBar.ts';
import { runOf } from '../../../unit/run/sampleRuns.ts';
import { eventually } from '../../../host/workbench/eventually.ts';
import { startService } from '../../../service/assessmentService.ts';
import { storageVariable } from '../../events.ts';
import { answer, recordCommand, watchMessages } from '../../dialogs.ts';
import { openFolders } from '../../openFolders.ts';
import { inRestrictedMode } from '../../restrictedMode.ts';
import { parseWorkerFile, runLines, savedAlways } from '../../runLines.ts';
import { storeLiveRun, storeUnsentRun } from '../../storedRuns.ts';
import { printing, resetUserSettings, setUserSettings } from '../../userSettings.ts';

const storage = process.env[storageVariable]!;
const place = { baseUrl: 'https://assessment.example.test/v1', organizationId: 'invented' };
const day = 24 * 60 * 60 * 1000;
/** Failures after which a person would have to try again, and a poll does by itself. */
const retried = [
  'connectionLost',
  'timeout',
  'rateLimited',
  'serverError',
  'addressRefused',
  'conflict',
  'diskFull',
  'storage',
  'secretStorage',
] as const;
const refused = {
  ...runOf.running,
  trouble: { kind: 'unauthorized', since: 0 },
} as Run;

describe('runs that wait for the user', () => {
  let folder: string;
  let offered: readonly string[];

  before(async () => {
    [folder = ''] = await openFolders(1);
  });

  beforeEach(() => choose());

  const storeOf = (...all: readonly Run[]): RunStore =>
    ({
      all: () => all,
      get: (id: string) => all.find((run) => run.id === id),
      onDidChange: () => ({ dispose: () => undefined }),
      foreign: () => [],
      onDidChangeOther: () => ({ dispose: () => undefined }),
    }) as unknown as RunStore;
  const findingsOf = (...states: readonly string[]): FindingStore =>
    ({
      all: () => states.map((state) => ({ finding: { severity: 'high' }, triage: { state } })),
      count: () => states.length,
      failureOf: () => undefined,
      isComplete: () => true,
      onDidChange: () => ({ dispose: () => undefined }),
    }) as unknown as FindingStore;
  const accountsIn = (state: SignInState) =>
    ({ state, onDidChangeState: () => ({ dispose: () => undefined }) }) as const;
  const tracker = savedAlways;
  const clockAt = (now: number) => ({ now: () => now, monotonic: () => now, sleep: () => Promise.resolve() });

  /** Picks the entry with this name in the next quick pick, or none. */
  const choose = (name?: string): void => {
    answer({
      showQuickPick: (items: readonly { label: string; description?: string }[]) => {
        offered = items.map(({ label, description = '' }) =>
          `${label.replace(/^\$\(.*?\) /, '')} ${description}`.trim(),
        );
        return items[offered.indexOf(name ?? '')];
      },
    });
  };
  const open = async (findings: FindingStore, now: number, ...runs: readonly Run[]): Promise<void> => {
    await showMenu({
      accounts: accountsIn('signedIn'),
      runs: storeOf(...runs),
      findings,
      clock: clockAt(now),
    });
  };

  it('are listed in the menu of the status item with their next step', async () => {
    await open(findingsOf(), 0, runOf.running);
    assert.ok(!offered.includes('Sign In…') && !offered.includes('Stop Watching'), offered.join());
    await open(findingsOf(), 0, refused);
    assert.match(offered[0] ?? '', /^Sign In… http:\/\/\S+, organization \S+$/);
    await open(findingsOf(), 2 * day, runOf.cancelling, runOf.failed);
    assert.ok(offered.includes('Stop Watching') && !offered.includes('Retry Upload…'), offered.join());
  });

  it('are retried from the menu without choosing, if the newest failed before sending', async () => {
    const retried = recordCommand('whitebox.retryUpload');
    choose('Retry Upload…');
    await open(findingsOf(), 0, runOf.failed, runOf.running);
    assert.deepEqual(retried.calls, [[{ kind: 'run', id: runOf.failed.id }]]);
  });

  it('are listed beside the number of findings that the settings allow', async () => {
    await open(findingsOf('open', 'falsePositive'), 0);
    assert.ok(offered.includes('Show Findings 1 finding'), offered.join());
  });

  it('are listed by the command, without sign-in while the workspace is untrusted', async () => {
    const id = '20260101000000-menu';
    await storeUnsentRun(storage, { id, folder, ...place });
    await vscode.commands.executeCommand('whitebox.refreshRuns');
    try {
      await vscode.commands.executeCommand('whitebox.showMenu');
      assert.deepEqual(offered, ['Sign In…', 'Retry Upload…', 'Show Runs', 'Show Log']);
      await inRestrictedMode(() => vscode.commands.executeCommand('whitebox.showMenu'));
      assert.deepEqual(offered, ['Show Runs', 'Show Log']);
    } finally {
      await rm(path.join(storage, 'runs', id), { recursive: true, maxRetries: 3 });
      await vscode.commands.executeCommand('whitebox.refreshRuns');
    }
  });

  it('F56 are polled when a token command is set or corrected', async () => {
    const service = await startService();
    const id = '20260101000000-command';
    const { baseUrl, organizationId } = service;
    const answers = (): string[] =>
      service.requests.map(({ path: name, status }) => `${path.basename(name)} ${String(status)}`);
    const says = (text: string): Promise<unknown> =>
      eventually(
        () => runLines(id),
        (lines) => lines.some((line) => line.startsWith(text)),
      );
    try {
      await setUserSettings({ 'whitebox.baseUrl': baseUrl, 'whitebox.organizationId': organizationId });
      await storeLiveRun(storage, { id, folder, baseUrl, organizationId });
      await vscode.commands.executeCommand('whitebox.refreshRuns');
      await says('Sign in to ');
      await setUserSettings({ 'whitebox.tokenCommand': [process.execPath, '-e', ''] });
      await says('The output of the token command ');
      assert.deepEqual(answers(), []);
      await setUserSettings({ 'whitebox.tokenCommand': printing(service.token) });
      // With a valid token the service does not know the invented run.
      await says('The service didn’t find ');
      assert.equal(answers()[0], 'describe 404');
    } finally {
      await rm(path.join(storage, 'runs', id), { recursive: true, maxRetries: 3 });
      await vscode.commands.executeCommand('whitebox.refreshRuns');
      await Promise.all([service.close(), resetUserSettings()]);
    }
  });

  /** The status item and the Runs view with this run, and its row after they are gone. */
  const show = (
    run: Run,
    {
      now = 0,
      findings = findingsOf(),
      clock = clockAt(now),
      runId,
      account = 'signedIn',
      others = [],
    }: {
      now?: number;
      findings?: FindingStore;
      clock?: Clock;
      runId?: string;
      account?: SignInState;
      others?: readonly Run[];
    } = {},
  ) => {
    const item = {} as vscode.StatusBarItem;
    const view = {} as unknown as vscode.TreeView<RunsNode>;
    let rows: vscode.TreeDataProvider<RunsNode> | undefined;
    const deps = {
      accounts: accountsIn(account),
      runs: storeOf(run, ...others),
      findings,
      clock,
      tracker,
      notes: { runIdFor: () => runId },
      parseWorkerFile,
    };
    const fill = (provider: vscode.TreeDataProvider<RunsNode>): void => void (rows = provider);
    const shown = [showStatus(item, deps), showRuns({ view, fill }, deps)];
    const dispose = (): void => {
      for (const each of shown) each.dispose();
    };
    return { item, view, rows: rows!, dispose };
  };
  const rowOf = async (
    run: Run,
    others: readonly Run[] = [],
  ): Promise<{ row: vscode.TreeItem; item: vscode.StatusBarItem }> => {
    const { item, rows, dispose } = show(run, { others });
    const row = await rows.getTreeItem({ kind: 'run', id: run.id });
    dispose();
    return { row, item };
  };
  /** The line below a run that starts with `start`. */
  const lineOf = async (
    run: Run,
    start: string,
    options?: Parameters<typeof show>[1],
  ): Promise<vscode.TreeItem | undefined> => {
    const { rows, dispose } = show(run, options);
    const lines = (await rows.getChildren({ kind: 'run', id: run.id })) as RunsNode[];
    dispose();
    const items = lines.map((line) => rows.getTreeItem(line) as vscode.TreeItem);
    return items.find(({ label }) => typeof label === 'string' && label.startsWith(start));
  };

  it('say in the Runs view what is wrong, and a click offers what to do next', async () => {
    const trouble = await lineOf(refused, 'The access token for ');
    assert.equal(trouble?.command?.command, 'whitebox.signInForRun');
  });

  it('ask in the Runs view for the decision about an unconfirmed start, which a click opens', async () => {
    const asked = await lineOf(runOf.unknown, 'The response to the start request was lost');
    assert.equal(asked?.command?.command, 'whitebox.resendDispatch');
  });

  it('F66 that were accepted but could not be saved show their run ID, and a click copies it', async () => {
    const line = await lineOf(runOf.dispatching, 'Run ID', { runId: 'run-7' });
    assert.deepEqual(
      [line?.label, line?.description, line?.command?.command],
      ['Run ID, not saved yet', 'run-7', 'whitebox.copyRunId'],
    );
  });

  it('F66 that cannot be saved show the cause above them while it lasts, and warn once', () => {
    const said = watchMessages();
    const view = { message: '' } as unknown as vscode.TreeView<RunsNode>;
    const changed = new vscode.EventEmitter<undefined>();
    const runs = Object.assign(storeOf(), {
      problem: undefined as string | undefined,
      onDidChangeOther: changed.event,
    });
    const shown = showStorageProblem(runs, { view, fill: () => undefined });
    const above: string[] = [];
    for (const problem of ['EROFS', undefined, 'EROFS']) {
      runs.problem = problem;
      changed.fire(undefined);
      above.push(view.message ?? '');
    }
    shown.dispose();
    const message =
      'VS Code can’t write to this extension’s storage (EROFS). Check the free disk space and your permissions. Until VS Code can write to it, no run can start, and runs are shown as last saved.';
    assert.deepEqual(above, [message, '', message]);
    assert.deepEqual(
      said.shown.map(({ text, severity }) => [text, severity]),
      [[message, 'Warning']],
    );
  });

  it('F107 with unreadable findings say so in the Runs view, and a click opens the file', async () => {
    const failureOf = (): Failure => ({ kind: 'malformedFindings' });
    const run = { ...runOf.succeeded, artifacts: [{ name: 'findings', file: 'findings.json' }] } as Run;
    const line = await lineOf(run, 'Findings', { findings: Object.assign(findingsOf(), { failureOf }) });
    assert.match(String(line?.description), /can’t be read/);
    assert.equal(line?.command?.command, 'whitebox.openFindingsFile');
    const said = await lineOf(run, 'Findings');
    assert.equal(said?.command?.command, 'whitebox.showRunFindings');
  });

  it("F58 show the service's reason for an abort in the Runs view as plain text", async () => {
    const abort = { code: 'invented', detail: { why: 'It was [too](command:x) hot.' } };
    const run = { ...runOf.aborted, exit: { kind: 'ABORTED', abort, artifacts: [] } };
    const said = await lineOf(run, 'Message from the service: ');
    assert.equal(said?.label, 'Message from the service: why: It was [too](command:x) hot.');
  });

  const troubled = (kind: Failure['kind']): Run => ({ ...runOf.running, trouble: { kind, since: 0 } }) as Run;
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
      const { row, item } = await rowOf(run);
      const [state = '', attention] = said.split(' · ');
      const title = `${capitalized(state)}${run.state === 'unknown' ? '' : ' 0m'}`;
      const facts = [...(attention === undefined ? [] : [attention]), 'Jan 1'].join(' · ');
      assert.deepEqual([row.label, row.description], [title, facts]);
      const read = row.accessibilityInformation?.label ?? '';
      assert.match(read, new RegExp(`^Whitebox assessment · .*, ${title}, ${facts}$`));
      assert.equal((row.iconPath as vscode.ThemeIcon).id, icon);
      const heard = item.accessibilityInformation?.label ?? '';
      assert.ok(heard.endsWith(`, ${said.replace(' · ', ', ')}, for 0m`), heard);
    });

  it('F155 are distinguished by workflow and application, and Confirm Live by its finding', async () => {
    const hosts = [{ folder: '/shop', name: 'shop.example.test' }];
    const crawl = { ...runOf.running, workflow: 'blackbox-crawl', targets: hosts } as Run;
    const confirming = {
      ...crawl,
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
      const { row, item } = await rowOf(run);
      assert.deepEqual([row.label, row.description], ['Running 0m', description]);
      const { value } = item.tooltip as vscode.MarkdownString;
      assert.ok(value.replaceAll('\\', '').startsWith(`${title}: running, 0m`), value);
      assert.ok(item.accessibilityInformation?.label.includes(`: ${title}, running`));
    }
  });

  it('update the elapsed time each minute in the status item and the Runs view', () => {
    const beats: (() => void)[] = [];
    const { setInterval } = globalThis;
    globalThis.setInterval = ((beat: () => void) => beats.push(beat)) as unknown as typeof setInterval;
    const run = runOf.running;
    let now = run.createdAt;
    try {
      const { item, rows, dispose } = show(run, { clock: { ...clockAt(0), now: () => now } });
      let redrawn = 0;
      rows.onDidChangeTreeData!(() => (redrawn += 1));
      const before = item.text;
      now += 5 * 60_000;
      for (const beat of beats) beat();
      assert.notEqual(item.text, before);
      assert.equal(redrawn, 1);
      dispose();
    } finally {
      globalThis.setInterval = setInterval;
    }
  });

  it('F169 in trouble warn in the status item after 10 minutes, or at once if they need the user', () => {
    const minute = 60_000;
    const warns = (run: Run, now: number): boolean => {
      const { item, dispose } = show(run, { now });
      dispose();
      return item.text.startsWith('$(warning)');
    };
    for (const kind of ['unsent', 'connectionLost', 'secretStorage'] as const) {
      const run = troubled(kind);
      assert.deepEqual(
        [warns(run, 0), warns(run, 10 * minute - 1), warns(run, 10 * minute)],
        [false, false, true],
      );
    }
    assert.equal(warns(refused, 0), true);
    assert.equal(warns(runOf.unknown, 0), true);
  });

  it('F169 whose polls are repeated automatically ask nobody to try again', async () => {
    for (const kind of retried) {
      const run = troubled(kind);
      const { item, rows, dispose } = show(run);
      const lines = (await rows.getChildren({ kind: 'run', id: run.id })) as RunsNode[];
      const texts = lines.map((line) => JSON.stringify(rows.getTreeItem(line)));
      dispose();
      const { value } = item.tooltip as vscode.MarkdownString;
      const said = [...texts, value.replaceAll('\\', '')].join('\n');
      assert.doesNotMatch(said, /try again/i, kind);
      assert.match(describeError(new AssessmentError(kind)).message, /Try again( later)?\./, kind);
    }
  });

  it('F169 have the first 200 characters of a long failure in their line, and all of it in the tooltip', async () => {
    const detail = 'x'.repeat(500);
    const trouble = { kind: 'serverError', detail, since: 0 };
    const line = await lineOf({ ...runOf.running, trouble } as Run, 'The service reported an error');
    const [label, tooltip] = [line?.label, line?.tooltip];
    assert.ok(typeof label === 'string' && typeof tooltip === 'string');
    assert.deepEqual([label.length, label.endsWith('x…'), tooltip.includes(detail)], [200, true, true]);
  });

  it('F169 and none at all say in the tooltip that the account is not available yet', () => {
    const sentence = 'Your account isn’t available yet, because VS Code’s secret storage isn’t responding.';
    const saidWith = (account: SignInState, run: Run): number => {
      const { item, dispose } = show(run, { account });
      dispose();
      const { value } = item.tooltip as vscode.MarkdownString;
      return value.replaceAll('\\', '').split(sentence).length - 1;
    };
    assert.equal(saidWith('unavailable', runOf.succeeded), 1);
    assert.equal(saidWith('unavailable', troubled('secretStorage')), 1, 'once');
    assert.equal(saidWith('signedIn', runOf.succeeded), 0);
  });

  it('F169 leave the start in the menu while the account is not available, without sign-in', async () => {
    choose();
    await showMenu({
      accounts: accountsIn('unavailable'),
      runs: storeOf(),
      findings: findingsOf(),
      clock: clockAt(0),
    });
    assert.ok(offered.includes('Start Assessment…') && !offered.includes('Sign In…'), offered.join());
  });

  it('show a warning in both the status item and the Runs view', () => {
    const late = runOf.cancelling;
    for (const [now, warns] of [
      [0, false],
      [2 * day, true],
    ] as const) {
      const { item, view, dispose } = show(late, { now });
      assert.equal(item.text.startsWith('$(warning)'), warns);
      assert.equal(view.badge?.value, warns ? 1 : undefined);
      dispose();
    }
  });
});
