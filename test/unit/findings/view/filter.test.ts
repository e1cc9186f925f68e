import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  activeParts,
  DRIFTS,
  EVIDENCE_FILTERS,
  type Filter,
  filterSchema,
  toPredicate,
  valuesOf,
} from '../../../../src/core/findings/view/filter.ts';
import { VERDICTS } from '../../../../src/core/findings/result/result.ts';
import { SEVERITIES } from '../../../../src/core/findings/finding.ts';
import { ACCEPTANCE_ENDS, TRIAGE_STATES } from '../../../../src/core/findings/triage/triage.ts';
import { invent, inventedFindings, type Invented } from '../shownFindings.ts';

function passes(filter: Filter, finding: Invented): boolean {
  return toPredicate(filter)(invent(finding));
}

const parts: { [K in keyof Required<Filter>]: fc.Arbitrary<NonNullable<Filter[K]>> } = {
  severities: fc.subarray([...SEVERITIES]),
  triage: fc.subarray([...TRIAGE_STATES]),
  drift: fc.subarray([...DRIFTS]),
  cwes: fc.subarray([79, 89, null]),
  features: fc.subarray(['Search', 'Log in', null]),
  perspectives: fc.subarray(['XSS', 'Injection', null]),
  folders: fc.subarray(['/home/dev/shop/src/', '/home/dev/shop/tools/', '']),
  verdicts: fc.subarray([...VERDICTS]),
  evidence: fc.subarray([...EVIDENCE_FILTERS]),
  owners: fc.subarray(['@ana', '@shop/web', null]),
  acceptance: fc.subarray([...ACCEPTANCE_ENDS]),
  changedOnBranch: fc.boolean(),
  text: fc.constantFrom('', '  ', 'sql', 'SQL request', 'b.js', 'cwe-89', 'nothing like it'),
};
const filters = fc.record(parts, { requiredKeys: [] }) as fc.Arbitrary<Filter>;

test('a filter keeps exactly the findings that satisfy each of its parts', () => {
  fc.assert(
    fc.property(filters, inventedFindings, (filter, findings) => {
      const byParts = Object.entries(filter).reduce(
        (left, [part, value]) => left.filter(toPredicate({ [part]: value })),
        findings,
      );
      assert.deepEqual(findings.filter(toPredicate(filter)), byParts);
    }),
  );
});

test('an empty filter keeps everything, and a stored filter is equal after loading', () => {
  fc.assert(
    fc.property(filters, inventedFindings, (filter, findings) => {
      const again = filterSchema.parse(JSON.parse(JSON.stringify(filter)));
      assert.deepEqual(findings.filter(toPredicate(again)), findings.filter(toPredicate(filter)));
      if (activeParts(filter).length === 0)
        assert.equal(findings.filter(toPredicate(filter)).length, findings.length);
    }),
  );
});

test('text is searched in title, summary, path, CWE, ID, feature and URL', () => {
  const finding = {
    title: 'SQL from a request',
    summary: 'An attacker reads the orders.',
    id: 'WB-77',
    cwes: [89],
    feature: 'Order history',
    url: 'https://shop.example/history?page=2',
    at: { path: 'src/orders.js' },
  };
  for (const text of [
    'sql',
    'ATTACKER',
    'wb-77',
    'cwe-89',
    'src/orders',
    'request attacker',
    'orders.js 89',
    'order history',
    'shop.example/history',
  ]) {
    assert.ok(passes({ text }, finding), text);
  }
  for (const text of ['sqli', 'cwe-79', 'sql missing', 'requestAn'])
    assert.ok(!passes({ text }, finding), text);
});

test('a path that is not a local file is found, too', () => {
  const shown = invent({});
  const unplaced = { ...shown, finding: { ...shown.finding, places: [{ path: 'lost/file.js' }] } };
  assert.ok(toPredicate({ text: 'lost/' })(unplaced));
});

test('Japanese text is found in any character width', () => {
  const finding = { title: 'ＳＱＬ　インジェクション', summary: 'ﾊﾟｽﾜｰﾄﾞが平文で保存されています。' };
  for (const text of ['sql', 'ＳＱＬ', 'ｲﾝｼﾞｪｸｼｮﾝ', 'インジェクション', 'パスワード', 'ＳＱＬ　平文'])
    assert.ok(passes({ text }, finding), text);
  assert.ok(!passes({ text: 'パスワート' }, finding));
});

test('a folder keeps what is inside, not names that start alike', () => {
  const folders = ['/home/dev/shop/src/'];
  assert.ok(passes({ folders }, { at: { path: 'src/a.js' } }));
  assert.ok(passes({ folders }, { at: { path: 'src/deep/b.js' } }));
  assert.ok(!passes({ folders }, { at: { path: 'src2/a.js' } }));
  assert.ok(!passes({ folders }, {}));
  assert.ok(passes({ folders: [''] }, {}));
});

test('the folders of a finding lead from its own up to the assessed one', () => {
  assert.deepEqual(valuesOf.folders(invent({ at: { path: 'src/deep/b.js' } })), [
    '/home/dev/shop/src/deep/',
    '/home/dev/shop/src/',
    '/home/dev/shop/',
  ]);
  assert.deepEqual(valuesOf.folders(invent({ at: { path: 'a.js' } })), ['/home/dev/shop/']);
  assert.deepEqual(valuesOf.folders(invent({})), ['']);
});

test('a stored filter in another form is refused', () => {
  for (const kept of [{ severities: ['worst'] }, { text: 7 }, { cwes: ['89'] }, []])
    assert.equal(filterSchema.safeParse(kept).success, false);
});
