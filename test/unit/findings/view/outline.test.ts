import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ShownFinding } from '../../../../src/core/findings/shownFinding.ts';
import { type Grouping, GROUPINGS, toGroups } from '../../../../src/core/findings/view/groups.ts';
import { MAX_CHILDREN, Outline, type OutlineNode } from '../../../../src/core/findings/view/outline.ts';
import { invent, inventedFindings } from '../shownFindings.ts';

function allNodes(outline: Outline, node?: OutlineNode): OutlineNode[] {
  return outline.children(node).flatMap((child) => [child, ...allNodes(outline, child)]);
}

function outlineOf(findings: readonly ShownFinding[], grouping: Grouping = 'severity'): Outline {
  const outline = new Outline();
  outline.reset(toGroups(findings, grouping));
  return outline;
}

const some = [
  invent({ index: 0, severity: 'high', at: { path: 'a.js', line: 4 } }),
  invent({ index: 1, severity: 'high', at: { path: 'b.js', line: 2 } }),
  invent({ index: 2, severity: 'low', at: { path: 'a.js', line: 1 } }),
];
const a = new Set(['/home/dev/shop/a.js']);

test('every finding is in the tree once, every id is one of a kind, and every parent has its child', () => {
  fc.assert(
    fc.property(inventedFindings, fc.constantFrom(...GROUPINGS), (findings, grouping) => {
      const outline = outlineOf(findings, grouping);
      const nodes = allNodes(outline);
      const below = nodes.flatMap((node) => (node.kind === 'finding' ? [node.shown] : []));
      assert.equal(below.length, findings.length);
      assert.deepEqual(new Set(below), new Set(findings));
      assert.equal(new Set(nodes.map(({ id }) => id)).size, nodes.length);
      for (const node of nodes) assert.ok(outline.children(node.parent).includes(node));
    }),
  );
});

test('nodes outlive a reset, with what is below them now', () => {
  const outline = outlineOf(some);
  const before = allNodes(outline);
  const moved = some.map((shown) => ({ ...shown, triage: { ...shown.triage, state: 'confirmed' as const } }));
  outline.reset(toGroups(moved.slice(1), 'severity'));
  const after = allNodes(outline);
  assert.ok(after.length < before.length && after.every((node) => before.includes(node)));
  for (const node of after) if (node.kind === 'finding') assert.equal(node.shown.triage.state, 'confirmed');
});

test('a change in one file draws only the nodes of that file again', () => {
  const outline = outlineOf(some);
  const nodes = allNodes(outline);
  const [place] = some[0]?.places ?? [];
  assert.ok(place && some[0]);
  const moved = { ...some[0], places: [{ ...place, startLine: 54 }] };
  const redrawn = outline.update(toGroups([moved, ...some.slice(1)], 'severity'), a);
  assert.deepEqual(
    redrawn?.map(({ id }) => id),
    ['/severity:high/file:/home/dev/shop/a.js', '/severity:low/file:/home/dev/shop/a.js'],
  );
  assert.ok(redrawn.every((node) => nodes.includes(node)));
  assert.ok(allNodes(outline).some((node) => node.kind === 'finding' && node.shown === moved));
});

test('a file whose findings no longer pass takes its heading along, and the rest of the tree stays', () => {
  const outline = outlineOf(some);
  allNodes(outline);
  const redrawn = outline.update(toGroups(some.slice(1), 'severity'), a);
  assert.deepEqual(
    redrawn?.map(({ id }) => id),
    ['/severity:high', '/severity:low/file:/home/dev/shop/a.js'],
  );
  assert.equal(allNodes(outline).filter(({ kind }) => kind === 'finding').length, 2);
});

test('a heading that comes or goes draws the whole tree again', () => {
  const outline = outlineOf(some);
  allNodes(outline);
  assert.equal(outline.update(toGroups(some.slice(0, 2), 'severity'), a), undefined);
  assert.equal(outline.children().length, 1);
});

test('files that are headings themselves are drawn again alone', () => {
  const outline = outlineOf(some, 'file');
  allNodes(outline);
  const redrawn = outline.update(
    toGroups([...some.slice(0, 2), { ...(some[2] as ShownFinding) }], 'file'),
    a,
  );
  assert.deepEqual(
    redrawn?.map(({ id }) => id),
    ['/file:/home/dev/shop/a.js'],
  );
});

test('more children than help anybody are counted instead of shown', () => {
  const outline = outlineOf(
    Array.from({ length: MAX_CHILDREN + 5 }, (_, index) =>
      invent({ index, at: { path: `f${String(index)}.js` } }),
    ),
  );
  const files = outline.children(outline.children()[0]);
  const last = files.at(-1);
  assert.equal(files.length, MAX_CHILDREN + 1);
  assert.equal(last?.kind === 'more' && last.count, 5);
});
