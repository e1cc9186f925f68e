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
import { ACCEPTANCE_ENDS } from '../../../../src/core/findings/triage/currentDecision.ts';
import { TRIAGE_STATES } from '../../../../src/core/findings/triage/triage.ts';
import { invent, inventedFindings, type Invented } from '../shownFindings.ts';

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

test('a filter keeps exactly the findings that satisfy each of its parts, and all if none is active', () => {
  fc.assert(
    fc.property(filters, inventedFindings, (filter, findings) => {
      const byParts = Object.entries(filter).reduce(
        (left, [part, value]) => left.filter(toPredicate({ [part]: value })),
        findings,
      );
      assert.deepEqual(findings.filter(toPredicate(filter)), byParts);
      if (activeParts(filter).length === 0) assert.deepEqual(byParts, findings);
    }),
  );
});

const described: Invented = {
  title: 'SQL from a request',
  summary: 'An attacker reads the orders.',
  id: 'WB-77',
  cwes: [89],
  feature: 'Order history',
  url: 'https://shop.example/history?page=2',
  at: { path: 'src/orders.js' },
};
const japanese = { title: 'ＳＱＬ　インジェクション', summary: 'ﾊﾟｽﾜｰﾄﾞが平文で保存されています。' };
const [inFolder, besideFolder] = [{ at: { path: 'src/deep/b.js' } }, { at: { path: 'src2/a.js' } }];
const folders = ['/home/dev/shop/src/'];
for (const [what, finding, kept, left] of [
  [
    'text is searched in title, summary, path, CWE, ID, feature and URL',
    described,
    ['sql', 'ATTACKER', 'wb-77', 'cwe-89', 'request attacker', 'orders.js 89', 'order history', 'shop.exam'],
    ['sqli', 'cwe-79', 'sql missing', 'requestAn', 'lost'],
  ],
  [
    'a path that is no local file is searched',
    { locations: [{ path: 'lost/file.js' }] },
    ['lost/'],
    ['found/'],
  ],
  [
    'Japanese text is found in any character width',
    japanese,
    ['sql', 'ＳＱＬ', 'ｲﾝｼﾞｪｸｼｮﾝ', 'インジェクション', 'パスワード', 'ＳＱＬ　平文'],
    ['パスワート'],
  ],
  ['a folder keeps what is inside', inFolder, [{ folders }], [{ folders: [''] }]],
  ['a folder does not keep names that start alike', besideFolder, [{}], [{ folders }]],
  ['findings without a place are in no folder', {}, [{ folders: [''] }], [{ folders }]],
] satisfies readonly [string, Invented, readonly (string | Filter)[], readonly (string | Filter)[]][])
  test(what, () => {
    const passes = (filter: string | Filter): boolean =>
      toPredicate(typeof filter === 'string' ? { text: filter } : filter)(invent(finding));
    const lost = kept.filter((filter) => !passes(filter));
    assert.deepEqual(lost, []);
    assert.deepEqual(left.filter(passes), []);
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
