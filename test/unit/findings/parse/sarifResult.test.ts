import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ReportedFinding } from '../../../../src/core/findings/finding.ts';
import { inText } from '../../../../src/core/findings/parse/inText.ts';
import { parseFindings } from '../../../../src/core/findings/parse/parseFindings.ts';
import { cpuMs } from '../../core/cpuTime.ts';

// All logs here are invented. Sections are those of SARIF 2.1.0.

const rule = {
  id: 'R',
  shortDescription: { text: 'Copy without a bound' },
  properties: { 'security-severity': '9.0' },
};

function readLog(log: object): readonly ReportedFinding[] {
  return parseFindings(JSON.stringify(log), { runId: 'run' }).findings;
}

function read(
  result: object,
  rules: readonly object[] = [rule],
  run: object = {},
): ReportedFinding | undefined {
  return readLog({
    version: '2.1.0',
    runs: [{ tool: { driver: { rules } }, ...run, results: [{ ruleId: 'R', ...result }] }],
  })[0];
}

const at = (artifactLocation: object, region?: object, more?: object) => ({
  ...more,
  physicalLocation: { artifactLocation, region },
});

for (const kind of ['open', 'review', 'informational'])
  test(`F173 a SARIF result of kind ${kind} has no level unless it has one explicitly`, () => {
    assert.equal(read({ kind })?.severity, 'none');
    assert.equal(read({ kind }, [])?.severity, 'none');
    assert.equal(read({ kind, level: 'error' }, [])?.severity, 'high');
  });

test('F173 a SARIF result that passed, or did not apply, is no finding', () => {
  const results = [{ kind: 'pass' }, { kind: 'notApplicable' }, { kind: 'fail', message: { text: 'Flaw.' } }];
  const titles = readLog({ version: '2.1.0', runs: [{ results }] }).map(({ title }) => title);
  assert.deepEqual(titles, ['Flaw.']);
  assert.deepEqual(readLog({ version: '2.1.0', runs: [{ results: results.slice(0, 2) }] }), []);
});

test('a SARIF failure has the level of its rule, or else warning', () => {
  for (const result of [{}, { kind: 'fail' }]) {
    assert.equal(read(result)?.severity, 'critical');
    assert.equal(read(result, [])?.severity, 'medium');
  }
  assert.equal(read({}, [{ id: 'R', defaultConfiguration: { level: 'note' } }])?.severity, 'low');
  assert.equal(read({}, [{ id: 'R', defaultConfiguration: { enabled: true } }])?.severity, 'medium');
});

test('F173 the property `severity` of a SARIF result counts before its level', () => {
  const properties = { severity: 'CRITICAL' };
  assert.equal(read({ level: 'error', properties }, [])?.severity, 'critical');
  assert.equal(read({ level: 'error', properties: { severity: 'x' } }, [])?.severity, 'high');
});

describe('F173 the rule of a SARIF result', () => {
  const ruleOf = (result: object): string | undefined => {
    const rules = [
      { id: 'A/b', name: 'Deeper' },
      { id: 'A', name: 'First', guid: 'guid-of-first' },
    ];
    const extensions = [
      { name: 'queries', rules: [{ id: 'A', name: 'Of queries' }] },
      { name: 'other', guid: 'guid-of-other', rules: [{ id: 'Z', name: 'Of other' }] },
    ];
    const run = { tool: { driver: { rules }, extensions }, results: [result] };
    return readLog({ version: '2.1.0', runs: [run] })[0]?.title;
  };
  for (const [name, result, title] of [
    ['by ID', { ruleId: 'A' }, 'First'],
    ['by the ID of its reference', { rule: { id: 'A' } }, 'First'],
    ['by index', { ruleIndex: 1 }, 'First'],
    ['by GUID', { rule: { guid: 'guid-of-first' } }, 'First'],
    ['by the longest known part of a hierarchical ID', { ruleId: 'A/b/c' }, 'Deeper'],
    ['by the only known part of a hierarchical ID', { ruleId: 'A/x/y' }, 'First'],
    ['by index, if ID and index agree', { ruleId: 'A', ruleIndex: 1 }, 'First'],
    ['by ID, if ID and index disagree', { ruleId: 'A', ruleIndex: 0 }, 'First'],
    ['in an extension', { ruleId: 'Z' }, 'Of other'],
    [
      'in an extension, by index',
      { ruleId: 'A', rule: { index: 0, toolComponent: { index: 0 } } },
      'Of queries',
    ],
    ['in an extension, by name', { rule: { index: 0, toolComponent: { name: 'queries' } } }, 'Of queries'],
    [
      'in an extension, by GUID',
      { rule: { index: 0, toolComponent: { guid: 'guid-of-other' } } },
      'Of other',
    ],
    ['nowhere', { ruleId: 'B/1' }, 'B/1'],
  ] as const)
    test(`is found ${name}`, () => assert.equal(ruleOf(result), title));
});

describe('F173 the path of a SARIF location', () => {
  const pathOf = (location: object, run: object): string | undefined =>
    read({ locations: [at(location, { startLine: 3 })] }, [], run)?.places[0]?.path;

  test('is that of its artifact, found by index', () => {
    const artifacts = [{ location: { uri: 'a.c' } }, { location: { uri: 'b.c', uriBaseId: 'SRC' } }];
    const originalUriBaseIds = { SRC: { uri: 'src/', uriBaseId: 'ROOT' }, ROOT: {} };
    assert.equal(pathOf({ index: 0 }, { artifacts }), 'a.c');
    assert.equal(pathOf({ index: 1 }, { artifacts, originalUriBaseIds }), 'src/b.c');
    assert.equal(pathOf({ index: 7 }, { artifacts }), undefined);
  });

  for (const [name, originalUriBaseIds, path] of [
    ['without a base', undefined, 'main.c'],
    ['below an unknown base', {}, 'main.c'],
    [
      'below a folder on the machine of the tool',
      { SRC: { uri: 'file:///home/ci/shop/services/web/' } },
      'file:///home/ci/shop/services/web/main.c',
    ],
    [
      'below a base in that',
      { ROOT: { uri: 'file:///home/ci/shop/' }, SRC: { uri: 'file:///home/ci/shop/src/' } },
      'src/main.c',
    ],
    [
      'below a nested base',
      {
        ROOT: { uri: 'file:///C:/shop/' },
        MID: { uri: 'a', uriBaseId: 'ROOT' },
        SRC: { uri: 'b/', uriBaseId: 'MID' },
      },
      'a/b/main.c',
    ],
    [
      'below a base of the whole disk',
      { ROOT: { uri: 'file:///' }, SRC: { uri: 'file:///home/ci/shop/' } },
      'file:///home/ci/shop/main.c',
    ],
    ['below bases in a circle', { SRC: { uri: '', uriBaseId: 'SRC' } }, 'main.c'],
  ] as const)
    test(`is read ${name}`, () => {
      assert.equal(pathOf({ uri: 'main.c', uriBaseId: 'SRC' }, { originalUriBaseIds }), path);
      assert.equal(
        pathOf({ uri: 'file:///x/main.c', uriBaseId: 'SRC' }, { originalUriBaseIds }),
        'file:///x/main.c',
      );
    });

  test('is read without percent escapes', () => {
    assert.equal(pathOf({ uri: 'src/a%20b%E6%B3%A8.c' }, {}), 'src/a b注.c');
    assert.equal(pathOf({ uri: 'src/100%.c' }, {}), 'src/100%.c');
  });

  test('F187 is cut before it is joined: 1.2 MB with one base of 1 MB take little time and memory', () => {
    const originalUriBaseIds = { SRC: { uri: `file:///${'x/'.repeat(500_000)}` } };
    const location = at({ uri: 'main.c', uriBaseId: 'SRC' }, { startLine: 3 });
    const results = Array.from({ length: 1_000 }, () => ({ message: { text: 'm' }, locations: [location] }));
    const start = cpuMs();
    const found = readLog({ version: '2.1.0', runs: [{ tool: {}, originalUriBaseIds, results }] });
    assert.deepEqual([found.length, found[0]?.places], [1_000, []]);
    const tookMs = cpuMs() - start;
    assert.ok(tookMs < 1_500, `${String(tookMs)} ms`);
  });

  test('is resolved in steps and related places, too', () => {
    const location = at({ index: 0 }, { startLine: 1 }, { message: { id: 'step', arguments: ['x'] } });
    const codeFlows = [{ threadFlows: [{ locations: [{ location }] }] }];
    const run = { artifacts: [{ location: { uri: 'a.c' } }] };
    const rules = [{ id: 'R', messageStrings: { step: { text: 'through {0}' } } }];
    const found = read({ codeFlows, relatedLocations: [location] }, rules, run);
    assert.deepEqual(
      found?.places.map(({ path, role, label }) => [path, role, label]),
      [
        ['a.c', 'step', 'through x'],
        ['a.c', 'related', 'through x'],
      ],
    );
  });
});

describe('F173 an artifact on the web', () => {
  test('is shown as the URL of a live application, and is no file', () => {
    const locations = [at({ uri: 'https://shop.example/search?q=1' }, { startLine: 4 })];
    const found = read({ locations });
    assert.deepEqual([found?.url, found?.places], ['https://shop.example/search?q=1', []]);
    const based = [at({ uri: 'search', uriBaseId: 'WEB' })];
    const run = { originalUriBaseIds: { WEB: { uri: 'https://shop.example/' } } };
    assert.equal(read({ locations: based }, [], run)?.url, 'https://shop.example/search');
  });

  test('comes with the method of its request', () => {
    const found = read({ webRequest: { method: 'POST', target: 'https://shop.example/pay' } });
    assert.deepEqual([found?.method, found?.url], ['POST', 'https://shop.example/pay']);
  });
});

describe('F173 a SARIF message', () => {
  const described = (message: object, rules: readonly object[] = [], run: object = {}): string | undefined =>
    read({ message }, rules, run)?.description;

  test('is found by its ID in the rule, else in the tool, with its arguments', () => {
    const rules = [{ id: 'R', messageStrings: { m: { text: '{0} reaches {1}, {0}' } } }];
    const values = ['input', 'query'];
    assert.equal(described({ id: 'm', arguments: values }, rules), 'input reaches query, input');
    const globalMessageStrings = { m: { text: 'from the tool', markdown: 'from the *tool*' } };
    const tool = { driver: { globalMessageStrings } };
    assert.equal(described({ id: 'm' }, [], { tool }), 'from the *tool*');
    assert.equal(described({ id: 'm', text: 'Own text.' }, rules), 'Own text.');
    assert.equal(described({ id: 'constructor' }, rules), 'id: constructor');
  });

  test('has braces where they are doubled, and keeps a placeholder without an argument', () => {
    assert.equal(described({ text: '{{{0}}} {1}', arguments: ['x'] }), '{x} {1}');
    assert.equal(described({ text: 'a template {{ x }} {0}' }), 'a template {{ x }} {0}');
  });

  test('leads to the places that its links name by ID', () => {
    const relatedLocations = [
      at({ uri: 'src/in.c' }, { startLine: 25 }, { id: 3 }),
      at({ uri: 'src/a b.c' }, undefined, { id: 4 }),
    ];
    const text = 'From [here](3), [there\\[0\\]](4), [nowhere](5), [the web](https://x.example).';
    const found = read({ message: { text }, relatedLocations });
    assert.equal(
      found?.description,
      'From [here](src/in.c:25), [there\\[0\\]](<src/a b.c>), [nowhere](5), [the web](https://x.example).',
    );
  });

  test('leads to steps of its flow, too', () => {
    const location = at({ uri: 'src/in.c' }, { startLine: 25 }, { id: 3 });
    const codeFlows = [{ threadFlows: [{ locations: [{ location }] }] }];
    assert.equal(
      read({ message: { text: 'From [here](3).' }, codeFlows })?.description,
      'From [here](src/in.c:25).',
    );
  });

  test('F187 with 650,000 links takes little time and memory', () => {
    const relatedLocations = [at({ uri: 'src/'.repeat(1_000) }, { startLine: 2 }, { id: 1 })];
    const result = { message: { text: '[a](1)'.repeat(10_900) }, relatedLocations };
    const start = cpuMs();
    const found = readLog({
      version: '2.1.0',
      runs: [{ results: Array.from({ length: 60 }, () => result) }],
    });
    assert.deepEqual([found.length, found[0]?.description.length], [60, 65_536]);
    const tookMs = cpuMs() - start;
    assert.ok(tookMs < 1_500, `${String(tookMs)} ms`);
  });

  test('F122 with many placeholders or brackets takes little time and memory', () => {
    const text = '{0}'.repeat(20_000);
    const found = read({ message: { text, arguments: ['x'.repeat(60_000)] } });
    assert.deepEqual([found?.description.length, found?.shortfall], [65_536, 'clipped']);
    const brackets = `${'['.repeat(100_000)}](1)`;
    assert.equal(read({ message: { text: brackets } })?.description.length, 65_536);
    const ids = 'a/'.repeat(500_000);
    assert.equal(read({ ruleId: ids })?.severity, 'medium');
  });
});

test('F173 the fixes of a SARIF result are its recommendation, with their code', () => {
  const replacements = [{ deletedRegion: { startLine: 4 }, insertedContent: { text: 'run(a, b);' } }];
  const artifactChanges = [{ artifactLocation: { index: 0 }, replacements }];
  const run = { artifacts: [{ location: { uri: 'src/a.js' } }] };
  const found = read({ fixes: [{ description: { text: 'Use parameters.' }, artifactChanges }] }, [], run);
  const code = '` src/a.js:4 `:\n\n```\nrun(a, b);\n```';
  assert.deepEqual([found?.recommendation, found?.blocks], [`Use parameters.\n\n${code}`, []]);
});

test('F187 fixes that repeat a long path are cut before they are joined', () => {
  const replacements = Array.from({ length: 100 }, () => ({}));
  const fixes = [{ artifactChanges: [{ artifactLocation: { index: 0 }, replacements }] }];
  const run = { artifacts: [{ location: { uri: 'x/'.repeat(2_000) } }] };
  const results = Array.from({ length: 1_000 }, () => ({ message: { text: 'Flaw.' }, fixes }));
  const before = process.memoryUsage().heapUsed;
  const found = readLog({ version: '2.1.0', runs: [{ ...run, results }] });
  assert.deepEqual([found.length, found[0]?.recommendation.length], [1_000, 65_536]);
  const tookBytes = process.memoryUsage().heapUsed - before;
  assert.ok(tookBytes < 250e6, `${String(tookBytes)} bytes`);
});

describe('F173 the columns of a SARIF region', () => {
  const text = '// 😀\r\nlog("😀", a);\n';
  const placeOf = (region: object, run: object) => {
    const [place] = read({ locations: [at({ uri: 'a.js' }, region)] }, [], run)?.places ?? [];
    const { startLine, startColumn, endColumn } = inText(place!, text);
    return [startLine, startColumn, endColumn];
  };

  test('are converted from code points', () => {
    const region = { startLine: 2, startColumn: 10, endColumn: 11 };
    assert.deepEqual(placeOf(region, { columnKind: 'unicodeCodePoints' }), [2, 11, 12]);
    assert.deepEqual(placeOf(region, { columnKind: 'utf16CodeUnits' }), [2, 10, 11]);
    assert.deepEqual(placeOf(region, {}), [2, 10, 11]);
  });

  test('and its line are found by its offset in the text', () => {
    assert.deepEqual(placeOf({ charOffset: 17 }, {}), [2, 11, undefined]);
    assert.deepEqual(placeOf({ charOffset: 15 }, { columnKind: 'unicodeCodePoints' }), [2, 11, undefined]);
    assert.deepEqual(placeOf({ charOffset: 0 }, {}), [1, 1, undefined]);
    assert.deepEqual(placeOf({ charOffset: 900 }, {}), [undefined, undefined, undefined]);
  });
});

describe('F173 a suppressed SARIF result', () => {
  const decisionOf = (suppressions?: readonly object[] | null) => read({ suppressions })?.toolDecision;

  test('is an accepted risk, in the tool, with its reasons', () => {
    const decision = { state: 'acceptedRisk', note: 'Test data.\nSeen.', at: 0, via: 'tool' };
    const reasons = [
      { kind: 'external', justification: 'Test data.' },
      { status: 'accepted', justification: 'Seen.' },
    ];
    assert.deepEqual(decisionOf(reasons), decision);
    assert.deepEqual(decisionOf([{ kind: 'inSource' }]), { ...decision, note: '' });
  });

  test('is open if a suppression is under review or rejected, or if there is none', () => {
    for (const status of ['underReview', 'rejected', 'later'])
      assert.equal(decisionOf([{ kind: 'external' }, { kind: 'external', status }]), undefined, status);
    assert.equal(decisionOf([]), undefined);
    assert.equal(decisionOf(null), undefined);
    assert.equal(decisionOf(), undefined);
  });
});

describe('F173 a SARIF log without results', () => {
  const failed = {
    executionSuccessful: false,
    toolExecutionNotifications: [{ level: 'error', message: { text: 'Out of memory' } }],
  };
  const tool = { driver: { name: 'T' } };
  for (const [name, log, subject, detail] of [
    ['whose results are null', { runs: [{ tool, results: null }] }, 'noResults'],
    ['whose results are absent', { runs: [{ tool }] }, 'noResults'],
    ['of a tool that failed', { runs: [{ tool, invocations: [failed] }] }, 'toolFailed', 'Out of memory'],
    [
      'of a tool that failed, without a reason',
      { runs: [{ tool, invocations: [{ executionSuccessful: false }] }] },
      'toolFailed',
    ],
    [
      'of a tool that did not start',
      {
        runs: [
          { tool, invocations: [{ executionSuccessful: false, processStartFailureMessage: 'Not found' }] },
        ],
      },
      'toolFailed',
      'Not found',
    ],
    [
      'with a failure outside its runs',
      { runs: [], inlineExternalProperties: [{ invocations: [failed] }] },
      'toolFailed',
      'Out of memory',
    ],
    ['with a failure beside its runs', { runs: [], invocations: [failed] }, 'toolFailed', 'Out of memory'],
    [
      'of version 1',
      { version: '1.0.0', runs: [{ tool, results: [{ ruleId: 'R', message: 'Flaw.' }] }] },
      'oldSarif',
    ],
  ] as const)
    test(`is named as one ${name}`, () => {
      assert.throws(() => readLog(log), {
        kind: 'malformedFindings',
        data: { subject, detail },
      });
    });

  test('has no findings if its tool looked', () => {
    assert.deepEqual(
      readLog({
        version: '2.1.0',
        runs: [
          { tool, results: [] },
          { tool, results: null },
        ],
      }),
      [],
    );
  });

  test('may have them outside its runs', () => {
    const inlineExternalProperties = [{ results: [{ message: { text: 'Flaw.' } }] }];
    assert.equal(
      readLog({ version: '2.1.0', runs: [{ tool }], inlineExternalProperties })[0]?.title,
      'Flaw.',
    );
  });
});
