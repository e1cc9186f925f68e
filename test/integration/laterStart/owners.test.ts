import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import type * as vscode from 'vscode';
import type { FindingStore } from '../../../src/core/findings/findingStore.ts';
import { filterFindings, Filtering } from '../../../src/editor/findings/tree/filtering.ts';
import { toItem } from '../../../src/editor/findings/tree/findingItems.ts';
import { childNodes, rootNodes } from '../../../src/core/findings/view/outline.ts';
import { toGroups } from '../../../src/core/findings/view/groups.ts';
import { invent } from '../../unit/findings/shownFindings.ts';
import { answer } from '../dialogs.ts';

/** A Memento that lives as long as its test. */
function makeMemory(): vscode.Memento {
  const values = new Map<string, unknown>();
  const get = (key: string, fallback?: unknown): unknown => values.get(key) ?? fallback;
  const update = (key: string, value: unknown): Promise<void> => Promise.resolve(void values.set(key, value));
  return { keys: () => [...values.keys()], get, update } as vscode.Memento;
}

const all = [['@Ana', '@shop/web'], ['@ben'], undefined].map((owners, index) => invent({ index, owners }));

describe('Owners in the Findings view', () => {
  it("filters by the user's names, saved for all workspaces and case-insensitive", async () => {
    const user = makeMemory();
    const filtering = new Filtering(makeMemory(), user);
    const findings = { all: () => all, absent: () => [] } as unknown as FindingStore;
    answer({
      showQuickPick: (items: readonly { part?: string }[]) =>
        items.find(({ part }) => part === 'owners') ?? items[0],
      showInputBox: () => '@ana  @shop/mobile',
    });
    await filterFindings(filtering, findings);
    assert.deepEqual(filtering.filter, { owners: ['@Ana', '@shop/mobile'] });
    assert.deepEqual(all.filter(filtering.passes), all.slice(0, 1));
    assert.equal(new Filtering(makeMemory(), user).handles, '@ana  @shop/mobile');
  });

  it('names the owners in groups and in the tooltip of a finding', () => {
    const groups = rootNodes(toGroups(all, 'owner'));
    const labels = groups.map((node) => toItem(node, true).label);
    assert.deepEqual(labels, ['@Ana, @shop/web', '@ben', 'No known owner']);
    const [node] = rootNodes(toGroups(all, 'severity')).flatMap(childNodes).flatMap(childNodes);
    const tooltip = node && toItem(node, true).tooltip;
    assert.ok(typeof tooltip === 'string');
    assert.match(tooltip, /Owner: @Ana, @shop\/web/);
  });
});
