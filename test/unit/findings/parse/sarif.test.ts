import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ReportedFinding } from '../../../../src/core/findings/finding.ts';
import { parseFindings } from '../../../../src/core/findings/parse/parseFindings.ts';
import { cpuMs } from '../../core/cpuTime.ts';

// All logs here are invented. Sections are those of SARIF 2.1.0.

const rated = { id: 'R', properties: { 'security-severity': '9.0' } };

function readLog(log: object): readonly ReportedFinding[] {
  return parseFindings(JSON.stringify({ version: '2.1.0', ...log })).findings;
}

/** Reads the only result of a run. */
function read(result: object, rules: readonly object[] = [], run: object = {}): ReportedFinding | undefined {
  const whole = { tool: { driver: { rules } }, ...run, results: [{ ruleId: 'R', ...result }] };
  return readLog({ runs: [whole] })[0];
}

const at = (artifactLocation: object, region?: object, more?: object) => ({
  ...more,
  physicalLocation: { artifactLocation, region },
});

describe('F173 the severity of a SARIF result', () => {
  for (const [name, result, rules, severity] of [
    ['is that of its rule', {}, [rated], 'critical'],
    ['is the level of its rule', {}, [{ id: 'R', defaultConfiguration: { level: 'note' } }], 'low'],
    ['is a warning without one', {}, [{ id: 'R', defaultConfiguration: { enabled: true } }], 'medium'],
    ['is a warning without a rule', {}, [], 'medium'],
    ['is none for an open question', { kind: 'open' }, [rated], 'none'],
    ['is its level, whatever its kind', { kind: 'informational', level: 'error' }, [], 'high'],
    ['is its property', { level: 'error', properties: { severity: 'CRITICAL' } }, [], 'critical'],
    ['is its level beside an unknown word', { level: 'error', properties: { severity: 'x' } }, [], 'high'],
  ] as const)
    test(name, () => assert.equal(read(result, rules)?.severity, severity));

  test('is what its invocation says instead of the rule', () => {
    const rules = [{ id: 'R', defaultConfiguration: { level: 'error' } }];
    const overriding = (...descriptors: object[]) => ({
      ruleConfigurationOverrides: descriptors.map((descriptor) => {
        return { descriptor, configuration: { level: 'note' } };
      }),
    });
    const [one, other] = [overriding({ index: 0 }), overriding({ id: 'unknown' })];
    for (const [invocations, invocationIndex, severity] of [
      [[one], undefined, 'low'],
      [[other, one], 1, 'low'],
      [[other, one], 0, 'high'],
      [[other, one], undefined, 'high'],
      [[other], undefined, 'high'],
    ] as const)
      assert.equal(read({ provenance: { invocationIndex } }, rules, { invocations })?.severity, severity);
  });
});

test('F173 a SARIF result that passed, or did not apply, is no finding', () => {
  const results = [{ kind: 'pass' }, { kind: 'notApplicable' }, { kind: 'fail', message: { text: 'Flaw.' } }];
  const titles = readLog({ runs: [{ results }] }).map(({ title }) => title);
  assert.deepEqual(titles, ['Flaw.']);
  assert.deepEqual(readLog({ runs: [{ results: results.slice(0, 2) }] }), []);
});

describe('F173 the rule of a SARIF result', () => {
  const rules = Object.entries({ 'A/b': 'Deeper', A: 'First' }).map(([id, name]) => ({ id, name }));
  const extensions = [{ rules: [{ id: 'A', name: 'Of queries' }] }, { rules: [{ id: 'Z', name: 'Other' }] }];
  for (const [name, result, title] of [
    ['by ID', { ruleId: 'A' }, 'First'],
    ['by index', { ruleIndex: 1 }, 'First'],
    ['by the longest known part of a hierarchical ID', { ruleId: 'A/b/c' }, 'Deeper'],
    ['by index, if ID and index agree', { ruleId: 'A/x', ruleIndex: 1 }, 'First'],
    ['by ID, if ID and index disagree', { ruleId: 'A', ruleIndex: 0 }, 'First'],
    ['in an extension', { ruleId: 'Z' }, 'Other'],
    ['by index in one', { ruleId: 'A', rule: { index: 0, toolComponent: { index: 0 } } }, 'Of queries'],
    ['nowhere', { ruleId: 'B/1' }, 'B/1'],
  ] as const)
    test(`is found ${name}`, () => {
      const run = { tool: { driver: { rules }, extensions }, results: [result] };
      assert.equal(readLog({ runs: [run] })[0]?.title, title);
    });
});

describe('F173 the path of a SARIF location', () => {
  const pathOf = (location: object, run: object): string | undefined =>
    read({ locations: [at(location, { startLine: 3 })] }, [], run)?.locations[0]?.path;
  const artifacts = [{ location: { uri: 'a.c' } }, { location: { uri: 'b.c', uriBaseId: 'SRC' } }];
  const nested = { SRC: { uri: 'src/', uriBaseId: 'ROOT' }, ROOT: {} };
  const inSrc = { uri: 'main.c', uriBaseId: 'SRC' };
  const elsewhere = { SRC: { uri: 'src', uriBaseId: 'ROOT' }, ROOT: { uri: 'file:///C:/shop' } };
  const page = { uri: 'https://code.example/shop/blob/main/' };

  for (const [name, location, originalUriBaseIds, path] of [
    ['that of its artifact, found by index', { index: 0 }, {}, 'a.c'],
    ['that of its artifact, below its base', { index: 1 }, nested, 'src/b.c'],
    ['none without an artifact', { index: 7 }, {}, undefined],
    ['as written without a base', inSrc, undefined, 'main.c'],
    ['below a base on another machine', inSrc, elsewhere, 'file:///C:/shop/./src/main.c'],
    ['below a page of the repository', inSrc, { SRC: page }, 'main.c'],
    ['below a folder of that', inSrc, { ...nested, ROOT: page }, 'src/main.c'],
    ['as written below bases in a circle', inSrc, { SRC: { uri: '', uriBaseId: 'SRC' } }, 'main.c'],
    ['as written if it is absolute', { ...inSrc, uri: 'file:///x/a.c' }, nested, 'file:///x/a.c'],
    ['without percent escapes', { uri: 'src/a%20b%E6%B3%A8.c' }, {}, 'src/a b注.c'],
    ['with a percent sign', { uri: 'src/100%.c' }, {}, 'src/100%.c'],
    ['none if the URI is too long', { uri: 'src/%61.c'.repeat(500) }, {}, undefined],
    [
      'none if its base is too long',
      inSrc,
      { ...nested, SRC: { ...nested.SRC, uri: '%61/'.repeat(1_500) } },
      undefined,
    ],
  ] as const)
    test(`is ${name}`, () => assert.equal(pathOf(location, { artifacts, originalUriBaseIds }), path));

  test('is resolved in steps, also of the run, and in related locations, with their messages', () => {
    const location = at({ index: 0 }, { startLine: 1 }, { message: { id: 'step', arguments: ['x'] } });
    const codeFlows = [{ threadFlows: [{ locations: [{ location }, { index: 1 }] }] }];
    const rules = [{ id: 'R', messageStrings: { step: { text: 'through {0}' } } }];
    const threadFlowLocations = [{}, { location: at({ index: 1 }) }];
    const run = { artifacts, threadFlowLocations };
    const found = read({ codeFlows, relatedLocations: [location] }, rules, run);
    const locations = found?.locations.map(
      ({ path, role, label }) => `${path} ${String(role)} ${String(label)}`,
    );
    assert.deepEqual(locations, ['a.c step through x', 'b.c step undefined', 'a.c related through x']);
  });
});

test('F173 a CWE of a SARIF result, or of its rule, is found by its index in a taxonomy', () => {
  const ids = Object.entries({ OWASP: '3', CWE: '89' });
  const taxonomies = ids.map(([name, id]) => ({ name, taxa: [{ id }] }));
  const [owasp, cwe] = [0, 1].map((index) => ({ index: 0, toolComponent: { index } }));
  assert.deepEqual(read({ taxa: [owasp, cwe] }, [], { taxonomies })?.cwes, [89]);
  assert.deepEqual(read({ taxa: [{ id: '20', toolComponent: { name: 'CWE' } }] })?.cwes, [20]);
  const rules = [{ id: 'R', relationships: [{ target: owasp }, { target: cwe }] }];
  assert.deepEqual(read({}, rules, { taxonomies })?.cwes, [89]);
});

test('F173 an artifact on the web is shown as the URL of a live application, and is no file', () => {
  const uri = 'https://shop.example/search';
  const inPage = read({ locations: [at({ uri }, { startLine: 4 })] });
  assert.deepEqual([inPage?.url, inPage?.locations], [uri, []]);
  const found = read({ webRequest: { method: 'POST', target: 'https://shop.example/pay' } });
  assert.deepEqual([found?.method, found?.url], ['POST', 'https://shop.example/pay']);
});

describe('F173 a SARIF message', () => {
  const rules = [{ id: 'R', messageStrings: { m: { text: '{0} reaches {1}, {0}' } } }];
  const tool = { driver: { globalMessageStrings: { m: { text: 'tool', markdown: 'from the *tool*' } } } };
  const location = at({ uri: 'src/in.c' }, { startLine: 25 }, { id: 3 });
  const relatedLocations = [location, at({ uri: 'src/a b.c' }, undefined, { id: 4 })];
  const codeFlows = [{ threadFlows: [{ locations: [{ location }] }] }];

  for (const [name, message, description, more = {}, run = {}] of [
    ['is found by its ID in the rule', { id: 'm', arguments: ['in', 'out'] }, 'in reaches out, in'],
    ['is found in the tool', { id: 'm' }, 'from the *tool*', {}, { tool }],
    ['is its own text before that', { id: 'm', text: 'Own text.' }, 'Own text.'],
    ['is found under no inherited name', { id: 'constructor' }, 'id: constructor'],
    ['has braces where they are doubled', { text: '{{{0}}} {1}', arguments: ['x'] }, '{x} {1}'],
    ['is no template without arguments', { text: 'a {{ x }} {0}' }, 'a {{ x }} {0}'],
    [
      'leads to the places that its links name',
      { text: 'From [here](3), [there\\[0\\]](4), [nowhere](5), [the web](https://x.example).' },
      'From [here](src/in.c:25), [there\\[0\\]](<src/a b.c>), [nowhere](5), [the web](https://x.example).',
      { relatedLocations },
    ],
    ['leads to steps of its flow', { text: 'From [in](3).' }, 'From [in](src/in.c:25).', { codeFlows }],
  ] as const)
    test(name, () => assert.equal(read({ message, ...more }, rules, run)?.description, description));
});

test('F173 the fixes of a SARIF result are its recommendation, with their code', () => {
  const replacements = [{ deletedRegion: { startLine: 4 }, insertedContent: { text: 'run(a, b);' } }];
  const artifactChanges = [{ artifactLocation: { index: 0 }, replacements }];
  const run = { artifacts: [{ location: { uri: 'src/a.js' } }] };
  const found = read({ fixes: [{ description: { text: 'Use parameters.' }, artifactChanges }] }, [], run);
  const code = '` src/a.js:4 `:\n\n```\nrun(a, b);\n```';
  assert.deepEqual([found?.recommendation, found?.blocks], [`Use parameters.\n\n${code}`, []]);
});

describe('F187 what many results of a SARIF log repeat takes little time and memory', () => {
  const location = at({ index: 0 }, { startLine: 3 }, { id: 1 });
  const links = { text: '[a](1)'.repeat(10_900) };
  const replacements = Array.from({ length: 100 }, () => ({}));
  const fixes = [{ artifactChanges: [{ artifactLocation: { index: 0 }, replacements }] }];
  const inBase = at({ uri: 'main.c', uriBaseId: 'SRC' }, { startLine: 3 });
  const bases = Array.from({ length: 50 }, (_, base) => {
    return [`B${String(base)}`, { uri: 'x/'.repeat(2_000), uriBaseId: `B${String(base + 1)}` }] as const;
  });
  const inBases = Array.from({ length: 9_000 }, () => ({ location: { uri: 'a.c', uriBaseId: 'B0' } }));
  const SRC = { uri: `file:///${'x/'.repeat(500_000)}` };
  const run = {
    originalUriBaseIds: { SRC, ...Object.fromEntries(bases) },
    artifacts: [{ location: { uri: 'x/'.repeat(2_000) } }, ...inBases],
  };
  for (const [name, result, length] of [
    ['bases of 1 MB, and of 50 levels', { locations: [inBase] }, 1_000],
    ['links to a long path', { message: links, relatedLocations: [location] }, 60],
    ['fixes of a long path', { fixes }, 1_000],
  ] as const)
    test(name, () => {
      const results = Array.from({ length }, () => ({ message: { text: 'm' }, ...result }));
      const [start, before] = [cpuMs(), process.memoryUsage().heapUsed];
      assert.equal(readLog({ runs: [{ tool: {}, ...run, results }] }).length, length);
      const [tookMs, tookBytes] = [cpuMs() - start, process.memoryUsage().heapUsed - before];
      assert.ok(tookMs < 1_500 && tookBytes < 250e6, `${String(tookMs)} ms, ${String(tookBytes)} bytes`);
    });
});

test('F122 a SARIF text with many placeholders or brackets takes little time and memory', () => {
  const found = read({ message: { text: '{0}'.repeat(20_000), arguments: ['x'.repeat(60_000)] } });
  assert.deepEqual([found?.description.length, found?.shortfall], [65_536, 'clipped']);
  const brackets = `${'['.repeat(100_000)}](1)`;
  assert.equal(read({ message: { text: brackets } })?.description.length, 65_536);
  assert.equal(read({ ruleId: 'a/'.repeat(500_000) })?.severity, 'medium');
});

test('F173 a suppressed SARIF result is an accepted risk, in the tool, unless a suppression does not hold', () => {
  const decisionOf = (suppressions?: readonly object[] | null) => read({ suppressions })?.toolDecision;
  const decision = { state: 'acceptedRisk', note: 'Test data.\nSeen.', at: 0, via: 'tool' };
  const reasons = [{ justification: 'Test data.' }, { status: 'accepted', justification: 'Seen.' }];
  assert.deepEqual(decisionOf(reasons), decision);
  assert.deepEqual(decisionOf([{ kind: 'inSource' }]), { ...decision, note: '' });
  for (const status of ['underReview', 'rejected', 'later'])
    assert.equal(decisionOf([{ kind: 'external' }, { status }]), undefined, status);
  for (const none of [[], null, undefined]) assert.equal(decisionOf(none), undefined);
});

describe('F173 a SARIF log without results', () => {
  const message = { text: 'Out of memory' };
  const failed = { toolExecutionNotifications: [{ level: 'error', message }], executionSuccessful: false };
  const tool = { driver: { name: 'T' } };
  const [note, warning] = ['note', undefined].map((level) => ({ level, message: { text: 'Slow' } }));
  const error = { level: 'error', message: { text: 'Bug' } };
  const several = { toolExecutionNotifications: [note, warning, error], executionSuccessful: false };
  const onlyNoted = { toolExecutionNotifications: [note] };
  const silent = { executionSuccessful: false };
  const noted = { toolConfigurationNotifications: [{ message }] };
  const flaw = { ruleId: 'R', message: 'Flaw.' };
  for (const [name, log, subject, detail] of [
    ['whose results are null', { runs: [{ tool, results: null }] }, 'noResults'],
    ['whose results are absent', { runs: [{ tool }] }, 'noResults'],
    ['of a tool that failed', { runs: [{ tool, invocations: [failed] }] }, 'toolFailed', message.text],
    ['of one that gives several reasons', { runs: [{ tool, invocations: [several] }] }, 'toolFailed', 'Bug'],
    ['of one that only noted', { runs: [{ tool, invocations: [onlyNoted] }] }, 'noResults'],
    ['of one that gives no reason', { runs: [{ tool, invocations: [silent] }] }, 'toolFailed'],
    [
      'of one that failed elsewhere',
      { runs: [], inlineExternalProperties: [{ invocations: [noted] }] },
      'toolFailed',
      message.text,
    ],
    ['of version 1', { version: '1.0.0', runs: [{ tool, results: [flaw] }] }, 'oldSarif'],
    ['of a draft', { version: '2.0.0-csd.2', runs: [{ tool, results: [flaw] }] }, 'oldSarif'],
  ] as const)
    test(`is named as one ${name}`, () => {
      assert.throws(() => readLog(log), { kind: 'malformedFindings', data: { subject, detail } });
    });

  test('has no findings if its tool looked', () => {
    const invocations = [noted, silent];
    const looked = { tool, results: [], invocations };
    assert.deepEqual(readLog({ runs: [looked, { tool, results: null }] }), []);
  });
});
