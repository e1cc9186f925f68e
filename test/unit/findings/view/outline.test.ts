import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ShownFinding } from '../../../../src/core/findings/shownFinding.ts';
import { isReported, VERDICTS } from '../../../../src/core/findings/result/result.ts';
import {
  childNodes,
  type Grouping,
  GROUPINGS,
  maxChildren,
  type OutlineNode,
  rootNodes,
} from '../../../../src/core/findings/view/outline.ts';
import { pathKey } from '../../../../src/core/paths.ts';
import { invent, inventedFindings, type Invented } from '../shownFindings.ts';

function allNodes(findings: readonly ShownFinding[], grouping: Grouping = 'severity'): OutlineNode[] {
  const withChildren = (node: OutlineNode): OutlineNode[] =>
    [node].concat(childNodes(node).flatMap(withChildren));
  return rootNodes(findings, grouping).flatMap(withChildren);
}

/** Lists what the findings of each node share, and their indexes. */
function summaryOf(nodes: readonly OutlineNode[]): string {
  const texts = nodes.map((node) => {
    if (node.kind === 'finding') return String(node.shown.finding.index);
    assert.ok(node.kind === 'group');
    const indexes = node.shown.map(({ finding }) => finding.index).join(' ');
    return `${String(node.topic.value ?? 'none')}: ${indexes}`;
  });
  return texts.join(', ').replaceAll(pathKey('/home/dev/shop/'), '').replaceAll('\\', '/');
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
    locations: shown.locations.map((location) => ({ ...location, startLine: 54 })),
    triage: { ...shown.triage, state: 'confirmed' as const },
  }));
  const before = allNodes(some).map(({ id }) => id);
  const ids = allNodes(changed).map(({ id }) => id);
  assert.deepEqual(ids, before);
});

test('children beyond the limit are counted instead of shown', () => {
  const findings = Array.from({ length: maxChildren + 5 }, (_, index) =>
    invent({ index, at: { path: `f${String(index)}.js` } }),
  );
  const [heading] = rootNodes(findings, 'severity');
  assert.ok(heading);
  const files = childNodes(heading);
  const last = files.at(-1);
  assert.equal(files.length, maxChildren + 1);
  assert.equal(last?.kind === 'more' && last.count, 5);
});

const some: readonly Invented[] = [
  { severity: 'low', at: { path: 'src/b.js' }, cwes: [328] },
  { severity: 'unrated', feature: 'Search', owners: ['@shop/web', '@ana'] },
  { severity: 'critical', cwes: [89, 79], state: 'fixed' },
  { severity: 'low', at: { path: 'a.js' }, cwes: [79], feature: 'Log in', owners: ['@ana'] },
  { severity: 'low', verdict: 'fileUnchanged' },
  { severity: 'low', at: { path: 'src/a.js' }, verdict: 'new' },
  { severity: 'low', verdict: 'codeChanged' },
];
for (const [grouping, order, groups] of [
  ['severity', 'the worst first', 'critical: 2, low: 0 3 5, unrated: 1'],
  ['cwe', 'by the first number, those without one last', '79: 3, 89: 2, 328: 0, none: 1 5'],
  ['triage', 'by state', 'open: 0 1 3 5, fixed: 2'],
  ['owner', 'by name', '@ana: 3, @shop/web @ana: 1, none: 0 2 5'],
  ['feature', 'by name', 'Log in: 3, Search: 1, none: 0 2 5'],
  ['file', 'by path, by feature, then the rest', 'a.js: 3, src/a.js: 5, src/b.js: 0, Search: 1, none: 2'],
] satisfies readonly [Grouping, string, string][])
  test(`groups by ${grouping} come ${order}, and what is not reported last, by verdict`, () => {
    const shown = some.map((each, index) => invent({ ...each, index }));
    assert.equal(summaryOf(rootNodes(shown, grouping)), `${groups}, codeChanged: 6, fileUnchanged: 4`);
  });

test('a comparison has every finding once, by verdict, the reported ones first', () => {
  const all = [undefined, ...VERDICTS].map((verdict, index) => invent({ index, verdict }));
  const verdicts = VERDICTS.map((verdict, at) => `${verdict}: ${String(at + 1)}`);
  const reported = VERDICTS.filter(isReported).length;
  verdicts.splice(reported, 0, 'none: 0');
  assert.equal(summaryOf(rootNodes(all, 'verdict')), verdicts.join(', '));
});

test('within a file the worst findings come first, then by line', () => {
  const all = [
    invent({ index: 0, severity: 'low', at: { path: 'a.js', line: 1 } }),
    invent({ index: 1, severity: 'high', at: { path: 'a.js', line: 9 } }),
    invent({ index: 2, severity: 'high', at: { path: 'a.js', line: 3 } }),
  ];
  assert.equal(summaryOf(rootNodes(all, 'file').flatMap(childNodes)), '2, 1, 0');
});
