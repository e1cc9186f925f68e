import { hash } from 'node:crypto';
import fc from 'fast-check';
import { DRIFTS } from '../../../src/core/findings/view/filter.ts';
import { VERDICTS } from '../../../src/core/findings/result/result.ts';
import { EVIDENCE } from '../../../src/core/findings/location/evidence.ts';
import { type Finding, SEVERITIES } from '../../../src/core/findings/finding.ts';
import { type Named, reportKey } from '../../../src/core/findings/identity.ts';
import type { DetailedFinding, ShownFinding } from '../../../src/core/findings/shownFinding.ts';
import { TRIAGE_STATES } from '../../../src/core/findings/triage/triage.ts';
import type { Run } from '../../../src/core/run/state/run.ts';

function toEvidence(kind: (typeof EVIDENCE)[number] | undefined): ShownFinding['evidence'] {
  const path = 'a.js';
  if (kind === undefined) return undefined;
  if (kind === 'quoteNotFound') return [{ kind, path, missing: 'quote' }];
  return [kind === 'unchecked' ? { kind, path, unknown: 'text' } : { kind, path }];
}

const run = { id: 'invented-run', targets: [] } as unknown as Run;

/** Only `text` tells findings apart. */
export function identityFor(text: string, index = 0) {
  const file = hash('sha256', text, 'hex').slice(0, 16);
  const identity: Named = {
    name: reportKey({ file, index }),
    file,
    index,
    fingerprint: text,
    possibleNames: [],
  };
  return { ...identity, ofTarget: '', uploadedPath: '', uploaded: [], quotes: [], statusSince: 0 };
}

/** `at` is the location of the invented finding, if any. */
export interface Invented extends Partial<Finding> {
  readonly at?:
    { readonly path: string; readonly line?: number; readonly drift?: (typeof DRIFTS)[number] } | undefined;
  readonly state?: (typeof TRIAGE_STATES)[number];
  readonly verdict?: ShownFinding['verdict'];
  readonly evidence?: ShownFinding['evidence'];
  readonly owners?: ShownFinding['owners'];
}

const title = 'Invented finding';
const usual = {
  index: 0,
  id: 'WB-1',
  title,
  severity: 'high',
  summary: '',
  locations: [],
  cwes: [],
} as const;

/** The editor would show the finding like this, in the folder `/home/dev/shop`. */
export function invent(invented: Invented = {}): DetailedFinding {
  const { at, state = 'open', verdict, evidence, owners, ...finding } = invented;
  const { drift = 'same' } = at ?? {};
  const folder = '/home/dev/shop';
  const location = at && {
    path: at.path,
    startLine: at.line,
    reported: { path: at.path },
    target: 0,
    folder,
  };
  return {
    run,
    finding: { ...usual, ...finding },
    locations:
      location === undefined || drift === 'none'
        ? []
        : [{ ...location, file: `${folder}/${location.path}`, drift }],
    details: { description: '', recommendation: '', blocks: [], locations: [] },
    uploadedFolder: undefined,
    ...identityFor('invented', finding.index),
    fingerprint: String(finding.index ?? 0),
    triage: { state, note: '', at: 0 },
    verdict,
    evidence,
    owners,
  };
}

export const inventedFindings: fc.Arbitrary<DetailedFinding[]> = fc
  .array(
    fc.record({
      title: fc.constantFrom('SQL from a request', 'ＳＱＬ インジェクション', 'Weak hash'),
      severity: fc.constantFrom(...SEVERITIES),
      cwes: fc.subarray([79, 89, 328]),
      feature: fc.constantFrom('Search', 'Log in', undefined),
      perspective: fc.constantFrom('XSS', 'Injection', undefined),
      state: fc.constantFrom(...TRIAGE_STATES),
      verdict: fc.constantFrom(...VERDICTS, undefined),
      evidence: fc.constantFrom(...EVIDENCE, undefined).map(toEvidence),
      owners: fc.option(fc.subarray(['@ana', '@shop/web']), { nil: undefined }),
      at: fc.option(
        fc.record({
          path: fc.constantFrom('a.js', 'src/a.js', 'src/deep/b.js', 'tools/c.py'),
          line: fc.integer({ min: 1, max: 9 }),
          drift: fc.constantFrom(...DRIFTS),
        }),
        { nil: undefined },
      ),
    }),
    { maxLength: 40 },
  )
  .map((all) => all.map((each, index) => invent({ ...each, index })));
