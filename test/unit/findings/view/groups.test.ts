import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  GROUPINGS,
  inReadingOrder,
  toVerdictGroups,
  toGroups,
} from '../../../../src/core/findings/view/groups.ts';
import { VERDICTS } from '../../../../src/core/findings/result/result.ts';
import { invent, inventedFindings } from '../shownFindings.ts';

test('every grouping puts every finding into exactly one group, in the original order', () => {
  fc.assert(
    fc.property(inventedFindings, fc.constantFrom(...GROUPINGS), (findings, grouping) => {
      const groups = toGroups(findings, grouping);
      const grouped = groups.flatMap(({ shown }) => shown);
      assert.equal(grouped.length, findings.length);
      assert.deepEqual(new Set(grouped), new Set(findings));
      assert.equal(new Set(groups.map(({ topic }) => topic.key)).size, groups.length);
      for (const { shown } of groups) {
        const indexes = shown.map(({ finding }) => finding.index);
        assert.ok(indexes.length > 0);
        assert.deepEqual(
          indexes,
          [...indexes].sort((one, other) => one - other),
        );
      }
    }),
  );
});

test('severities come worst first', () => {
  const findings = (['low', 'critical', 'unrated', 'low'] as const).map((severity) => invent({ severity }));
  const groups = toGroups(findings, 'severity').map(({ topic, shown }) => [topic.key, shown.length]);
  assert.deepEqual(groups, [
    ['critical', 1],
    ['low', 2],
    ['unrated', 1],
  ]);
});

test('a finding with several CWEs is in the group of its first, and those without any come last', () => {
  const findings = [[], [328], [89, 79], [79]].map((cwes, index) => invent({ index, cwes }));
  const groups = toGroups(findings, 'cwe').map(({ topic, shown }) => [topic.key, shown[0]?.finding.index]);
  assert.deepEqual(groups, [
    ['79', 3],
    ['89', 2],
    ['328', 1],
    ['undefined', 0],
  ]);
});

test('a comparison has every finding once, by verdict, those without one last', () => {
  fc.assert(
    fc.property(inventedFindings, (found) => {
      const groups = toVerdictGroups(found);
      const order: readonly unknown[] = [...VERDICTS, undefined];
      const verdicts = order.filter((each) => found.some(({ verdict }) => verdict === each));
      assert.deepEqual(
        groups.map(({ topic }) => topic.kind === 'verdict' && topic.verdict),
        verdicts,
      );
      for (const { topic, shown } of groups)
        assert.deepEqual(
          shown,
          found.filter(({ verdict }) => String(verdict) === topic.key),
        );
    }),
  );
});

test('findings that are no longer reported come last, by verdict, in any grouping', () => {
  const found = [
    invent({ index: 0, verdict: 'sameBytes', severity: 'critical' }),
    invent({ index: 1, verdict: 'new', severity: 'low' }),
    invent({ index: 2, verdict: 'codeChanged' }),
  ];
  for (const grouping of GROUPINGS) {
    const shown = toGroups(found, grouping).flatMap((group) => group.shown);
    assert.deepEqual(
      shown.map(({ finding }) => finding.index),
      [1, 2, 0],
    );
  }
});

test('files are sorted by path, and findings without a place come last', () => {
  const findings = ['src/b.js', undefined, 'a.js', 'src/a.js'].map((path, index) =>
    invent({ index, at: path === undefined ? undefined : { path } }),
  );
  assert.deepEqual(
    toGroups(findings, 'file').map(({ topic }) => topic.key),
    ['/home/dev/shop/a.js', '/home/dev/shop/src/a.js', '/home/dev/shop/src/b.js', ''],
  );
});

test('live findings are grouped by feature where others are grouped by file', () => {
  const findings = [
    invent({ index: 0 }),
    invent({ index: 1, feature: 'Search', url: 'https://shop.example/search' }),
    invent({ index: 2, at: { path: 'a.js' } }),
    invent({ index: 3, feature: 'Log in' }),
  ];
  const keys = (grouping: 'file' | 'feature') =>
    toGroups(findings, grouping).map(({ topic, shown }) => [topic.kind, topic.key, shown.length]);
  assert.deepEqual(keys('file'), [
    ['file', '/home/dev/shop/a.js', 1],
    ['feature', 'Log in', 1],
    ['feature', 'Search', 1],
    ['file', '', 1],
  ]);
  assert.deepEqual(keys('feature'), [
    ['feature', 'Log in', 1],
    ['feature', 'Search', 1],
    ['feature', '', 2],
  ]);
});

test('within a file the worst findings come first, then by line', () => {
  const findings = [
    invent({ index: 0, severity: 'low', at: { path: 'a.js', line: 1 } }),
    invent({ index: 1, severity: 'high', at: { path: 'a.js', line: 9 } }),
    invent({ index: 2, severity: 'high', at: { path: 'a.js', line: 3 } }),
  ];
  assert.deepEqual(
    inReadingOrder(findings).map(({ finding }) => finding.index),
    [2, 1, 0],
  );
});
