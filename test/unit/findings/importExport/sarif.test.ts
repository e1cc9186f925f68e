import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Invocation, Location, Log, Result } from 'sarif';
import type { DetailedRun } from '../../../../src/core/findings/shownFinding.ts';
import { parseFindings } from '../../../../src/core/findings/parse/parseFindings.ts';
import { toSarif } from '../../../../src/core/findings/importExport/sarif/sarif.ts';
import type { Verdict } from '../../../../src/core/findings/result/result.ts';
import type { Run } from '../../../../src/core/run/state/run.ts';
import { shopRun, sourceOf, tool, written } from './exportingFindings.ts';

const lines = { start_line: 12, end_line: 13, start_column: 5, end_column: 9 };
const injection = {
  id: 'F-1',
  title: 'SQL injection',
  severity: 'high',
  description: 'The query is put together from input: see [the guide](https://evil.example).',
  recommendation: 'Use parameters.',
  cwe: 'CWE-89',
  cvss: { score: 8.6, vector: 'CVSS:3.1/AV:N' },
  locations: [{ path: 'src/注文/一覧 表.ts', ...lines, snippet: 'query(`…`)' }],
  source: { path: 'src/server.js', line: 3, label: 'input' },
  sink: { path: 'src/db.js', line: 7 },
  related_locations: [{ path: 'src/db.js', line: 1, label: 'see [the pool](https://evil.example)' }],
};
const weak = { id: 'F-2', title: 'Weak hash', severity: 'low', cwe: [328, 916], file: 'src/a.js', line: 4 };
const live = { feature_name: 'Search', perspective: 'XSS', method: 'GET', url: 'https://shop.example/s' };

function logOf(source: DetailedRun): Log {
  return written(toSarif(source, new Map(), tool));
}
function resultsOf(source: DetailedRun): Result[] {
  return logOf(source).runs[0]?.results ?? [];
}
const uriOf = (location: Location | undefined): unknown => location?.physicalLocation?.artifactLocation?.uri;
function invocationOf(source: DetailedRun): Invocation {
  return logOf(source).runs[0]!.invocations![0]!;
}

describe('SARIF', () => {
  test('has location, data flow and description of each result', () => {
    const [result] = resultsOf(sourceOf([injection]));
    const snippet = { text: 'query(`…`)' };
    const region = { startLine: 12, endLine: 13, startColumn: 5, endColumn: 9, snippet };
    const artifactLocation = { uri: 'src/%E6%B3%A8%E6%96%87/%E4%B8%80%E8%A6%A7%20%E8%A1%A8.ts' };
    assert.deepEqual(result?.locations, [{ physicalLocation: { artifactLocation, region } }]);
    const steps = result.codeFlows?.[0]?.threadFlows[0]?.locations ?? [];
    const kinds = steps.map((step) => `${String(step.kinds?.[0])} ${String(uriOf(step.location))}`);
    assert.deepEqual(kinds, ['source src/server.js', 'sink src/db.js']);
    assert.equal(result.relatedLocations?.[0]?.message?.text, 'see [the pool]\\(https://evil.example)');
    assert.deepEqual([result.level, result.properties?.['security-severity']], ['error', '8.6']);
    assert.match(result.message.text ?? '', /^SQL injection\.\n\n(?!.*\]\()/);
    assert.equal(typeof result.partialFingerprints?.['whiteboxFinding/v1'], 'string');
  });

  test('of a live finding has its request and no file', () => {
    const [result] = resultsOf(sourceOf([{ title: 'Reflected', ...live }]));
    assert.deepEqual(result?.webRequest, { method: 'GET', target: 'https://shop.example/s' });
    assert.deepEqual(result.locations, []);
  });

  for (const [more, ...expected] of [
    [{ cvss: 9.9 }, undefined, 'note', '2.0'],
    [{ cvss: 3.9 }, undefined, 'note', '3.9'],
    [{ severity: 'none' }, 'informational', 'none', '0.0'],
    [{ severity: 'odd' }, undefined, 'warning', undefined],
  ] as const)
    test(`has a level and a score that agree with the severity: ${JSON.stringify(more)}`, () => {
      const [result] = resultsOf(sourceOf([{ ...weak, ...more }]));
      assert.deepEqual([result?.kind, result?.level, result?.properties?.['security-severity']], expected);
    });

  test('prefixes paths with their folder if there are several, also for runs with another folder order', () => {
    const targets = ['shop', 'tool'].map((name) => ({ folder: `/home/${name}`, name }));
    const items = ['a.js', 'b.js', 'c.js'].map((file) => ({ ...weak, file }));
    const shown = sourceOf(items).shown;
    const [one, other] = shown.flatMap(({ finding }) => finding.locations);
    const assessed = new Map([
      [one!, { folder: '/home/shop', path: 'a/b.js' }],
      [other!, { folder: '/home/tool', path: 'b.js' }],
    ]);
    const [log] = toSarif({ run: { ...shopRun, targets }, shown }, assessed, tool).runs;
    const uris = log?.results?.map(({ locations = [] }) => uriOf(locations[0]));
    assert.deepEqual(uris, ['shop/a/b.js', 'tool/b.js', 'c.js']);
  });

  test('says new, unchanged or absent for every result if there is a baseline', () => {
    const withVerdict = (item: object, verdict?: Verdict) =>
      sourceOf([item]).shown.map((each) => ({ ...each, verdict }));
    const shown = [...withVerdict(injection, 'foundAgain'), ...withVerdict(weak, 'stillPresent')];
    const compared = { run: shopRun, shown, absent: withVerdict({ ...weak, title: 'Gone' }, 'codeChanged') };
    const statesOf = (source: DetailedRun) => resultsOf(source).map(({ baselineState }) => baselineState);
    assert.deepEqual(statesOf(compared), ['new', 'unchanged', 'absent']);
    assert.deepEqual(
      resultsOf(compared).map(({ properties }) => (properties?.['whitebox'] as { verdict: string }).verdict),
      ['foundAgain', 'stillPresent', 'codeChanged'],
    );
    assert.deepEqual(statesOf({ ...compared, shown: withVerdict(weak) }), [undefined, undefined]);
    const { findings } = parseFindings(JSON.stringify(logOf(compared)));
    const titles = findings.map(({ title }) => title);
    assert.deepEqual(titles, ['SQL injection', 'Weak hash'], 'absent is not there');
  });

  test('suppresses false positives and accepted risks with their reason, and nothing else', () => {
    const states = ['falsePositive', 'acceptedRisk', 'confirmed', 'fixed'] as const;
    const source = sourceOf(
      states.map((state) => ({ ...weak, title: state })),
      (index) => ({ state: states[index] ?? 'open', note: 'seen in review', at: 5 }),
    );
    const suppression = [{ kind: 'external', status: 'accepted', justification: 'seen in review' }];
    const suppressed = resultsOf(source).map(({ suppressions }) => suppressions);
    assert.deepEqual(suppressed, [suppression, suppression, [], []]);
  });

  test('has one text for each rule, named by rule, weakness or perspective', () => {
    const rulesOf = (items: readonly object[]) => logOf(sourceOf(items)).runs[0]?.tool.driver.rules ?? [];
    const worded = ['SQL injection', 'Injection of SQL'].map((title) => rulesOf([{ ...injection, title }]));
    assert.deepEqual(worded[0], worded[1]);
    const kinds = [{ rule_id: 'js/sqli', cwe: 89 }, { cwe: 89 }, live, {}];
    assert.deepEqual(
      rulesOf(kinds.map((kind) => ({ title: 'Injection', ...kind }))).map(({ id }) => id),
      ['js/sqli', 'CWE-89', 'XSS', 'unclassified'],
    );
  });

  test('is imported again as it was exported', () => {
    const wording = { title: 'Use of {0}', description: 'if (a) { b } [x](y)', recommendation: 'None.' };
    const source = sourceOf([{ ...injection, ...wording }]);
    const [finding] = parseFindings(JSON.stringify(logOf(source))).findings;
    const read = [finding?.title, finding?.description, finding?.recommendation, finding?.locations];
    assert.deepEqual(read, [...Object.values(wording), source.shown[0]?.details.locations]);
    assert.ok(resultsOf(source)[0]?.message.text?.startsWith('Use of {{0}}.'), 'no placeholder');
  });

  test('contains tool, run and commit, and nothing of the service or machine', () => {
    const decided = { state: 'confirmed', note: '', at: 1, from: 'canary.json', onlyIn: 'canary' } as const;
    const log = logOf(sourceOf([injection], () => decided));
    const { name, semanticVersion } = log.runs[0]!.tool.driver;
    assert.deepEqual({ name, version: semanticVersion }, tool);
    assert.equal(log.runs[0]!.columnKind, 'utf16CodeUnits');
    assert.deepEqual(invocationOf(sourceOf([injection])).properties, {
      runId: 'run-1',
      commits: [{ folder: 'shop', commit: 'c0ffee0123456789', dirty: true }],
    });
    assert.ok(!JSON.stringify(log).includes('canary'));
  });

  test('reports success only for a complete run', () => {
    const source = sourceOf([injection]);
    const succeeded = (state: string): boolean | undefined =>
      invocationOf({ ...source, run: { ...source.run, state } as Run }).executionSuccessful;
    assert.deepEqual(['succeeded', 'aborted', 'cancelled'].map(succeeded), [true, false, false]);
  });

  test('F69 F155 says how many findings were not read, and does not claim that the run found none', () => {
    const invocation = invocationOf({ ...sourceOf([]), cut: { shown: 0, total: 60_000 } });
    assert.doesNotMatch(JSON.stringify(invocation.toolExecutionNotifications), /0 findings/);
    const { findingsHere, findingsInAll } = invocation.properties ?? {};
    assert.deepEqual([findingsHere, findingsInAll], [0, 60_000]);
  });

  test('F155 F167 without results describes the coverage, and warns if it is partial', () => {
    const saidFor = (notPackaged: number, items: readonly object[] = []) => {
      const excluded = { ignored: 1, ignoredButTracked: 1 };
      const coverage = { uploaded: 239, excluded, excludedFolders: 0, notPackaged };
      const targets = [{ folder: '/shop', name: 'shop', coverage }];
      const invocation = invocationOf({ ...sourceOf(items), run: { ...shopRun, targets } });
      assert.deepEqual(invocation.properties?.['coverage'], coverage);
      return (invocation.toolExecutionNotifications ?? []).map(({ level, message }) => [level, message.text]);
    };
    assert.deepEqual(saidFor(0), [['note', '0 findings in 239 uploaded files. 2 files were excluded.']]);
    assert.deepEqual(saidFor(1)[0]?.[0], 'warning');
    assert.deepEqual(saidFor(1, [injection]), []);
  });
});
