import assert from 'node:assert/strict';
import { test } from 'node:test';
import { at, keysOf, readOne } from './spellings.ts';

test('places are read from every alias, as array, object or string', () => {
  const names =
    'locations location affected_locations code_locations occurrences affected_files files code_snippets evidence nodes source sink trace';
  for (const key of keysOf(names)) {
    for (const value of [
      [{ file: 'src/a.py', line: 3 }],
      { file: 'src/a.py', line: 3 },
      'src/a.py:3',
      ['src/a.py:3'],
    ]) {
      const [place, ...others] = readOne({ title: 't', [key]: value }).places;
      assert.deepEqual(
        [place?.path, place?.startLine, others],
        ['src/a.py', 3, []],
        `${key} ${JSON.stringify(value)}`,
      );
    }
  }
});

test('fields of the finding itself are its place if it has no other', () => {
  const { places } = readOne({
    title: 't',
    file: 'src/a.py',
    line: 3,
    end_line: 5,
    snippet: 'x = 1',
    source: 'Scanner 1.0',
  });
  assert.deepEqual(
    places.map(({ path, startLine, endLine, snippet }) => [path, startLine, endLine, snippet]),
    [['src/a.py', 3, 5, 'x = 1']],
  );
});

test('a tool, code or prose in a path field is not read as a path', () => {
  for (const value of [
    'semgrep',
    'Scanner v1.2',
    'request.args',
    'cursor.execute',
    'The log shows src/a.py failing.',
    'https://example.com/a.py',
    '',
  ]) {
    for (const key of ['source', 'sink', 'evidence', 'trace'])
      assert.deepEqual(readOne({ title: 't', [key]: value }).places, [], `${key}: ${value}`);
  }
  assert.deepEqual(readOne({ title: 't', uri: 'https://example.com/a.py' }).places, []);
  assert.deepEqual(
    readOne({ title: 't', location: 'the login handler', file: 'src/a.py' }).places.map(({ path }) => path),
    ['src/a.py'],
  );
});

test('each report of a place is a separate place, in the archive that it names', () => {
  const place = (target_index?: number) => ({ file: 'a.py', line: 1, target_index });
  const indexes = (...locations: unknown[]) =>
    readOne({ title: 't', locations }).places.map(({ targetIndex }) => targetIndex);
  assert.deepEqual(indexes(place(0), place(1), place(), place(1)), [0, 1, undefined, 1]);
});

test('several locations are read in order, with the role of their key', () => {
  const { places } = readOne({
    title: 't',
    locations: [
      { file: 'a.py', line: 1 },
      { file: 'b.py', line: 2, label: 'here' },
    ],
    trace: [
      { file: 'a.py', line: 1, code: 'x()' },
      { file: 'c.py', line: 3 },
    ],
    source: { file: 'd.py', line: 4 },
    sink: 'src/e.py:5',
  });
  assert.deepEqual(
    places.map(({ path, startLine, role }) => [path, startLine, role]),
    [
      ['a.py', 1, undefined],
      ['b.py', 2, undefined],
      ['d.py', 4, 'source'],
      ['src/e.py', 5, 'sink'],
      ['a.py', 1, 'step'],
      ['c.py', 3, 'step'],
    ],
  );
  assert.deepEqual([places[1]?.label, places[4]?.snippet], ['here', 'x()']);
});

test('a place inherits missing fields from the enclosing object', () => {
  const inherited = readOne({ title: 't', file: 'a.py', occurrences: [{ line: 3 }, { line: 9 }] });
  assert.deepEqual(
    inherited.places.map(({ path, startLine }) => [path, startLine]),
    [
      ['a.py', 3],
      ['a.py', 9],
    ],
  );
  const completed = readOne({ title: 't', location: 'src/a.py', line: 12, code_snippet: 'x = 1' });
  assert.deepEqual(
    completed.places.map(({ path, startLine, snippet }) => [path, startLine, snippet]),
    [['src/a.py', 12, 'x = 1']],
  );
  const file = readOne({
    title: 't',
    affected_files: [{ path: 'a.py', locations: [{ line: 3 }, { line: 9 }] }],
  });
  assert.deepEqual(
    file.places.map(({ path, startLine }) => [path, startLine]),
    [
      ['a.py', 3],
      ['a.py', 9],
    ],
  );
});

test('the file is read from any alias', () => {
  for (const key of [
    ...keysOf('file file_path path filename relative_path uri source_file ref'),
    'artifactLocation.uri',
  ]) {
    assert.equal(readOne({ title: 't', location: at(key, 'src/a.py') }).places[0]?.path, 'src/a.py', key);
    assert.equal(readOne({ title: 't', ...at(key, 'src/a.py') }).places[0]?.path, 'src/a.py', key);
  }
});

test('lines after a path are split from it', () => {
  const cases = [
    ['src/a.py:12', 'src/a.py', 12, undefined, undefined],
    ['src/a.py:12:5', 'src/a.py', 12, undefined, 5],
    ['src/a.py:12-20', 'src/a.py', 12, 20, undefined],
    ['src/a.py#L12-L20', 'src/a.py', 12, 20, undefined],
    ['src/a.py#L12', 'src/a.py', 12, undefined, undefined],
    ['src/a.py#L12C3-L20C15', 'src/a.py', 12, 20, undefined],
    ['src/a.py#l12-20', 'src/a.py', 12, 20, undefined],
    ['src/a.py:20-12', 'src/a.py', 20, 20, undefined],
    ['src/a.py:0', 'src/a.py', undefined, undefined, undefined],
    ['src/a.py:12x1', 'src/a.py:12x1', undefined, undefined, undefined],
    ['src/a.py#L12-L20x1', 'src/a.py#L12-L20x1', undefined, undefined, undefined],
    ['src/a.py:1234567890', 'src/a.py:1234567890', undefined, undefined, undefined],
    ['src/a.py', 'src/a.py', undefined, undefined, undefined],
    ['src/a.py:12:x', 'src/a.py:12:x', undefined, undefined, undefined],
  ] as const;
  for (const [text, ...expected] of cases) {
    const place = readOne({ title: 't', file: text }).places[0];
    assert.deepEqual([place?.path, place?.startLine, place?.endLine, place?.startColumn], expected, text);
  }
});

test('the start line is read from any alias, as number or digits', () => {
  const names = [
    ...keysOf('start_line line_start line line_number lineno begin_line from'),
    'start.line',
    'begin.line',
    'region.startLine',
    'range.start.line',
  ];
  for (const key of names) {
    for (const value of [12, '12'])
      assert.equal(
        readOne({ title: 't', location: { file: 'a.py', ...at(key, value) } }).places[0]?.startLine,
        12,
        key,
      );
  }
});

test('the end line is read from any alias', () => {
  for (const key of [...keysOf('end_line line_end to'), 'end.line', 'region.endLine']) {
    assert.equal(
      readOne({ title: 't', location: { file: 'a.py', line: 12, ...at(key, 20) } }).places[0]?.endLine,
      20,
      key,
    );
  }
});

test('lines may be one value', () => {
  for (const range of [
    { lines: [12, 20] },
    { lines: '12-20' },
    { line_range: '12-20' },
    { line_range: [12, 20] },
    { lines: { start: 12, end: 20 } },
    { line: 'L12-L20' },
  ]) {
    const place = readOne({ title: 't', location: { file: 'a.py', ...range } }).places[0];
    assert.deepEqual(
      [place?.startLine, place?.endLine, place?.snippet],
      [12, 20, undefined],
      JSON.stringify(range),
    );
  }
});

test('a position counts from 0 only where it has a character', () => {
  const place = (range: unknown) => readOne({ title: 't', location: { file: 'a.py', range } }).places[0];
  const fromZero = place({ start: { line: 0, character: 4 }, end: { line: 2, character: 0 } });
  assert.deepEqual(
    [fromZero?.startLine, fromZero?.startColumn, fromZero?.endLine, fromZero?.endColumn],
    [1, 5, 3, 1],
  );
  const fromOne = place({ start: { line: 1, column: 4 }, end: { line: 2 } });
  assert.deepEqual([fromOne?.startLine, fromOne?.startColumn, fromOne?.endLine], [1, 4, 2]);
});

test('columns are read from any alias', () => {
  for (const key of [...keysOf('column col start_column'), 'start.col']) {
    const location =
      key === 'start.col'
        ? { file: 'a.py', start: { line: 1, col: 7 } }
        : { file: 'a.py', line: 1, ...at(key, 7) };
    assert.equal(readOne({ title: 't', location }).places[0]?.startColumn, 7, key);
  }
  for (const key of keysOf('end_column'))
    assert.equal(
      readOne({ title: 't', location: { file: 'a.py', line: 1, [key]: 9 } }).places[0]?.endColumn,
      9,
      key,
    );
});

test('a snippet is read from any alias, as text, object or lines', () => {
  for (const key of keysOf('snippet code code_snippet lines')) {
    assert.equal(
      readOne({ title: 't', location: { file: 'a.py', line: 1, [key]: '  x = 1' } }).places[0]?.snippet,
      '  x = 1',
      key,
    );
  }
  assert.equal(
    readOne({ title: 't', location: { file: 'a.py', snippet: { text: 'x = 1' } } }).places[0]?.snippet,
    'x = 1',
  );
  assert.equal(
    readOne({ title: 't', location: { file: 'a.py', lines: ['a = 1', 'b = 2'] } }).places[0]?.snippet,
    'a = 1\nb = 2',
  );
});

test('the target index of a place is kept', () => {
  assert.equal(
    readOne({ title: 't', location: { file: 'a.py', target_index: 1 } }).places[0]?.targetIndex,
    1,
  );
});

function placesOf(fields: Record<string, unknown>): string[] {
  return readOne({ title: 't', ...fields }).places.map(
    ({ path, startLine }) => `${path}:${String(startLine ?? '?')}`,
  );
}

const own = { file: 'src/login.ts', line: 42 };

test('a finding’s own file and line are its main place when only other files are listed', () => {
  assert.deepEqual(placesOf({ ...own, affected_files: ['src/session.ts'] }), [
    'src/login.ts:42',
    'src/session.ts:?',
  ]);
  assert.deepEqual(placesOf({ ...own, locations: [{ file: 'a.ts', line: 1 }] }), [
    'src/login.ts:42',
    'a.ts:1',
  ]);
});

test('a finding’s own line completes its file in a list of files', () => {
  const files = { affected_files: ['src/session.ts', 'src/login.ts'] };
  assert.deepEqual(placesOf({ ...own, ...files }), ['src/login.ts:42', 'src/session.ts:?']);
  assert.deepEqual(placesOf({ file: own.file, ...files }), ['src/session.ts:?', 'src/login.ts:?']);
  assert.deepEqual(placesOf({ ...own, locations: [{ file: own.file }, own] }), ['src/login.ts:42']);
});

test('places with lines of their own stay as they are listed', () => {
  const locations = [
    { file: 'a.ts', line: 1 },
    { file: own.file, line: 7 },
  ];
  assert.deepEqual(placesOf({ ...own, locations }), ['a.ts:1', 'src/login.ts:7']);
  assert.deepEqual(placesOf({ file: own.file, line: 7, locations }), ['a.ts:1', 'src/login.ts:7']);
});
