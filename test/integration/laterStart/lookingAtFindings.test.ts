import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, it } from 'mocha';
import * as vscode from 'vscode';
import type { ErrorKind } from '../../../src/core/errors.ts';
import type { ShownFinding, ShownLocation, ShownRun } from '../../../src/core/findings/shownFinding.ts';
import { childNodes, type OutlineNode, rootNodes } from '../../../src/core/findings/view/outline.ts';
import { systemClock } from '../../../src/core/ports.ts';
import type { Run } from '../../../src/core/run/state/run.ts';
import { describeError } from '../../../src/editor/errors/errorMessages.ts';
import { DisplayedFindings } from '../../../src/editor/findings/code/displayedFindings.ts';
import { revealLocation } from '../../../src/editor/findings/code/goToFinding.ts';
import { compareRuns, showAllFindings } from '../../../src/editor/findings/compareRuns.ts';
import { findingOf, type FindingSources, findingsOf } from '../../../src/editor/findings/findingArguments.ts';
import { mapFindingPaths } from '../../../src/editor/findings/mapPaths.ts';
import { Filtering } from '../../../src/editor/findings/tree/filtering.ts';
import { toItem } from '../../../src/editor/findings/tree/findingItems.ts';
import { describeRuns, showFindings, stateOf } from '../../../src/editor/findings/tree/findingsView.ts';
import { createTriage, setTriage } from '../../../src/editor/findings/triage.ts';
import { formatTime } from '../../../src/editor/formats.ts';
import { pickShownRun } from '../../../src/editor/runs/pickRun.ts';
import { untilEqual } from '../../host/workbench/eventually.ts';
import { FolderCalls } from '../../../src/core/yieldingWork.ts';
import { silent } from '../../silentLog.ts';
import { invent } from '../../unit/findings/shownFindings.ts';
import { runOf } from '../../unit/run/sampleRuns.ts';
import { afterTest, answer, messages, pick, recordCommand, shownTexts } from '../dialogs.ts';
import { makeMemory, partly, storeOfFindings, storeOfRuns } from '../doubles.ts';
import { folder as shop } from '../openFolders.ts';
import { showOf } from '../shownRuns.ts';
import { endedRun, inventedAccount } from '../storedRuns.ts';
import { setUserSettings } from '../userSettings.ts';

describe('messages about findings and runs', () => {
  const locationIn = (name: string, drift: ShownLocation['drift']): ShownLocation => ({
    ...{ file: path.join(shop, name), folder: shop, path: name, startLine: 2 },
    ...{ reported: { path: name }, target: 0, drift },
  });
  const findingAt = (location: ShownLocation, state: 'open' | 'falsePositive' = 'open'): ShownFinding => ({
    ...invent({ state }),
    locations: [location],
  });
  const ended = (id: string, more: Partial<Run> = {}): Run =>
    ({ ...endedRun({ id, folder: shop, ...inventedAccount }), ...more }) as Run;

  it('propose “fixed” only for findings no longer reported whose code changed', async () => {
    for (const verdict of [
      'codeChanged',
      'fileUnchanged',
      'notUploaded',
      'unknown',
      'new',
      undefined,
    ] as const) {
      const shown = { ...findingAt(locationIn('a.js', 'gone')), verdict };
      const offered = pick();
      await setTriage([shown], { findings: storeOfFindings(), memory: makeMemory(), log: silent });
      const [[first] = []] = offered;
      assert.deepEqual(
        [first?.label, first?.description],
        verdict === 'codeChanged'
          ? ['Fixed', 'suggested: no longer found, and the code changed']
          : ['Open', 'current'],
      );
    }
  });

  it('say that the code is gone if its file was deleted', async () => {
    await revealLocation(locationIn('deleted.js', 'gone'));
    assert.deepEqual(shownTexts(), ['The code of this finding is no longer in deleted.js.']);
  });

  it('F155 start the row of a finding with what needs a user, and name no line of code that is gone', () => {
    const rowOf = (more: Partial<ShownFinding>, drift: 'same' | 'moved' | 'gone' = 'same'): unknown[] => {
      const shown = { ...invent({ title: 'SQL', at: { path: 'src/a.js', line: 8, drift } }), ...more };
      const [finding] = rootNodes([shown], 'severity').flatMap(childNodes).flatMap(childNodes);
      const { label, description } = toItem(finding!, true);
      return [label, description];
    };
    const path = 'src/a.js';
    assert.deepEqual(rowOf({}, 'moved'), ['SQL', 'line 8 · moved']);
    assert.deepEqual(rowOf({}, 'gone'), ['SQL', 'gone']);
    assert.deepEqual(rowOf({ evidence: [{ kind: 'quoteFound', path }] }), ['SQL', 'line 8']);
    assert.deepEqual(rowOf({ evidence: [{ kind: 'quoteNotFound', path, missing: 'quote' }] }), [
      '⚠ quoted code not found · SQL',
      'quoted code not found in the uploaded src/a.js · line 8',
    ]);
    assert.deepEqual(rowOf({ evidence: [{ kind: 'quoteNotFound', path, missing: 'file' }] }), [
      '⚠ file not uploaded · SQL',
      'file not uploaded: src/a.js · line 8',
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

  const stateWith = (runs: readonly Run[], shown: readonly Run[] = []): string =>
    stateOf(
      storeOfFindings([], { shownRuns: () => shown.map((run) => ({ run, shown: [] })) }),
      { displayed: [], passing: [], belowMinimum: 0, closed: 0 },
      runs,
    );

  it('describe the state of runs if there are no findings, starting with what needs the user', () => {
    const troubled = (kind: ErrorKind): Run => ({ ...runOf.running, trouble: { kind, firstSeen: 0 } }) as Run;
    for (const [kind, state] of [
      ['unsent', 'offline'],
      ['serverError', 'running'],
      ['notFound', 'running'],
      ['unauthorized', 'signIn'],
      ['tokenCommand', 'tokenCommand'],
      ['secretStorage', 'unavailable'],
    ] as const)
      assert.equal(stateWith([troubled(kind)]), state);
    for (const state of ['preparing', 'dispatching'] as const)
      assert.equal(stateWith([runOf[state]]), 'preparing', state);
    assert.equal(stateWith([runOf.preparing, runOf.running]), 'running');
    assert.equal(stateWith([runOf.running, troubled('unsent')]), 'offline');
    assert.equal(stateWith([troubled('unsent'), runOf.unknown]), 'unconfirmed');
    assert.equal(stateWith([runOf.running, runOf.unknown, troubled('notSignedIn')]), 'signIn');
    assert.equal(stateWith([runOf.failed]), 'none');
    const filtered = { displayed: [invent()], passing: [], belowMinimum: 0, closed: 0 };
    assert.equal(stateOf(storeOfFindings(), filtered, []), 'filtered');
  });

  it('F155 offer the next step after a crawl and after a run at its credit limit, without findings', () => {
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
    const coverage = { uploaded: 239, excluded: {}, excludedFolders: 0, notPackaged: 0 };
    const covering = (more: object): Run => ({
      ...runOf.succeeded,
      targets: [{ folder: '/shop', name: 'shop', coverage: { ...coverage, ...more } }],
    });
    const whole = covering({});
    assert.equal(stateWith([whole], [whole]), 'zero');
    const both = [whole, covering({ notPackaged: 1 })];
    assert.equal(stateWith(both, both), 'zeroInPart');
    assert.equal(stateWith([runOf.aborted], [runOf.aborted]), 'zeroInPart');
    const shownRuns = (): ShownRun[] => [{ run: whole, shown: [] }];
    const [line = ''] = describeRuns(storeOfFindings([], { shownRuns }));
    assert.match(line, /^0 findings in 239 uploaded files\. · shop · /);
  });

  const show = (findings = storeOfFindings(), ...runs: readonly Run[]) => {
    const drawn: { visible: boolean; badge?: vscode.ViewBadge } = { visible: false };
    let tree: vscode.TreeDataProvider<OutlineNode> | undefined;
    const filtering = new Filtering(makeMemory(), makeMemory());
    const displayed = new DisplayedFindings(findings);
    const triage = createTriage(tmpdir(), {
      calls: new FolderCalls(silent),
      clock: systemClock,
      log: silent,
    });
    const shown = showFindings(
      { view: drawn as vscode.TreeView<OutlineNode>, fill: (provider) => (tree = provider) },
      { findings, displayed, runs: storeOfRuns(...runs), filtering, triage },
    );
    for (const each of [filtering, displayed, shown]) afterTest(() => each.dispose());
    return { drawn, filtering, tree: tree! };
  };

  const openFolders = () => {
    const opened = new vscode.EventEmitter<vscode.WorkspaceFoldersChangeEvent>();
    const former = Object.getOwnPropertyDescriptors(vscode.workspace);
    afterTest(() => Object.defineProperties(vscode.workspace, former));
    const define = (name: string, value: unknown): object =>
      Object.defineProperty(vscode.workspace, name, { value, configurable: true });
    define('onDidChangeWorkspaceFolders', opened.event);
    return (...folders: readonly string[]): void => {
      const opening = folders.map((each, index) => ({ uri: vscode.Uri.file(each), name: '', index }));
      define('workspaceFolders', opening);
      opened.fire({ added: [], removed: [] });
    };
  };
  const statesIn = (calls: readonly (readonly unknown[])[]): unknown[] =>
    calls.filter(([key]) => key === 'whitebox.findingsView').map(([, value]) => value);

  it('change when other folders are open', () => {
    const open = openFolders();
    open();
    const set = recordCommand('setContext');
    show(storeOfFindings(), runOf.running);
    open(runOf.running.targets[0]?.folder ?? '');
    assert.deepEqual(statesIn(set.calls), ['none', 'running']);
  });

  it('F155 are never said to be none while VS Code has not read the rows of new findings', () => {
    const open = openFolders();
    const set = recordCommand('setContext');
    const all: ShownFinding[] = [];
    let runs: readonly ShownRun[] = [];
    const { drawn, tree } = show(storeOfFindings(all, { shownRuns: () => runs }), runOf.running);
    drawn.visible = true;
    all.push(invent({ at: { path: 'a.js' } }));
    runs = [{ run: runOf.succeeded, shown: all }];
    open(runOf.running.targets[0]?.folder ?? '');
    void tree.getChildren();
    assert.deepEqual(statesIn(set.calls), ['none', 'shown']);
  });

  it('are drawn with the rows: message and badge of a visible view change when VS Code reads its rows', async () => {
    const shown = [invent({ title: 'First', at: { path: 'a.js' } })];
    const shownRuns = () => [{ run: runOf.succeeded, shown }];
    const { drawn, filtering, tree } = show(storeOfFindings(shown, { shownRuns }));
    const badge = (): number | undefined => drawn.badge?.value;
    assert.equal(badge(), 1);
    drawn.visible = true;
    shown.push(invent({ title: 'Second', at: { path: 'a.js' } }));
    await filtering.groupBy('cwe');
    assert.equal(badge(), 1);
    void tree.getChildren();
    assert.equal(badge(), 2);
  });

  it('of two compared runs are grouped by what became of them, until all findings are shown again', async () => {
    const [run, baseline] = [ended('run', { createdAt: 2 }), ended('before', { createdAt: 1 })];
    const ofVerdict = (verdict: ShownFinding['verdict']) => invent({ verdict, at: { path: 'a.js' } });
    const comparison = {
      ...{ run, baseline, shown: [ofVerdict('new'), ofVerdict('stillPresent')] },
      absent: [ofVerdict('notUploaded')],
    };
    const asked: unknown[] = [];
    const findings = storeOfFindings([], {
      comparison: () => comparison,
      showComparison: (...of: Run[]) => Promise.resolve(asked.push(of.slice(0, 2))),
      show: (of: Run) => Promise.resolve(asked.push(of)),
    });
    const stores = { findings, runs: storeOfRuns(run, baseline) };
    await compareRuns([run, baseline], stores);
    const { tree } = show(findings);
    const groups = ((await tree.getChildren()) ?? []).map((node) => toItem(node, true));
    assert.deepEqual(
      groups.map(({ label, description }) => `${label as string} ${description as string}`),
      ['New 1', 'Still present 1', 'Not uploaded this time 1'],
    );
    await showAllFindings(stores);
    assert.deepEqual(asked, [[run, baseline], run]);
  });

  it('say of compared runs why a missing finding isn’t necessarily fixed: ended early, or one pair', () => {
    const input = { target_urls: ['https://shop.example.test/'] };
    const onePair = { ...input, pairs: [{ feature_name: 'Search', perspective: 'XSS' as const }] };
    const sentences = (run: Run): readonly string[] => {
      const comparison = { run, baseline: runOf.succeeded, shown: [] };
      return describeRuns(storeOfFindings([], { comparison: () => comparison })).slice(2);
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
    const [first, second, last] = [0, 1, 2].map((at) =>
      ended(`invented-${String(at)}`, { createdAt: at, ...(at === 0 && { label: 'Before the fix' }) }),
    ) as [Run, Run, Run];
    const shownRuns = () => [{ run: first, shown: [] }];
    assert.deepEqual(describeRuns(storeOfFindings([], { shownRuns })), [
      `0 findings. · ${path.basename(shop)} · run “Before the fix”`,
    ]);
    const offered = pick();
    await compareRuns([last], { findings: storeOfFindings(), runs: storeOfRuns(last, second, first) });
    assert.deepEqual(
      offered.flat().map(({ description }) => description?.split(' · ')[0]),
      [formatTime(1), 'Before the fix'],
    );
  });

  it('open the report of the shown run among all local runs', async () => {
    const [other, shown] = [ended('other'), ended('shown')];
    const pick = (run: Run) =>
      pickShownRun(
        {
          runs: storeOfRuns(other, shown),
          findings: storeOfFindings([], { shownRuns: () => [{ run, shown: [] }] }),
        },
        'report',
        'Open Report',
      );
    assert.equal(await pick(shown), shown);
    assert.equal(await pick(runOf.failed), undefined);
    assert.equal(messages.shown[0]?.text, 'The findings that are shown have no report on this machine.');
  });

  it('count in the status bar what the settings allow, including closed findings if enabled', async () => {
    const all = [invent(), invent({ state: 'falsePositive' })];
    const { item } = showOf(storeOfRuns(), { findings: storeOfFindings(all) });
    assert.equal(item.text, '$(shield) 1');
    await setUserSettings({ 'whitebox.findings.hideTriaged': false });
    await untilEqual(() => item.text, '$(shield) 2');
  });

  it('ask for a folder if the main location of findings is missing, even if other locations exist', async () => {
    const titles: (string | undefined)[] = [];
    answer({ showOpenDialog: (options?: vscode.OpenDialogOptions) => void titles.push(options?.title) });
    const reported = [{ path: 'main.js' }, { path: 'other.js' }];
    const found = (at: number): ShownFinding => {
      const shown = findingAt({ ...locationIn('src/orders.js', 'same'), reported: reported[at]! });
      return { ...shown, finding: { ...shown.finding, locations: reported } };
    };
    await mapFindingPaths(storeOfFindings([found(0)]));
    assert.deepEqual(titles, []);
    const both = storeOfFindings([found(0), found(1)]);
    await mapFindingPaths(both);
    assert.deepEqual(titles, ['Base Folder for the Paths of 1 finding']);
    assert.deepEqual(shownTexts(), ['Every finding that names a file already has a location.']);
    answer({ showOpenDialog: () => [vscode.Uri.file(tmpdir())] });
    const { message } = await mapFindingPaths(both).then(() => assert.fail(), describeError);
    const expected = 'Choose the assessed folder or a folder inside it. This folder is outside: ';
    assert.equal(message, `${expected}${tmpdir()}`);
  });

  it('location findings below the chosen folder if the user agrees, until the mappings are cleared', async () => {
    const reported = [{ path: 'ci/work/src/orders.js' }];
    const invented = invent();
    const run = ended('mapped');
    const shown = { ...invented, run, folder: shop, finding: { ...invented.finding, locations: reported } };
    const calls: unknown[][] = [];
    const findings = storeOfFindings([shown], {
      shownRuns: () => [{ run, shown: [shown] }],
      hasMappings: () => calls.length > 0,
      mapPaths: (...given: unknown[]) => Promise.resolve(calls.push(given)),
      forgetMappings: (...given: unknown[]) => Promise.resolve(calls.push(given)),
    });
    answer({
      showOpenDialog: () => [vscode.Uri.file(shop)],
      showQuickPick: (items: readonly string[]) => items.at(-1),
    });
    await mapFindingPaths(findings);
    assert.equal(
      messages.shown[0]?.text,
      `This finds locations for 1 of 1 finding. Paths that start with “ci/work” are looked up in “${path.basename(shop)}”.`,
    );
    assert.deepEqual(calls, [], 'the question was dismissed');
    messages.press = () => 'Map Paths';
    await mapFindingPaths(findings);
    await mapFindingPaths(findings);
    assert.deepEqual(calls, [[shop, 'ci/work', shop], [shop]]);
  });

  it('F155 apply to the clicked or focused finding, else to those at the cursor, else to those selected in the view', async () => {
    const file = vscode.Uri.file(path.join(shop, 'src', 'orders.js'));
    afterTest(() => vscode.commands.executeCommand('workbench.action.closeActiveEditor'));
    await vscode.window.showTextDocument(file, { selection: new vscode.Range(1, 1, 1, 1) });
    const [there, gone] = (['same', 'gone'] as const).map((drift) =>
      findingAt(locationIn('src/orders.js', drift)),
    ) as [ShownFinding, ShownFinding];
    const closed = findingAt(locationIn('src/orders.js', 'same'), 'falsePositive');
    const findings = storeOfFindings([gone, closed, there]);
    const displayed = new DisplayedFindings(findings);
    afterTest(() => displayed.dispose());
    const selected = findingAt(locationIn('elsewhere.js', 'same'));
    const group = { kind: 'group', shown: [gone, closed] };
    const findingsView = { visible: true, selection: [group, { kind: 'finding', shown: selected }] };
    const sources: FindingSources = {
      findings,
      displayed,
      findingsView: partly<vscode.TreeView<OutlineNode>>(findingsView),
      details: { active: () => undefined },
    };
    const nodes = [0, 1, 2].map((index) => ({ kind: 'finding', shown: invent({ index }) }));
    assert.equal(findingOf([nodes[2], nodes], sources), nodes[2]?.shown);
    assert.equal(findingsOf([nodes[2], nodes], sources).length, 3);
    assert.deepEqual(findingsOf([], sources), [there]);
    await vscode.window.showTextDocument(file, { selection: new vscode.Range(3, 0, 3, 0) });
    assert.deepEqual(findingsOf([], sources), [selected]);
    findingsView.visible = false;
    assert.deepEqual(findingsOf([], sources), []);
  });
});
