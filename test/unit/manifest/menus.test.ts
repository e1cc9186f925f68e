import assert from 'node:assert/strict';
import { test } from 'node:test';
import { manifest, read, readJson } from './projectFiles.ts';

interface Entry {
  readonly command?: string;
  readonly submenu?: string;
  readonly when: string;
  readonly group: string;
}

const { menus, commands, views, viewsWelcome } = (
  manifest as {
    contributes: {
      menus: Readonly<Record<'view/title' | 'view/item/context' | 'commandPalette', readonly Entry[]>>;
      commands: readonly { readonly command: string; readonly enablement?: string; readonly icon?: string }[];
      views: { readonly whitebox: readonly { readonly id: string; readonly when?: string }[] };
      viewsWelcome: readonly { readonly contents: string; readonly when: string }[];
    };
  }
).contributes;

test('every command has code that runs it, since VS Code says nothing about one that has none', () => {
  const handlers = ['commands.ts', 'findings/findingCommands.ts']
    .map((file) => read(`src/editor/${file}`))
    .join('\n');
  assert.deepEqual(
    commands.map(({ command }) => command).filter((id) => !handlers.includes(`'${id}': `)),
    [],
  );
});

const ofRuns = (entries: readonly Entry[]): readonly Entry[] =>
  entries.filter(({ when }) => when.includes('view == whitebox.runs'));

test('commands of the title of the Runs view and of its rows are disjoint: VS Code gives both a row', () => {
  const inTitle = ofRuns(menus['view/title']).map(({ command }) => command);
  const onRows = ofRuns(menus['view/item/context']).map(({ command }) => command);
  assert.deepEqual(
    inTitle.filter((command) => command !== undefined && onRows.includes(command)),
    [],
  );
});

test('rows that need the user have a button: lost answer, interrupted upload, late end, unreadable findings', () => {
  const inline = ofRuns(menus['view/item/context']).filter(({ group }) => group.startsWith('inline'));
  for (const [word, command] of [
    ['unknown', 'whitebox.resendDispatch'],
    ['isUnsent', 'whitebox.retryUpload'],
    ['isStuck', 'whitebox.stopWatching'],
    ['hasUnreadFindings', 'whitebox.openFindingsFile'],
  ] as const) {
    const entry = inline.find(({ when }) => when.includes(`\\b${word}\\b`));
    assert.equal(entry?.command, command, word);
    assert.ok(commands.find((each) => each.command === command)?.icon, command);
  }
});

test('F107 the row of unreadable findings and the Findings view open their file', () => {
  const shown = viewsWelcome.find(({ when }) => when === 'whitebox.findingsView == unreadable');
  assert.equal(shown?.contents, '%welcome.findings.unreadable%');
  const onRow = ofRuns(menus['view/item/context']).filter(
    ({ command }) => command === 'whitebox.openFindingsFile',
  );
  assert.deepEqual(
    onRow.map(({ group }) => group.replace(/@.*/, '')),
    ['inline', '1_results'],
  );
});

test('F155 after a crawl or a credit limit, the Findings view offers the continuation and no new start', () => {
  const texts = readJson('package.nls.json');
  for (const [state, command] of [
    ['crawled', 'assessChosenPairs'],
    ['limited', 'continueAssessment'],
  ] as const) {
    const shown = viewsWelcome.find(({ when }) => when === `whitebox.findingsView == ${state}`);
    const text = texts[shown?.contents.replaceAll('%', '') ?? ''] ?? '';
    assert.match(text, new RegExp(`\\(command:whitebox\\.${command}\\)`));
    assert.doesNotMatch(text, /startAssessment/);
  }
});

test('F169 the sentence about a silent secret storage is for that state only, not for a window that starts', () => {
  const shown = viewsWelcome.filter(({ contents }) => contents === '%welcome.unavailable%');
  assert.equal(shown.length, 2);
  for (const { when } of shown)
    for (const alternative of when.split(' || '))
      assert.match(alternative, /whitebox\.account == unavailable/);
});

test('the Upload Preview is the only view during its question', () => {
  const others = views.whitebox.filter(({ id }) => id !== 'whitebox.uploadPreview');
  assert.equal(others.length, views.whitebox.length - 1);
  for (const { id, when } of others) assert.match(when ?? '', /!whitebox\.choosingFiles\b/, id);
});

test('the menu of several selected runs has the commands for all of them', () => {
  const onSeveral = ofRuns(menus['view/item/context']).filter(
    ({ when, group }) =>
      !group.startsWith('inline') &&
      when.split(' || ').some((alternative) => !alternative.includes('!listMultiSelection')),
  );
  assert.deepEqual(
    onSeveral.map(({ command, submenu }) => command ?? submenu),
    ['whitebox.deleteUploadedSource', 'whitebox.removeRun', 'whitebox.compareTheseRuns'],
  );
});

test('commands without effect on two compared runs are hidden in the palette during a comparison', () => {
  const withoutEffect = menus['view/title'].filter(({ when }) => when.includes('!whitebox.comparing'));
  assert.notDeepEqual(withoutEffect, []);
  for (const { command } of withoutEffect) {
    const entry = menus.commandPalette.find((each) => each.command === command);
    assert.match(entry?.when ?? '', /&& !whitebox\.comparing$/, command);
  }
});

test('F155 the palette has the commands for live findings, and rows offer Open as Assessed for uploaded files only', () => {
  for (const command of ['whitebox.confirmLive', 'whitebox.copyUrl', 'whitebox.openUrl']) {
    const entry = menus.commandPalette.find((each) => each.command === command);
    assert.equal(entry?.when, 'whitebox.findingsShown', command);
  }
  const onRow = menus['view/item/context'].find(({ command }) => command === 'whitebox.openAsAssessed');
  assert.match(onRow?.when ?? '', /\\bwithFile\\b/);
});

test('F84 Restricted Mode has only commands that view, share and sign out', () => {
  const always = commands
    .filter(({ enablement = '' }) => !enablement.includes('isWorkspaceTrusted'))
    .map(({ command }) => command.replace('whitebox.', ''));
  const views = /^(show|open|copy|filter|group|clear|close|compare|toggle|next|previous)[A-Z]/;
  const shares = /^(export|save|share)[A-Z]/;
  const others = always.filter((name) => !views.test(name) && !shares.test(name));
  assert.deepEqual(others.toSorted(), ['checkWhetherFixed', 'choosePairs', 'fixWithAgent', 'importFindings', 'mapFindingPaths', 'renameRun', 'setPriority', 'signOut']); // prettier-ignore
});

test('the sample is offered without an account: in the palette, the signed-out views, and the walkthrough', () => {
  const { contributes } = manifest as {
    contributes: { walkthroughs: readonly { readonly steps: readonly { readonly description: string }[] }[] };
  };
  assert.ok(!menus.commandPalette.some(({ command }) => command === 'whitebox.openSample'));
  const signedOut = viewsWelcome.filter(({ contents }) => /\.(signedOut|noFolder)%$/.test(contents));
  const offers = [
    ...signedOut.map(({ contents }) => contents),
    contributes.walkthroughs[0]?.steps[0]?.description ?? '',
  ];
  assert.equal(offers.length, 5);
  for (const file of ['package.nls.json', 'package.nls.ja.json'])
    for (const key of offers)
      assert.match(readJson(file)[key.replaceAll('%', '')] ?? '', /\(command:whitebox\.openSample\)/, key);
});
