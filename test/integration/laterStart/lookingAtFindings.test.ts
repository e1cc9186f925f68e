import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { before, describe, it } from 'mocha';
import * as vscode from 'vscode';
import type { FindingStore } from '../../../src/core/findings/findingStore.ts';
import type { ShownFinding, ShownPlace } from '../../../src/core/findings/shownFinding.ts';
import { AssessmentError, type ErrorKind } from '../../../src/core/errors.ts';
import type { Run } from '../../../src/core/run/state/run.ts';
import type { RunStore } from '../../../src/core/run/disk/runStore.ts';
import { compareRuns } from '../../../src/editor/findings/compareRuns.ts';
import { silent } from '../../silentLog.ts';
import { createTriage, setTriage } from '../../../src/editor/findings/triage.ts';
import { childNodes, type OutlineNode, rootNodes } from '../../../src/core/findings/view/outline.ts';
import { toGroups } from '../../../src/core/findings/view/groups.ts';
import { toItem } from '../../../src/editor/findings/tree/findingItems.ts';
import { describeRuns, stateOf } from '../../../src/editor/findings/tree/findingsView.ts';
import { countFindings, formatTime } from '../../../src/editor/formats.ts';
import { describeError } from '../../../src/editor/errors/messages.ts';
import { showFindings } from '../../../src/editor/findings/tree/findingsView.ts';
import { mapFindingPaths } from '../../../src/editor/findings/mapPaths.ts';
import type { BranchComparison } from '../../../src/editor/findings/changedOnBranch.ts';
import { Filtering } from '../../../src/editor/findings/tree/filtering.ts';
import { filterFindings } from '../../../src/editor/findings/tree/filterPicks.ts';
import { findingOf, type FindingSources, findingsOf } from '../../../src/editor/findings/findingArguments.ts';
import { systemClock } from '../../../src/core/ports.ts';
import { DisplayedFindings } from '../../../src/editor/findings/code/displayedFindings.ts';
import { pickShownRun } from '../../../src/editor/runs/pickRun.ts';
import { revealPlace } from '../../../src/editor/findings/code/goToFinding.ts';
import { readDisplaySettings } from '../../../src/editor/settings.ts';
import { showStatus } from '../../../src/editor/runs/statusBar.ts';
import { eventually } from '../../host/workbench/eventually.ts';
import { answer, recordCommand, watchMessages } from '../dialogs.ts';
import { runOf } from '../../unit/run/sampleRuns.ts';
import { invent } from '../../unit/findings/shownFindings.ts';
import { openFolders } from '../openFolders.ts';
import { endedRun } from '../storedRuns.ts';
import { resetUserSettings, setUserSettings } from '../userSettings.ts';

describe('messages about findings and runs', () => {
  let shop: string;

  before(async () => {
    [shop = ''] = await openFolders(2);
  });

  const placeIn = (name: string, drift: string): ShownPlace =>
    ({
      file: path.join(shop, name),
      folder: shop,
      path: name,
      startLine: 2,
      reported: { path: name },
      drift,
    }) as ShownPlace;
  const findingAt = (place: ShownPlace, state = 'open'): ShownFinding =>
    ({
      run: { id: 'r' },
      finding: { index: 0, severity: 'high' },
      places: [place],
      triage: { state },
    }) as unknown as ShownFinding;
  const storeOf = (...all: ShownFinding[]): FindingStore =>
    ({
      all: () => all,
      absent: () => [],
      find: () => undefined,
      sharedDecisions: () => new Map(),
      isComplete: () => true,
      onDidChange: () => ({ dispose: () => undefined }),
    }) as unknown as FindingStore;

  it('propose “fixed” only for findings no longer reported whose code changed', async () => {
    const firstOffered = async (
      verdict: ShownFinding['verdict'],
    ): Promise<readonly (string | undefined)[]> => {
      let first: vscode.QuickPickItem | undefined;
      const pick = (items: readonly vscode.QuickPickItem[]): Promise<undefined> => {
        [first] = items;
        return Promise.resolve(undefined);
      };
      answer({ showQuickPick: pick });
      const shown = { ...findingAt(placeIn('a.js', 'gone')), verdict };
      await setTriage([shown], {
        findings: storeOf(),
        memory: { get: () => undefined } as never,
        log: silent,
      });
      return [first?.label, first?.description];
    };
    const proposal = 'suggested: no longer found, and the code changed';
    assert.deepEqual(await firstOffered('codeChanged'), ['Fixed', proposal]);
    for (const verdict of ['sameBytes', 'notSent', 'unknown', 'new', undefined] as const)
      assert.deepEqual(await firstOffered(verdict), ['Open', 'current']);
  });

  it('say that the code is gone if its file was deleted', async () => {
    const messages = watchMessages();
    await revealPlace(placeIn('deleted.js', 'gone'));
    assert.deepEqual(
      messages.shown.map(({ text }) => text),
      ['The code of this finding is no longer in deleted.js.'],
    );
  });

  it('name no line in the Findings view for code that is gone', () => {
    const descriptionOf = (drift: 'moved' | 'gone'): unknown => {
      const [severity] = rootNodes(toGroups([invent({ at: { path: 'a.js', line: 8, drift } })], 'severity'));
      const [file] = childNodes(severity!);
      return toItem(childNodes(file!)[0]!, true).description;
    };
    assert.equal(descriptionOf('moved'), 'line 8 · moved');
    assert.equal(descriptionOf('gone'), 'gone');
  });

  it('F155 start the row of a finding with what needs a person, which a narrow view would cut', () => {
    const rowOf = (more: Partial<ShownFinding>): unknown[] => {
      const shown = { ...invent({ title: 'SQL', at: { path: 'src/a.js', line: 8 } }), ...more };
      const [severity] = rootNodes(toGroups([shown], 'severity'));
      const [file] = childNodes(severity!);
      const { label, description } = toItem(childNodes(file!)[0]!, true);
      return [label, description];
    };
    const path = 'src/a.js';
    assert.deepEqual(rowOf({ evidence: [{ kind: 'asSent', path }] }), ['SQL', 'line 8']);
    assert.deepEqual(rowOf({ evidence: [{ kind: 'notAsSent', path, missing: 'quote' }] }), [
      '⚠ quoted code not uploaded · SQL',
      'not in src/a.js as uploaded · line 8',
    ]);
    assert.deepEqual(rowOf({ decidedBefore: { state: 'fixed', note: '', at: 1 } }), [
      '⚠ check decision · SQL',
      'earlier decision was “Fixed”; check it · line 8',
    ]);
    const triage = { state: 'open', note: '', at: 1, until: '2026-06-03' } as const;
    assert.deepEqual(rowOf({ triage }), [
      '⚠ acceptance ended · SQL',
      'Acceptance ended on June 3, 2026 · line 8',
    ]);
  });

  it('treat a mistyped minimum severity as unset', async () => {
    const settings = vscode.workspace.getConfiguration('whitebox');
    const set = (value: string | undefined): Thenable<void> =>
      settings.update('findings.minimumSeverity', value, vscode.ConfigurationTarget.Global);
    await set('High');
    try {
      assert.equal(readDisplaySettings().minimumSeverity, 'none');
      await set('high');
      assert.equal(readDisplaySettings().minimumSeverity, 'high');
    } finally {
      await set(undefined);
    }
  });

  it('describe the state of runs if there are no findings, starting with what needs the user', () => {
    const stateWith = (...runs: Run[]): string =>
      stateOf([], { displayed: [], passing: [], mild: 0, settled: 0 }, runs);
    const troubled = (kind: ErrorKind): Run => ({ ...runOf.running, trouble: { kind, since: 0 } }) as Run;
    const kinds: readonly ErrorKind[] = [
      'unsent',
      'serverError',
      'notFound',
      'unauthorized',
      'tokenCommand',
      'secretStorage',
    ];
    assert.deepEqual(
      kinds.map((kind) => stateWith(troubled(kind))),
      ['offline', 'running', 'running', 'signIn', 'tokenCommand', 'unavailable'],
    );
    for (const state of ['preparing', 'dispatching'] as const)
      assert.equal(stateWith(runOf[state]), 'preparing', state);
    assert.equal(stateWith(runOf.preparing, runOf.running), 'running');
    assert.equal(stateWith(runOf.running, troubled('unsent')), 'offline');
    assert.equal(stateWith(troubled('unsent'), runOf.unknown), 'unconfirmed');
    assert.equal(stateWith(runOf.running, runOf.unknown, troubled('notSignedIn')), 'signIn');
    assert.equal(stateWith(runOf.failed), 'none');
  });

  it('F155 offer the next step after a crawl and after a run at its credit limit, without findings', () => {
    const stateWith = (runs: Run[], shown: Run[] = []): string =>
      stateOf(
        shown.map((run) => ({ run, shown: [] })),
        { displayed: [], passing: [], mild: 0, settled: 0 },
        runs,
      );
    const artifacts = [{ name: 'features', file: 'features.json' }];
    const exit = { kind: 'SUCCESS', artifacts: ['features'] };
    const crawl = { ...runOf.succeeded, workflow: 'blackbox-crawl', exit, artifacts } as Run;
    const abort = { code: 'credit_limit_reached' };
    const limited = {
      ...runOf.aborted,
      workflow: 'blackbox-assessment',
      exit: { kind: 'ABORTED', abort, artifacts: ['features'] },
      artifacts,
    } as Run;
    assert.deepEqual(
      [stateWith([crawl, limited]), stateWith([limited, crawl]), stateWith([limited], [limited])],
      ['crawled', 'limited', 'limited'],
    );
    assert.equal(stateWith([runOf.running, crawl]), 'running');
  });

  it('F155 say what runs without findings cover, without reassurance if coverage is partial', () => {
    const coverage = { uploaded: 239, excluded: {}, excludedFolders: 0, unpacked: 0 };
    const ended = { ...runOf.succeeded, targets: [{ folder: '/shop', name: 'shop', coverage }] };
    const unpacked = {
      ...ended,
      targets: [{ ...ended.targets[0]!, coverage: { ...coverage, unpacked: 1 } }],
    };
    const filtered = { displayed: [], passing: [], mild: 0, settled: 0 };
    const stateWith = (...runs: Run[]): string =>
      stateOf(runs.map((run) => ({ run, shown: [] })), filtered, runs); // prettier-ignore
    assert.equal(stateWith(ended), 'zero');
    assert.equal(stateWith(ended, unpacked), 'zeroInPart');
    assert.equal(stateWith(runOf.aborted), 'zeroInPart');
    const findings = { comparison: () => undefined, shownRuns: () => [{ run: ended, shown: [] }] };
    const [line = ''] = describeRuns(findings as Partial<FindingStore> as FindingStore);
    assert.match(line, /^0 findings in 239 uploaded files\. · shop · /);
  });

  it('change when other folders are open', () => {
    const opened = new vscode.EventEmitter<vscode.WorkspaceFoldersChangeEvent>();
    const former = Object.getOwnPropertyDescriptors(vscode.workspace);
    const openFolder = (...folders: vscode.WorkspaceFolder[]): object =>
      Object.defineProperty(vscode.workspace, 'workspaceFolders', { value: folders, configurable: true });
    const set = recordCommand('setContext');
    Object.defineProperty(vscode.workspace, 'onDidChangeWorkspaceFolders', {
      value: opened.event,
      configurable: true,
    });
    openFolder();
    const memory = { get: () => undefined, update: () => Promise.resolve() } as unknown as vscode.Memento;
    const filtering = new Filtering(memory, memory);
    const findings = Object.assign(storeOf(), { shownRuns: () => [], comparison: () => undefined });
    const runs = { all: () => [runOf.running], onDidChange: findings.onDidChange } as unknown as RunStore;
    const view = {} as unknown as vscode.TreeView<OutlineNode>;
    try {
      const displayed = new DisplayedFindings(findings);
      const lockFolder = tmpdir();
      const triage = createTriage(lockFolder, { clock: systemClock, log: silent });
      const deps = { findings, displayed, runs, filtering, triage };
      const shown = showFindings({ view, fill: () => undefined }, deps);
      openFolder({ uri: vscode.Uri.file(runOf.running.targets[0]?.folder ?? ''), name: '', index: 0 });
      opened.fire({ added: [], removed: [] });
      shown.dispose();
      displayed.dispose();
    } finally {
      Object.defineProperties(vscode.workspace, former);
      filtering.dispose();
    }
    const states = set.calls.filter(([key]) => key === 'whitebox.findingsView').map(([, value]) => value);
    assert.deepEqual(states, ['none', 'running']);
  });

  it('are drawn with the rows: message and badge of a visible view change when VS Code reads its rows', async () => {
    const memory = { get: () => undefined, update: () => Promise.resolve() } as unknown as vscode.Memento;
    const filtering = new Filtering(memory, memory);
    const shown = [invent({ title: 'First', at: { path: 'a.js' } })];
    const run = { run: runOf.succeeded, shown };
    const findings = Object.assign(storeOf(), {
      all: () => shown,
      shownRuns: () => [run],
      absent: () => [],
      comparison: () => undefined,
    });
    const drawn: { visible: boolean; badge?: vscode.ViewBadge } = { visible: false };
    const view = drawn as unknown as vscode.TreeView<OutlineNode>;
    const badge = (): number | undefined => drawn.badge?.value;
    let tree: vscode.TreeDataProvider<OutlineNode> | undefined;
    const displayed = new DisplayedFindings(findings);
    const triage = createTriage(tmpdir(), { clock: systemClock, log: silent });
    const runs = { all: () => [], onDidChange: findings.onDidChange } as unknown as RunStore;
    const disposable = showFindings(
      { view, fill: (provider) => (tree = provider) },
      { findings, displayed, runs, filtering, triage },
    );
    assert.equal(badge(), 1);
    drawn.visible = true;
    shown.push(invent({ title: 'Second', at: { path: 'a.js' } }));
    await filtering.groupBy('cwe');
    assert.equal(badge(), 1);
    void tree?.getChildren();
    assert.equal(badge(), 2);
    for (const each of [disposable, displayed, filtering]) each.dispose();
  });

  it('name the file that decisions cannot be written to', () => {
    const error = new AssessmentError('storage', { subject: '/repo/.vscode/triage.json', detail: 'EROFS' });
    const { message } = describeError(error);
    assert.match(message, /^\/repo\/\.vscode\/triage\.json can’t be read or written \(EROFS\)\. /);
  });

  it('offer an action for an error', () => {
    const offered = (['capacity', 'noResult', 'unanswered'] as const).map((kind) =>
      describeError(new AssessmentError(kind)).actions.map(({ title }) => title),
    );
    const track = 'Track Existing Run by ID…';
    assert.deepEqual(offered, [['Delete Uploaded Source…'], [track, 'Show Log'], [track]]);
  });

  it('format counts with the separators of the language', () => {
    assert.equal(countFindings(12_345), '12,345 findings');
  });

  it('say of compared runs why a missing finding isn’t necessarily fixed: ended early, or one pair', () => {
    const input = { target_urls: ['https://shop.example.test/'] };
    const onePair = { ...input, pairs: [{ feature_name: 'Search', perspective: 'XSS' as const }] };
    const sentences = (run: Run): readonly string[] => {
      const comparison = { run, baseline: runOf.succeeded, shown: [] };
      return describeRuns({ comparison: () => comparison } as unknown as FindingStore).slice(2);
    };
    assert.deepEqual(sentences(runOf.succeeded), []);
    assert.deepEqual(sentences(runOf.aborted), [
      'the run didn’t finish, so a missing finding isn’t necessarily fixed',
    ]);
    assert.deepEqual(sentences({ ...runOf.succeeded, workflow: 'blackbox-assessment', input: onePair }), [
      'the run tested only one pair, so a missing finding isn’t necessarily fixed',
    ]);
  });

  it('use the names the user gave to runs', async () => {
    const [before, after] = ['Before the fix', undefined].map((label, at): Run => {
      const run = endedRun({ id: `invented-${String(at)}`, folder: shop, baseUrl: '', organizationId: '' });
      return { ...run, createdAt: at, ...(label === undefined ? {} : { label }) };
    }) as [Run, Run];
    const folders = [{ run: before, shown: [] }];
    const findings = { comparison: () => undefined, shownRuns: () => folders };
    assert.deepEqual(describeRuns(findings as unknown as FindingStore), [
      `0 findings. · ${path.basename(shop)} · run “Before the fix”`,
    ]);
    let offered: readonly string[] = [];
    answer({
      showQuickPick: (items: readonly { label: string; description: string }[]) => {
        offered = items.map(({ label, description }) => `${label}: ${description.split(' · ')[0] ?? ''}`);
        return undefined;
      },
    });
    const last = { ...after, id: 'invented-2', createdAt: 2 };
    const runs = { all: () => [last, after, before] } as unknown as RunStore;
    await compareRuns([last], { findings: {} as unknown as FindingStore, runs });
    const title = `Whitebox assessment · ${path.basename(shop)}`;
    assert.deepEqual(offered, [`${title}: ${formatTime(1)}`, `${title}: Before the fix`]);
  });

  it('open the report of the shown run among all local runs', async () => {
    const [other, shown] = ['other', 'shown'].map((id) =>
      endedRun({ id, folder: shop, baseUrl: '', organizationId: '' }),
    ) as [Run, Run];
    const runs = { all: () => [other, shown] } as unknown as RunStore;
    const folders = [{ run: shown, shown: [] }];
    const findings = { shownRuns: () => folders } as unknown as FindingStore;
    assert.equal(await pickShownRun({ runs, findings }, 'report', 'Open Report'), shown);
    const messages = watchMessages();
    folders[0]!.run = runOf.failed;
    assert.equal(await pickShownRun({ runs, findings }, 'report', 'Open Report'), undefined);
    assert.equal(messages.shown[0]?.text, 'The findings that are shown have no report on this machine.');
  });

  it('open the finding that was clicked or focused, whatever else is selected', () => {
    const nodes = [0, 1, 2].map((index) => ({
      kind: 'finding',
      shown: { run: { id: 'invented' }, finding: { index } },
    }));
    const findings = { find: () => undefined } as unknown as FindingStore;
    const sources = { findings } as unknown as FindingSources;
    assert.equal(findingOf([nodes[2], nodes], sources)?.finding.index, 2);
    assert.equal(findingsOf([nodes[2], nodes], sources).length, 3);
  });

  it('say after sign-out that a token command signs in again', async () => {
    const messages = watchMessages(({ isModal, buttons }) => (isModal ? buttons[0] : undefined));
    await setUserSettings({ 'whitebox.tokenCommand': ['print-a-token'] });
    try {
      await vscode.commands.executeCommand('whitebox.signOut');
    } finally {
      await resetUserSettings();
    }
    const { text, buttons } = messages.shown.at(-1) ?? {};
    assert.match(text ?? '', /^The token command in your settings still signs you in\./);
    assert.deepEqual(buttons, ['Open Settings']);
  });

  it('list every triage state in the filter, since settled findings are hidden by default', async () => {
    const memory = { get: () => undefined, update: () => Promise.resolve() } as unknown as vscode.Memento;
    const filtering = new Filtering(memory, memory);
    const pick = (items: readonly { part?: string }[]): unknown =>
      items.find(({ part }) => part === 'triage') ?? items;
    answer({
      showQuickPick: (items: readonly object[]) => pick(items),
    });
    const findings = storeOf(findingAt(placeIn('src/orders.js', 'same'), 'falsePositive'));
    await filterFindings(filtering, findings, {} as unknown as BranchComparison);
    assert.deepEqual(filtering.filter, { triage: ['falsePositive'] });
    filtering.dispose();
  });

  it('count in the status bar what the settings allow, including settled findings if enabled', async () => {
    const item = {} as vscode.StatusBarItem;
    const place = placeIn('src/orders.js', 'same');
    const findings = storeOf(findingAt(place), findingAt(place, 'falsePositive'));
    const runs = { all: () => [], onDidChange: findings.onDidChange } as unknown as RunStore;
    const tracker = { nextCheckAt: () => undefined };
    const accounts = { state: 'signedIn', onDidChangeState: findings.onDidChange } as const;
    const status = showStatus(item, { accounts, runs, findings, tracker, clock: systemClock });
    try {
      assert.equal(item.text, '$(shield) 1');
      await setUserSettings({ 'whitebox.findings.hideTriaged': false });
      await eventually(
        () => item.text,
        (text) => text === '$(shield) 2',
      );
    } finally {
      await resetUserSettings();
      status.dispose();
    }
  });

  it('ask for a folder if the main place of findings is missing, even if other places exist', async () => {
    const titles: (string | undefined)[] = [];
    answer({ showOpenDialog: (options?: vscode.OpenDialogOptions) => void titles.push(options?.title) });
    const messages = watchMessages();
    const reported = [{ path: 'main.js' }, { path: 'other.js' }];
    const found = (at: number): ShownFinding => {
      const here = { ...placeIn('src/orders.js', 'same'), reported: reported[at] } as ShownPlace;
      const shown = findingAt(here);
      return { ...shown, finding: { ...shown.finding, places: reported } };
    };
    const mapAmong = (...all: ShownFinding[]): Promise<void> =>
      mapFindingPaths(Object.assign(storeOf(...all), { shownRuns: () => [] }));
    await mapAmong(found(0));
    assert.deepEqual(titles, []);
    await mapAmong(found(0), found(1));
    assert.deepEqual(titles, ['Base Folder for the Paths of 1 finding']);
    assert.deepEqual(
      messages.shown.map(({ text }) => text),
      ['Every finding that names a file already has a location.'],
    );
    answer({ showOpenDialog: () => [vscode.Uri.file(tmpdir())] });
    await assert.rejects(mapAmong(found(0), found(1)), (error: unknown) => {
      const expected = `Choose the assessed folder or a folder inside it. This folder is outside: ${tmpdir()}`;
      assert.equal(describeError(error).message, expected);
      return true;
    });
  });

  it('F155 apply without an argument to the findings at the cursor, else to those selected in the view', async () => {
    const file = vscode.Uri.file(path.join(shop, 'src', 'orders.js'));
    await vscode.window.showTextDocument(file, { selection: new vscode.Range(1, 1, 1, 1) });
    const [there, gone] = ['same', 'gone'].map((drift) => findingAt(placeIn('src/orders.js', drift)));
    assert.ok(there && gone);
    const settled = findingAt(placeIn('src/orders.js', 'same'), 'falsePositive');
    const findings = storeOf(gone, settled, there);
    const displayed = new DisplayedFindings(findings);
    const selected = findingAt(placeIn('elsewhere.js', 'same'));
    const group = { kind: 'group', shown: [gone, settled] };
    const findingsView = { visible: true, selection: [group, { kind: 'finding', shown: selected }] };
    const sources: FindingSources = {
      findings,
      displayed,
      findingsView: findingsView as unknown as vscode.TreeView<OutlineNode>,
      details: { active: () => undefined },
    };
    assert.deepEqual(findingsOf([], sources), [there]);
    await vscode.window.showTextDocument(file, { selection: new vscode.Range(3, 0, 3, 0) });
    assert.deepEqual(findingsOf([], sources), [selected]);
    findingsView.visible = false;
    assert.deepEqual(findingsOf([], sources), []);
    displayed.dispose();
    await vscode.commands.executeCommand('workbench.action.closeActiveEditor');
  });
});
