import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  type Group,
  type Grouping,
  GROUPINGS,
  inReadingOrder,
  toGroups,
  toVerdictGroups,
} from '../../../../src/core/findings/view/groups.ts';
import { pathKey } from '../../../../src/core/paths.ts';
import { VERDICTS } from '../../../../src/core/findings/result/result.ts';
import { invent, inventedFindings, type Invented } from '../shownFindings.ts';

/** Of each group, what its findings share, and their indexes. */
function summaryOf(groups: readonly Group[]): string {
  const toText = ({ topic, shown }: Group): string =>
    `${String(topic.value ?? 'none')}: ${shown.map(({ finding }) => finding.index).join(' ')}`;
  return groups.map(toText).join(', ');
}

test('every grouping puts every finding into exactly one group, in the original order', () => {
  fc.assert(
    fc.property(inventedFindings, fc.constantFrom(...GROUPINGS), (findings, grouping) => {
      const groups = toGroups(findings, grouping);
      const grouped = groups.flatMap(({ shown }) => shown);
      assert.equal(grouped.length, findings.length);
      assert.deepEqual(new Set(grouped), new Set(findings));
      assert.equal(new Set(groups.map(({ topic }) => `${topic.kind} ${topic.value}`)).size, groups.length);
      for (const { shown } of groups) {
        const indexes = shown.map(({ finding }) => finding.index);
        assert.deepEqual(
          indexes,
          indexes.toSorted((one, other) => one - other),
        );
      }
    }),
  );
});

const findings: readonly Invented[] = [
  { severity: 'low', at: { path: 'src/b.js' }, cwes: [328] },
  { severity: 'unrated', feature: 'Search', owners: ['@shop/web', '@ana'] },
  { severity: 'critical', cwes: [89, 79], state: 'fixed' },
  { severity: 'low', at: { path: 'a.js' }, cwes: [79], feature: 'Log in', owners: ['@ana'] },
  { severity: 'low', verdict: 'sameBytes' },
  { severity: 'low', at: { path: 'src/a.js' }, verdict: 'new' },
  { severity: 'low', verdict: 'codeChanged' },
];
for (const [grouping, order, groups] of [
  ['severity', 'the worst first', 'critical: 2, low: 0 3 5, unrated: 1'],
  ['cwe', 'by the first number, those without one last', '79: 3, 89: 2, 328: 0, none: 1 5'],
  ['triage', 'by state', 'open: 0 1 3 5, fixed: 2'],
  ['owner', 'by name', '@ana: 3, @shop/web @ana: 1, none: 0 2 5'],
  ['feature', 'by name', 'Log in: 3, Search: 1, none: 0 2 5'],
  [
    'file',
    'by path, then by feature, then the rest',
    'a.js: 3, src/a.js: 5, src/b.js: 0, Search: 1, none: 2',
  ],
] satisfies readonly [Grouping, string, string][])
  test(`groups by ${grouping} come ${order}, and what is not reported last, by verdict`, () => {
    const shown = findings.map((each, index) => invent({ ...each, index }));
    const summary = summaryOf(toGroups(shown, grouping)).replaceAll(pathKey('/home/dev/shop/'), '');
    assert.equal(summary.replaceAll('\\', '/'), `${groups}, codeChanged: 6, sameBytes: 4`);
  });

test('a comparison has every finding once, by verdict, those without one last', () => {
  const all = [undefined, ...VERDICTS].map((verdict, index) => invent({ index, verdict }));
  const verdicts = VERDICTS.map((verdict, at) => `${verdict}: ${String(at + 1)}`);
  assert.equal(summaryOf(toVerdictGroups(all)), [...verdicts, 'none: 0'].join(', '));
});

test('within a file the worst findings come first, then by line', () => {
  const all = [
    invent({ index: 0, severity: 'low', at: { path: 'a.js', line: 1 } }),
    invent({ index: 1, severity: 'high', at: { path: 'a.js', line: 9 } }),
    invent({ index: 2, severity: 'high', at: { path: 'a.js', line: 3 } }),
  ];
  assert.deepEqual(
    inReadingOrder(all).map(({ finding }) => finding.index),
    [2, 1, 0],
  );
});
