import fc from 'fast-check';
import type { Log } from 'sarif';
import { type ReportedFinding, splitReported } from '../../../../src/core/findings/finding.ts';
import {
  type DetailedFinding,
  type DetailedRun,
  localLocationOf,
} from '../../../../src/core/findings/shownFinding.ts';
import type { FindingWords } from '../../../../src/core/findings/view/findingMarkdown.ts';
import { fingerprintOf } from '../../../../src/core/findings/identity.ts';
import { parseFindings } from '../../../../src/core/findings/parse/parseFindings.ts';
import {
  type TriageDecision,
  TRIAGE_STATES,
  undecided,
} from '../../../../src/core/findings/triage/triage.ts';
import { identityFor } from '../shownFindings.ts';
import type { Run, RunIn } from '../../../../src/core/run/state/run.ts';

export const tool = { name: 'Whitebox Assessment', version: '1.2.3' };

export const shopRun: RunIn<'succeeded'> = {
  version: 1,
  state: 'succeeded',
  id: '20300101000000-0badcafe',
  workflow: 'whitebox-assessment',
  baseUrl: 'https://canary-address.example/v1',
  organizationId: 'canary-organization',
  language: 'japanese',
  webhookEndpointIds: ['canary-webhook'],
  targets: [
    { folder: '/home/canary-somebody/shop', name: 'shop', commit: { id: 'c0ffee0123456789', dirty: true } },
  ],
  createdAt: 1,
  noticeDue: false,
  runId: 'run-1',
  dispatchedAt: 1_893_456_000_000,
  exit: { kind: 'SUCCESS', artifacts: ['findings', 'report'] },
  exitedAt: 1_893_460_000_000,
  endedAt: 1_893_460_000_000,
  artifacts: [{ name: 'findings', file: 'findings.json' }],
};

/** The store shows findings like this, without local files. */
export function shownOf(
  findings: readonly ReportedFinding[],
  triage: (index: number) => TriageDecision = () => undecided,
  run: Run = shopRun,
): DetailedFinding[] {
  return findings.map((finding, index) => ({
    run,
    ...splitReported(finding),
    locations: [],
    uploadedFolder: run.targets[0]?.folder,
    ...identityFor(run.id, index),
    fingerprint: fingerprintOf(finding, { path: finding.locations[0]?.path ?? '' }),
    triage: triage(index),
  }));
}

/** The words are English, as `findingMarkdown` needs them. */
export const words: FindingWords = {
  severity: 'Severity',
  location: 'Place',
  feature: 'Feature',
  perspective: 'Perspective',
  otherLocations: 'Other locations',
  triage: 'Triage',
  owner: 'Owner',
  description: 'Description',
  severityOf: (severity) => severity,
  triageOf: ({ state }) => state,
  standingOf: (shown) => [
    ['Since', localLocationOf(shown.finding.locations[0], shown)?.drift.replace(/^same$/, '') || undefined],
    ['Compared', shown.verdict && `*${shown.verdict}*`],
    ['Quote', shown.evidence && JSON.stringify(shown.evidence)],
  ],
  blockOf: (kind) => kind,
};

/** A file has no undefined members. */
export function written(log: Log): Log {
  return JSON.parse(JSON.stringify(log)) as Log;
}

export function sourceOf(items: unknown, triage?: (index: number) => TriageDecision): DetailedRun {
  const { findings } = parseFindings(JSON.stringify(items));
  return { run: shopRun, shown: shownOf(findings, triage) };
}

const text = fc.oneof(
  fc.string({ maxLength: 40 }),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.constantFrom(
    ...['=cmd|x', "'=1", '＝1', 'SQL インジェクション', '[x](https://evil.example)', 'a\n\nb'],
    ...['"q",\r\n', '\u202Eevil', '__proto__'],
  ),
);
const path = fc.constantFrom(
  ...['src/app.js', 'src/注文 管理/ページ#1.ts', './lib/a b%20c.py', '/src/app.js', 'C:\\projects\\a.cs'],
  ...['../outside.js', 'a?b.js'],
);
const line = fc.option(fc.integer({ min: 1, max: 9_999 }), { nil: undefined });
const location = fc.record(
  {
    path,
    start_line: line,
    end_line: line,
    start_column: line,
    end_column: line,
    snippet: text,
    label: text,
    target_index: fc.constantFrom(0, 1),
  },
  { requiredKeys: ['path'] },
);
const locations = fc.array(location, { maxLength: 3 });

const proseNames = [
  ...['title', 'description', 'summary', 'details', 'explanation', 'impact', 'exploit_scenario'],
  ...['evidence', 'recommendation', 'mitigation', 'feature_name'],
];

export const anyItem = fc.record(
  {
    ...Object.fromEntries(proseNames.map((name) => [name, text])),
    id: fc.oneof(fc.nat(), text),
    severity: fc.oneof(
      text,
      fc.constantFrom('critical', 'High', '中', 'none', 'unheard of', '8.1', 3, 9.123),
    ),
    priority: fc.oneof(fc.nat({ max: 12 }), fc.constantFrom('P1', '1', 'high')),
    extra: fc.record({ message: text, metadata: fc.record({ impact: text }) }, { requiredKeys: [] }),
    reproduction_steps: fc.array(text, { maxLength: 3 }),
    locations: locations,
    source: location,
    sink: location,
    trace: locations,
    related_locations: locations,
    cwe: fc.constantFrom(89, 'CWE-79', ['CWE-22', 'CWE-23: x'], 'none'),
    perspective: fc.constantFrom('XSS', 'BusinessLogic'),
    method: fc.constantFrom('GET', 'POST'),
    url: fc.constantFrom('https://shop.example/search?q=注文', '/cart', 'javascript:alert(1)'),
    cvss: fc.constantFrom(9.8, '5.0', { score: 7.5, vector: 'CVSS:3.1/AV:N/AC:L' }, 'high'),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<Record<string, unknown>>;

/** Most of them look like findings, or the file would be refused. */
export const anyItems = fc
  .array(anyItem, { maxLength: 5 })
  .map((items) => items.map((item, at) => (at % 3 === 2 ? item : { ...item, title: 'A', cwe: 89 })));

export const anyTriage: fc.Arbitrary<TriageDecision> = fc.record({
  state: fc.constantFrom(...TRIAGE_STATES),
  note: fc.string({ maxLength: 30 }),
  at: fc.nat(),
});
