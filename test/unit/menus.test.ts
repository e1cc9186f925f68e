import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { before, test } from 'node:test';

interface Entry {
  readonly command?: string;
  readonly submenu?: string;
  readonly when: string;
  readonly group: string;
}

const root = path.resolve(import.meta.dirname, '../..');
let menus: Readonly<Record<'view/title' | 'view/item/context' | 'commandPalette', readonly Entry[]>>;
let commands: readonly { readonly command: string; readonly enablement?: string }[];

before(async () => {
  const manifest = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')) as {
    contributes: { menus: typeof menus; commands: typeof commands };
  };
  ({ menus, commands } = manifest.contributes);
});

const ofRuns = (entries: readonly Entry[]): readonly Entry[] =>
  entries.filter(({ when }) => when.includes('view == whitebox.runs'));

test('no command of the title of the Runs view is one of its rows: VS Code gives both a row', () => {
  const inTitle = ofRuns(menus['view/title']).map(({ command }) => command);
  const onRows = ofRuns(menus['view/item/context']).map(({ command }) => command);
  assert.deepEqual(
    inTitle.filter((command) => command !== undefined && onRows.includes(command)),
    [],
  );
});

test('while several runs are selected, their menu has what means all of them', () => {
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

test('what has no effect on two compared runs is not in the palette either while they are compared', () => {
  const withoutEffect = menus['view/title'].filter(({ when }) => when.includes('!whitebox.comparing'));
  assert.notDeepEqual(withoutEffect, []);
  for (const { command } of withoutEffect) {
    const entry = menus.commandPalette.find((each) => each.command === command);
    assert.match(entry?.when ?? '', /&& !whitebox\.comparing$/, command);
  }
});

test('F84 in Restricted Mode there is nothing but what views, hands on and signs out', () => {
  const always = commands
    .filter(({ enablement = '' }) => !enablement.includes('isWorkspaceTrusted'))
    .map(({ command }) => command.replace('whitebox.', ''));
  assert.deepEqual(always.toSorted(), [
    'clearFilters',
    'clearFindings',
    'closePreview',
    'compareRuns',
    'compareTheseRuns',
    'copyFinding',
    'copyRunId',
    'exportBundle',
    'exportCsv',
    'exportSarif',
    'filterFindings',
    'fixWithAgent',
    'groupFindings',
    'importFindings',
    'mapFindingPaths',
    'nextFinding',
    'openReport',
    'previousFinding',
    'renameRun',
    'saveReport',
    'showAllFindings',
    'showFindingDetails',
    'showFindingJson',
    'showLog',
    'showRunFindings',
    'signOut',
  ]);
});
