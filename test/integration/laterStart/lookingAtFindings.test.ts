import assert from 'node:assert/strict';
import path from 'node:path';
import { afterEach, before, describe, it } from 'mocha';
import * as vscode from 'vscode';
import type { FindingStore } from '../../../src/core/findings/findingStore.ts';
import type { ShownFinding, ShownPlace } from '../../../src/core/findings/shownFinding.ts';
import { filterFindings } from '../../../src/editor/filterFindings.ts';
import { findingsOf } from '../../../src/editor/findingArguments.ts';
import { FindingsByFile } from '../../../src/editor/findingsByFile.ts';
import { FindingsLens } from '../../../src/editor/findingsLens.ts';
import { revealPlace } from '../../../src/editor/places.ts';
import { readDisplaySettings } from '../../../src/editor/settings.ts';
import { watchMessages } from '../messages.ts';
import { openFolders } from '../openFolders.ts';

const { showQuickPick } = vscode.window;

describe('looking at findings', () => {
  let shop: string;

  before(async () => {
    [shop = ''] = await openFolders(2);
  });

  afterEach(() => {
    Object.assign(vscode.window, { showQuickPick });
  });

  const placeIn = (name: string, drift: string): ShownPlace =>
    ({
      file: path.join(shop, name),
      folder: shop,
      path: name,
      startLine: 2,
      told: { path: name },
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
    ({ all: () => all, onDidChange: () => ({ dispose: () => undefined }) }) as unknown as FindingStore;

  it('says of a file that was deleted that the code is not there any more', async () => {
    const messages = watchMessages();
    try {
      await revealPlace(placeIn('deleted.js', 'gone'));
    } finally {
      messages.end();
    }
    assert.deepEqual(
      messages.shown.map(({ text }) => text),
      ['The code of this finding is not in deleted.js any more.'],
    );
  });

  it('takes a minimum severity that is mistyped for none', async () => {
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

  it('can filter by every triage state that there is, since settled findings are hidden without that', async () => {
    const memory = { get: () => undefined, update: () => Promise.resolve() } as unknown as vscode.Memento;
    const lens = new FindingsLens(memory);
    const pick = (items: readonly { part?: string }[]): unknown =>
      items.find(({ part }) => part === 'triage') ?? items;
    Object.assign(vscode.window, {
      showQuickPick: (items: readonly object[]) => Promise.resolve(pick(items)),
    });
    await filterFindings(lens, storeOf(findingAt(placeIn('src/orders.js', 'same'), 'falsePositive')));
    assert.deepEqual(lens.filter, { triage: ['falsePositive'] });
    lens.dispose();
  });

  it('means, at the cursor, findings that are seen there', async () => {
    const file = vscode.Uri.file(path.join(shop, 'src', 'orders.js'));
    await vscode.window.showTextDocument(file, { selection: new vscode.Range(1, 1, 1, 1) });
    const [there, gone] = ['same', 'gone'].map((drift) => findingAt(placeIn('src/orders.js', drift)));
    assert.ok(there && gone);
    const settled = findingAt(placeIn('src/orders.js', 'same'), 'falsePositive');
    const findings = storeOf(gone, settled, there);
    const byFile = new FindingsByFile(findings);
    assert.deepEqual(findingsOf([], { findings, byFile, selection: () => [] }), [there]);
    byFile.dispose();
    await vscode.commands.executeCommand('workbench.action.closeActiveEditor');
  });
});
