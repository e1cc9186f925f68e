import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ShownFinding } from '../../../../src/core/findings/shownFinding.ts';
import { type Grouping, GROUPINGS, toGroups } from '../../../../src/core/findings/view/groups.ts';
import {
  childNodes,
  maxChildren,
  type OutlineNode,
  rootNodes,
} from '../../../../src/core/findings/view/outline.ts';
import { invent, inventedFindings } from '../shownFindings.ts';

function allNodes(
  findings: readonly ShownFinding[],
  grouping: Grouping = 'severity',
): readonly OutlineNode[] {
  const withChildren = (node: OutlineNode): OutlineNode[] => [
    node,
    ...childNodes(node).flatMap(withChildren),
  ];
  return rootNodes(toGroups(findings, grouping)).flatMap(withChildren);
}

test('every finding is in the tree once, IDs are unique, and every parent contains its child', () => {
  fc.assert(
    fc.property(inventedFindings, fc.constantFrom(...GROUPINGS), (findings, grouping) => {
      const nodes = allNodes(findings, grouping);
      const below = nodes.flatMap((node) => (node.kind === 'finding' ? [node.shown] : []));
      assert.equal(below.length, findings.length);
      assert.deepEqual(new Set(below), new Set(findings));
      assert.equal(new Set(nodes.map(({ id }) => id)).size, nodes.length);
      for (const node of nodes) {
        const { id } = node;
        const parent = node.kind === 'proposals' ? undefined : node.parent;
        if (parent !== undefined) assert.ok(childNodes(parent).some((child) => child.id === id));
      }
    }),
  );
});

test('a finding that moves or is triaged keeps its ID, and so its expansion and selection', () => {
  const some = [
    invent({ index: 0, severity: 'high', at: { path: 'a.js', line: 4 } }),
    invent({ index: 1, severity: 'high', at: { path: 'b.js', line: 2 } }),
    invent({ index: 2, severity: 'low', at: { path: 'a.js', line: 1 } }),
  ];
  const changed = some.map((shown) => ({
    ...shown,
    places: shown.places.map((place) => ({ ...place, startLine: 54 })),
    triage: { ...shown.triage, state: 'confirmed' as const },
  }));
  const before = allNodes(some).map(({ id }) => id);
  assert.deepEqual(
    allNodes(changed).map(({ id }) => id),
    before,
  );
});

test('children beyond the limit are counted instead of shown', () => {
  const findings = Array.from({ length: maxChildren + 5 }, (_, index) =>
    invent({ index, at: { path: `f${String(index)}.js` } }),
  );
  const [heading] = rootNodes(toGroups(findings, 'severity'));
  assert.ok(heading);
  const files = childNodes(heading);
  const last = files.at(-1);
  assert.equal(files.length, maxChildren + 1);
  assert.equal(last?.kind === 'more' && last.count, 5);
});
