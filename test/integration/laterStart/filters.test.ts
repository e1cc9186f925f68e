import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { appendFile, mkdir, mkdtemp, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { after, afterEach, before, beforeEach, describe, it } from 'mocha';
import * as vscode from 'vscode';
import { AssessmentError } from '../../../src/core/errors.ts';
import type { ShownFinding } from '../../../src/core/findings/shownFinding.ts';
import { watchDrift } from '../../../src/editor/findings/code/driftWatch.ts';
import { BranchComparison } from '../../../src/editor/findings/changedOnBranch.ts';
import { Filtering } from '../../../src/editor/findings/tree/filtering.ts';
import { filterFindings } from '../../../src/editor/findings/tree/filterPicks.ts';
import { describeFindings } from '../../../src/editor/findings/tree/findingsView.ts';
import { toItem } from '../../../src/editor/findings/tree/findingItems.ts';
import type { BranchState } from '../../../src/core/findings/view/branchChanges.ts';
import { applyFilter } from '../../../src/core/findings/view/filter.ts';
import { childNodes, rootNodes } from '../../../src/core/findings/view/outline.ts';
import { dayAfter } from '../../../src/core/findings/triage/triage.ts';
import { systemClock } from '../../../src/core/ports.ts';
import { FolderCalls } from '../../../src/core/yieldingWork.ts';
import { eventually, untilEqual } from '../../host/workbench/eventually.ts';
import { silent } from '../../silentLog.ts';
import { invent } from '../../unit/findings/shownFindings.ts';
import { answer, replace, shownTexts } from '../dialogs.ts';
import { makeMemory, never, partly, storeOfFindings } from '../doubles.ts';
import { inRestrictedMode } from '../restrictedMode.ts';

/**
 * Returns the messages of a Findings view that has these findings, one for each of these changes of
 * the store.
 */
const messageOf = (
  all: readonly ShownFinding[],
  store: object = {},
  filtering = new Filtering(makeMemory(), makeMemory()),
): string => {
  const view = partly<vscode.TreeView<unknown>>();
  const filtered = applyFilter(all, { minimumSeverity: 'none', hideTriaged: true }, filtering.passes);
  describeFindings(view, 'shown', filtered, { findings: storeOfFindings(all, store), filtering });
  return view.message ?? '';
};

const acceptedFor = (days: number, index: number): ShownFinding => {
  const shown = invent({ index, state: 'acceptedRisk' });
  return { ...shown, triage: { ...shown.triage, until: dayAfter(Date.now(), days) } };
};

describe('a filter of the Findings view', () => {
  /** Picks this part of the filter, then everything that it offers. */
  const pick = async (part: string, all: readonly ShownFinding[], user = makeMemory()) => {
    const filtering = new Filtering(makeMemory(), user);
    answer({
      showQuickPick: (items: readonly { part?: string }[]) =>
        items.find((item) => item.part === part) ?? items,
      showInputBox: () => '@ana  @shop/mobile',
    });
    await filterFindings(filtering, storeOfFindings(all), partly<BranchComparison>());
    return filtering;
  };
  const owned = [['@Ana', '@shop/web'], ['@ben'], undefined].map((owners, index) =>
    invent({ index, owners }),
  );

  it('passes the owners that the user names, saved for all workspaces and case-insensitive', async () => {
    const user = makeMemory();
    const { filter, passes } = await pick('owners', owned, user);
    assert.deepEqual(filter, { owners: ['@Ana', '@shop/mobile'] });
    assert.deepEqual(owned.filter(passes), owned.slice(0, 1));
    assert.equal(new Filtering(makeMemory(), user).handles, '@ana  @shop/mobile');
  });

  it('F157 passes just the acceptances that end within 14 days, also if no other acceptance ends', async () => {
    const all = [invent({ index: 0 }), acceptedFor(3, 1)];
    const { filter, passes } = await pick('acceptance', all);
    assert.deepEqual(filter, { acceptance: ['soon'] });
    assert.deepEqual(all.filter(passes), all.slice(1));
  });

  it('lists every triage state, since closed findings are hidden by default', async () => {
    const { filter } = await pick('triage', [invent({ state: 'falsePositive' })]);
    assert.deepEqual(filter, { triage: ['falsePositive'] });
  });

  it('is described in the view, and kept for the next window', async () => {
    const memory = makeMemory();
    const filtering = new Filtering(memory, makeMemory());
    const all = ['SQL from a request', 'Weak hash'].map((title, index) => invent({ index, title }));
    await filtering.filterBy({ severities: ['high'], text: 'ＳＱＬ' });
    assert.match(messageOf(all, {}, filtering), /Filter: High · “ＳＱＬ” \(1 of 2\)$/);
    assert.deepEqual(new Filtering(memory, makeMemory()).filter, filtering.filter);
  });

  it('names the owners in groups and in the tooltip of a finding', () => {
    const groups = rootNodes(owned, 'owner');
    const labels = groups.map((node) => toItem(node, true).label);
    assert.deepEqual(labels, ['@Ana, @shop/web', '@ben', 'No owner']);
    const [node] = rootNodes(owned, 'severity').flatMap(childNodes).flatMap(childNodes);
    assert.match(toItem(node!, true).tooltip as string, /Owner: @Ana, @shop\/web/);
  });
});

describe('the message of the Findings view', () => {
  it('F157 counts the acceptances that end within 14 days, also those that triage hides', () => {
    const all = [0, 14, 15].map(acceptedFor);
    assert.match(messageOf(all), /Acceptance ends within 14 days: 2 findings/);
    assert.doesNotMatch(messageOf(all.slice(2)), /14 days/);
  });

  it('counts the findings that Problems cannot show for one file', () => {
    const all = Array.from({ length: 1_100 }, (_, index) =>
      invent({ index, at: { path: 'crowded.js', line: index + 1 } }),
    );
    assert.match(messageOf(all), /In this view, but not in Problems: 100 findings/);
    assert.doesNotMatch(messageOf(all.slice(100)), /Problems/);
  });

  it('F159 says why nothing is hidden while the changes of the branch are unknown', async () => {
    const filtering = new Filtering(makeMemory(), makeMemory());
    await filtering.filterBy({ changedOnBranch: true });
    const messageIn = (branch: BranchState): string => {
      filtering.useBranch(branch);
      return messageOf([invent()], {}, filtering);
    };
    assert.match(messageIn({ kind: 'pending' }), /still comparing, so nothing is hidden yet\) \(1 of 1\)/);
    assert.match(
      messageIn({ kind: 'unavailable', why: 'restricted' }),
      /changed on this branch, not available \(Git isn’t used in Restricted Mode\) \(1 of 1\)/,
    );
    const changeOf = () => 'unknown' as const;
    assert.match(
      messageIn({ kind: 'known', base: 'origin/main', changeOf }),
      /Shown, but not compared: 1 finding/,
    );
  });

  it('F160 names the lines of CODEOWNERS that were skipped, at most five, or that it is too large', () => {
    const gaps = [
      { file: '/home/dev/shop/CODEOWNERS', lines: [2, 3, 5, 7, 11, 13] },
      { file: '/home/dev/admin/CODEOWNERS', lines: 'unreadable' as const },
    ];
    const message = messageOf([], {
      shownRuns: () => [{ ...invent(), shown: [invent()], ownersGaps: gaps }],
    });
    assert.match(message, /VS Code can’t use these lines of \S*shop\/CODEOWNERS: 2, 3, 5, 7, 11, …/);
    assert.match(message, /\S*admin\/CODEOWNERS can’t be read or is larger than 3 MB/);
  });
});

const asAna = ['user.name=Ana', 'user.email=ana@example.test', 'commit.gpgsign=false'].flatMap((each) => [
  '-c',
  each,
]);

describe('Changed on this branch', () => {
  const git = (folder: string, ...args: string[]) =>
    promisify(execFile)('git', ['-C', folder, ...asAna, ...args]);
  const text = Array.from({ length: 9 }, (_, at) => `const value${at + 1} = read(${at + 1});`).join('\n');
  let root = '';
  let shop = '';
  let filtering: Filtering;
  let branch: BranchComparison | undefined;
  let calls: Pick<FolderCalls, 'ask' | 'onDidAnswer'>;

  const at = (name: string, line?: number): ShownFinding => {
    const invented = invent({ at: { path: name, ...(line !== undefined && { line }) } });
    const [location] = invented.locations;
    return {
      ...invented,
      locations: location ? [{ ...location, folder: shop, path: name, file: path.join(shop, name) }] : [],
    };
  };
  const open = async (folder: string): Promise<{ status(): Promise<void> }> => {
    interface Git {
      getAPI(version: 1): { openRepository(uri: vscode.Uri): Promise<{ status(): Promise<void> } | null> };
    }
    const extension = await vscode.extensions.getExtension<Git>('vscode.git')?.activate();
    const repository = await extension?.getAPI(1).openRepository(vscode.Uri.file(folder));
    assert.ok(repository);
    return repository;
  };
  const compare = (...all: ShownFinding[]): BranchComparison => {
    branch = new BranchComparison({
      findings: storeOfFindings(all),
      filtering,
      memory: makeMemory(),
      calls,
      log: silent,
    });
    return branch;
  };
  const untilKnown = (): Promise<unknown> =>
    eventually(
      () => filtering.branch.kind,
      (kind) => kind !== 'pending',
    );

  // The oldest supported VS Code opens no repository outside its workspace otherwise.
  const openAnywhere = async (value: 'always' | undefined): Promise<void> => {
    const settings = vscode.workspace.getConfiguration('git');
    await settings.update('openRepositoryInParentFolders', value, vscode.ConfigurationTarget.Global);
  };

  before(async () => {
    await openAnywhere('always');
    root = await realpath(await mkdtemp(path.join(tmpdir(), 'branch-')));
    const origin = path.join(root, 'origin');
    await mkdir(origin);
    await git(origin, 'init', '--quiet', '-b', 'main');
    for (const name of ['same.js', 'edited.js', 'moved.js']) await writeFile(path.join(origin, name), text);
    await git(origin, 'add', '.');
    await git(origin, 'commit', '--quiet', '-m', 'Start');
  });

  beforeEach(async () => {
    filtering = new Filtering(makeMemory(), makeMemory());
    calls = new FolderCalls(silent);
    shop = await mkdtemp(path.join(root, 'shop-'));
  });

  afterEach(async () => {
    branch?.dispose();
    filtering.dispose();
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  after(async () => {
    await openAnywhere(undefined);
    await rm(root, { recursive: true, force: true, maxRetries: 5 });
  });

  it('F159 shows findings on lines that a branch without upstream wrote, with renames and unsaved edits', async () => {
    await git(root, 'clone', '--quiet', 'origin', shop);
    await git(shop, 'checkout', '--quiet', '-b', 'feature');
    await writeFile(path.join(shop, 'edited.js'), `// new\n${text.replace('read(5)', 'eval(5)')}`);
    await git(shop, 'commit', '--quiet', '-a', '-m', 'Edit');
    await rename(path.join(shop, 'moved.js'), path.join(shop, 'renamed.js'));
    await appendFile(path.join(shop, 'renamed.js'), '\nlog();');
    await git(shop, 'add', '.');
    await writeFile(path.join(shop, 'untracked.js'), text);
    await open(shop);
    const shown = [
      at('edited.js', 1),
      at('edited.js', 6),
      at('renamed.js', 10),
      at('untracked.js', 3),
      at('edited.js'),
    ];
    const hidden = [
      at('edited.js', 2),
      at('edited.js', 7),
      at('renamed.js', 9),
      at('same.js', 4),
      at('same.js'),
      invent(),
    ];
    const typed = at('same.js', 2);
    const all = [...shown, typed, ...hidden];
    const comparison = compare(...all);
    await comparison.turnOn();
    assert.deepEqual(all.filter(filtering.passes), all, 'hides nothing until it is known');
    await untilKnown();
    assert.deepEqual(all.filter(filtering.passes), shown);

    assert.match(
      messageOf(all, {}, filtering),
      /Hidden because unchanged on this branch: 6 findings — Hidden because they have no location in this workspace: 1 finding — Filter: changed on this branch, compared with origin\/HEAD \([0-9a-f]{10}\) \(5 of 12\)/,
    );

    const shownRuns = () => [{ run: invent().run, shown: all }];
    const findings = storeOfFindings(all, { shownRuns, locateAgain: () => Promise.resolve() });
    const watch = watchDrift({ findings, branch: comparison, clock: systemClock, log: silent });
    const editor = await vscode.window.showTextDocument(vscode.Uri.file(path.join(shop, 'same.js')));
    await editor.edit((edit) => edit.replace(new vscode.Range(1, 0, 1, 99), 'const value2 = eval(2);'));
    await untilEqual(() => filtering.passes(typed), true);
    assert.deepEqual(
      all.filter(filtering.passes).length,
      shown.length + 2,
      'and the one without a line in that file',
    );
    await vscode.commands.executeCommand('workbench.action.files.revert');
    watch.dispose();
    await comparison.turnOff();
    assert.deepEqual(all.filter(filtering.passes), all);
  });

  it('F159 compares the default branch with its upstream, in a shallow clone and after a commit', async () => {
    await appendFile(path.join(root, 'origin', 'same.js'), '\n');
    await git(path.join(root, 'origin'), 'commit', '--quiet', '-a', '-m', 'Later');
    await git(root, 'clone', '--quiet', '--depth', '1', `file://${root}/origin`, shop);
    await git(shop, 'remote', 'rename', 'origin', 'hub');
    await writeFile(path.join(shop, 'edited.js'), text.replace('read(5)', 'eval(5)'));
    const repository = await open(shop);
    const all = [at('edited.js', 5), at('edited.js', 6)];
    const comparison = compare(...all);
    await comparison.turnOn();
    await untilKnown();
    assert.deepEqual(all.filter(filtering.passes), all.slice(0, 1));
    assert.match(filtering.branch.kind === 'known' ? filtering.branch.base : '', /^hub\/main \(/);
    await git(shop, 'commit', '--quiet', '-a', '-m', 'Edit');
    await git(shop, 'update-ref', 'refs/remotes/hub/main', 'HEAD');
    // VS Code looks by itself, but only while its window has the focus.
    await repository.status();
    await untilEqual(() => all.filter(filtering.passes), []);
  });

  it('F201 compares a file whose folder doesn’t respond once it does', async () => {
    await git(root, 'clone', '--quiet', 'origin', shop);
    await git(shop, 'checkout', '--quiet', '-b', 'feature');
    await writeFile(path.join(shop, 'edited.js'), text.replace('read(5)', 'eval(5)'));
    await open(shop);
    const noAnswer = () => Promise.reject(new AssessmentError('noAnswer', { subject: shop }));
    const answered = new vscode.EventEmitter<string>();
    calls = { ask: noAnswer, onDidAnswer: answered.event };
    const all = [at('edited.js', 5), at('edited.js', 6)];
    await compare(...all).turnOn();
    await untilKnown();
    assert.match(messageOf(all, {}, filtering), /Shown, but not compared: 2 findings/);
    replace(calls, { ask: (_folder: string, call: () => Promise<unknown>) => call() });
    answered.fire(shop);
    await untilEqual(() => all.filter(filtering.passes).length, 1);
  });

  it('F159 asks for a branch if there is no base, and says why it isn’t available without repository, Git, or trust', async () => {
    await git(shop, 'init', '--quiet', '-b', 'trunk');
    await writeFile(path.join(shop, 'a.js'), text);
    const comparison = compare(at('a.js', 1));
    await comparison.turnOn();
    await git(shop, 'add', '.');
    await git(shop, 'commit', '--quiet', '-m', 'Start');
    await git(shop, 'checkout', '--quiet', '-b', 'topic');
    await (await open(shop)).status();
    const offered: string[] = [];
    answer({
      showQuickPick: (items: readonly { name: string }[]) => {
        offered.push(...items.map(({ name }) => name));
        return items.find(({ name }) => name === 'trunk');
      },
    });
    await comparison.turnOn();
    await untilKnown();
    assert.deepEqual(offered.sort(), ['topic', 'trunk']);
    assert.deepEqual([at('a.js', 1)].filter(filtering.passes), []);
    answer({
      showQuickPick: (items: readonly { part?: string }[]) =>
        items.find(({ part }) => part === 'changedOnBranch') ?? 'Show Changed and Unchanged',
    });
    await filterFindings(filtering, storeOfFindings(), comparison);
    assert.equal(filtering.filter.changedOnBranch, false);
    replace(vscode.extensions, { getExtension: () => undefined });
    await comparison.turnOn();
    await inRestrictedMode(() => comparison.turnOn());
    assert.equal(filtering.filter.changedOnBranch, false);
    assert.deepEqual(
      shownTexts(),
      [
        'VS Code has no Git repository open for these files',
        'VS Code’s Git extension is disabled or couldn’t find Git',
        'Git isn’t used in Restricted Mode',
      ].map((why) => `“Changed on This Branch” isn’t available: ${why}.`),
    );
  });

  it('F182 isn’t available if the Git extension never answers, neither at its start nor to a question', async () => {
    const noAnswer = (): Promise<never> => new Promise(() => undefined);
    const repository = {
      rootUri: vscode.Uri.file(shop),
      state: { HEAD: { name: 'topic' }, onDidChange: never },
      getMergeBase: noAnswer,
    };
    const git = (state: string) => ({
      state,
      onDidChangeState: never,
      onDidOpenRepository: never,
      onDidCloseRepository: never,
      getRepository: () => repository,
    });
    const extensions = [
      { activate: noAnswer },
      { activate: () => Promise.resolve({ enabled: true, getAPI: () => git('uninitialized') }) },
      { activate: () => Promise.resolve({ enabled: true, getAPI: () => git('initialized') }) },
    ];
    const why = { kind: 'unavailable', why: 'noAnswer' };
    const expected = extensions.map(() => why);
    replace(vscode.extensions, { getExtension: () => extensions.shift() });
    // Every limit is over at once.
    replace(systemClock, { sleep: () => Promise.resolve() });
    const states = expected.map(() => compare(at('a.js', 1)).compare());
    assert.deepEqual(await Promise.all(states), expected);
  });
});
