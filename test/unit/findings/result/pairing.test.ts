import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { propertyRuns } from '../../core/propertyRuns.ts';
import { fateOf, type Uploaded, startHistory } from './histories.ts';

const lines = Array.from({ length: 20 }, (_, at) => `statement(${String(at)});`);
const a = lines.join('\n');
const uploaded = { 'src/a.js': a };
const moved = { 'src/a.js': `// above\n${a}` };
const quote = 'statement(3);';

const X = { title: 'X', cwe: 89, file: 'src/a.js', line: 4, snippet: quote };
const Y = { ...X, title: 'Y' };
const Z = { ...X, title: 'Z' };
const plain = { ...X, cwe: undefined };
const bare = { ...X, snippet: undefined };
const inC = { ...X, file: 'lib/c.js' };
const L = { title: 'L', perspective: 'XSS', feature_name: 'Search', url: 'https://shop.example/s' };
const M = { ...L, title: 'M' };
const withQuery = { ...L, url: `${L.url}?q=1` };
const policy = { title: 'Policy', cwe: 1 };

type Reported = readonly [uploaded: Uploaded | undefined, ...findings: readonly object[]];

/**
 * A decision about the first finding of the first run `holds` in the second one, is `said`, or
 * there is `none`.
 */
type Case = readonly [name: string, first: Reported, second: Reported, wanted: string];
const edited = (line: number, text: string): Uploaded => ({
  'src/a.js': lines.with(line - 1, text).join('\n'),
});
const inLib = { ...X, file: 'lib/a.js' };
const movedToLib = { 'lib/a.js': `import x;\n${a}` };

const more = { line: 5, snippet: `statement(2);\n${quote}` };
const wide = { ...bare, end_line: 6 };
const lower = edited(6, 'statement(55);');

const F210: readonly Case[] = [
  ['the title on fewer lines', [uploaded, wide], [moved, { ...bare, line: 6 }], 'holds'],
  ['the title on more lines, with another quote', [uploaded, X], [moved, { ...X, ...more }], 'holds'],
  ['the title on a line that was edited', [uploaded, bare], [edited(4, 'statement(33);'), bare], 'said'],
  ['the title on a line with other code', [uploaded, bare], [edited(4, 'exec(input);'), bare], 'said'],
  ['the title, and an edited line below it that is reported, too', [uploaded, bare], [lower, wide], 'said'],
  ['the title, and an edited line below it that was reported, too', [uploaded, wide], [lower, bare], 'said'],
];

const F185: readonly Case[] = [
  ['live: the pair, method and address', [undefined, L], [undefined, M], 'holds'],
  ['live: among several, the title decides', [undefined, L, M], [undefined, M, withQuery], 'holds'],
  ['live: among several in other words, order', [undefined, L, M], [undefined, { ...L, title: 'N' }], 'said'],
  ['the quote, in other words on another line', [uploaded, X], [moved, { ...Y, line: 9 }], 'holds'],
  [
    'the quote without brackets around it',
    [uploaded, X],
    [uploaded, { ...X, snippet: `{\n ${quote} }` }],
    'holds',
  ],
  ['a short quote', [undefined, { ...X, snippet: 'a();' }], [undefined, { ...Y, snippet: 'a();' }], 'none'],
  ['the quote twice before', [uploaded, X, Y], [uploaded, Z], 'said'],
  ['the quote twice now', [uploaded, X], [uploaded, Y, Z], 'said'],
  [
    'the rule',
    [uploaded, { ...plain, rule_id: 'R' }],
    [uploaded, { ...plain, rule_id: 'R', title: 'Y' }],
    'holds',
  ],
  ['without CWEs, another title', [uploaded, plain], [uploaded, { ...plain, title: 'Y' }], 'said'],
  ['the title on lines that moved', [uploaded, bare], [moved, { ...bare, line: 5 }], 'holds'],
  ['the title on other lines', [uploaded, bare], [moved, bare], 'none'],
  ['the title, where lines are not known', [undefined, bare], [uploaded, { ...bare, line: 5 }], 'said'],
  ['other words and quote on the same lines', [uploaded, X], [moved, { ...Y, ...more }], 'said'],
  ['a finding without a file', [uploaded, policy], [uploaded, policy], 'said'],
  ['two files with these bytes before', [{ ...uploaded, 'copy.js': a }, X], [{ 'lib/c.js': a }, inC], 'none'],
  ['two files with these bytes now', [uploaded, X], [{ 'lib/c.js': a, 'd.js': a }, inC], 'none'],
  ['a file that is still there', [uploaded, X], [{ ...uploaded, 'lib/c.js': a }, inC], 'none'],
  [
    'other bytes and letter case',
    [uploaded, X],
    [{ 'SRC/A.js': `${a}\n` }, { ...X, file: 'SRC/A.js' }],
    'holds',
  ],
  [
    'the quote in a file that was moved and edited',
    [uploaded, X],
    [movedToLib, { ...inLib, line: 5 }],
    'said',
  ],
  [
    'the quote in a new file beside the old one',
    [uploaded, X],
    [{ ...uploaded, ...movedToLib }, inLib],
    'none',
  ],
  ['the quote in an edited file', [{ ...uploaded, 'lib/a.js': '' }, X], [movedToLib, inLib], 'none'],
];

for (const [title, [name, first, second, wanted]] of [
  ...F185.map((each) => ['F185 a decision in the next run', each] as const),
  ...F210.map((each) => ['F210 a decision about code in the next run', each] as const),
])
  test(`${title}: ${name}`, async (t) => {
    const history = await startHistory(t);
    const [before, after] = [first, second].map(([files, ...findings]) => ({ files, findings }));
    const [one, next] = [
      await history.add(['shop'], before?.findings ?? [], before?.files),
      await history.add(['shop'], after?.findings ?? [], after?.files),
    ];
    const [decided] = (await history.result(one))?.findings ?? [];
    const result = await history.result(next);
    assert.ok(decided && result);
    assert.equal(fateOf(decided, result), wanted);
    const verdict = result.findings.find((each) =>
      [each.name, ...each.possibleNames].includes(decided.name),
    )?.verdict;
    assert.equal(verdict, wanted === 'none' ? undefined : 'stillPresent');
  });

test('10,000 alike findings that are reported again are paired one to one, in their order', async (t) => {
  const history = await startHistory(t);
  const many = Array.from({ length: 10_000 }, () => X);
  await history.add(['shop'], many, uploaded);
  const result = await history.result(await history.add(['shop'], many, uploaded));
  assert.deepEqual(result?.absent, []);
  assert.ok(
    result.findings.every(
      ({ verdict, possibleNames }, at) =>
        verdict === 'stillPresent' && possibleNames[0]?.endsWith(`:${String(at)}`),
    ),
  );
});

test('F185 for any two changes, a finding with its quote is still there, and its decision holds or is said', async (t) => {
  const items = [0, 1, 2].map((at) => {
    const location = { file: `src/f${String(at)}.js`, line: 1, snippet: `sink${String(at)}(input);` };
    return {
      title: `T${String(at)}`,
      cwe: [89, 20],
      locations: [location, { ...location, line: 2, snippet: `source${String(at)}(input);` }],
    };
  });
  type Item = (typeof items)[number];
  const inFile = (item: Item, nameOf: (file: string) => string): Item => ({
    ...item,
    locations: item.locations.map((each) => ({ ...each, file: nameOf(each.file) })),
  });
  const sureChanges: Record<string, (item: Item) => Item> = {
    rename: (item) => inFile(item, (file) => `moved/${file}`),
    letterCase: (item) => inFile(item, (file) => file.toUpperCase()),
    cweOrder: (item) => ({ ...item, cwe: item.cwe.toReversed() }),
    cweAdded: (item) => ({ ...item, cwe: [79, ...item.cwe] }),
    cweDropped: (item) => ({ ...item, cwe: item.cwe.slice(1) }),
    title: (item) => ({ ...item, title: `${item.title} in other words` }),
    locations: (item) => ({ ...item, locations: item.locations.toReversed() }),
  };
  const changes: typeof sureChanges = {
    ...sureChanges,
    cweChanged: (item) => ({ ...item, cwe: [352] }),
    cweNone: (item) => ({ ...item, cwe: [] }),
  };
  const sentFor = (all: readonly Item[]): Uploaded =>
    Object.fromEntries(
      all.map((item) => {
        const quotes = item.locations
          .map(({ line, snippet }) => [line, snippet] as const)
          .sort(([a], [b]) => a - b);
        return [item.locations[0]?.file ?? '', quotes.map(([, snippet]) => snippet).join('\n')];
      }),
    );
  await fc.assert(
    fc.asyncProperty(
      fc.tuple(...items.map(() => fc.shuffledSubarray(Object.keys(changes), { maxLength: 2 }))),
      fc.shuffledSubarray([0, 1, 2], { minLength: 3 }),
      async (chosen, order) => {
        const history = await startHistory(t);
        const changed = items.map((item, at) =>
          (chosen[at] ?? []).reduce((each, kind) => changes[kind]?.(each) ?? each, item),
        );
        const before = await history.result(await history.add(['shop'], items, sentFor(items)));
        const later = order.flatMap((at) => changed[at] ?? []);
        const after = await history.result(await history.add(['shop'], later, sentFor(changed)));
        assert.ok(before && after);
        assert.deepEqual(after.absent, []);
        for (const { verdict } of after.findings) assert.equal(verdict, 'stillPresent');
        for (const [at, decided] of before.findings.entries()) {
          const isSure = (chosen[at] ?? []).every((kind) => kind in sureChanges);
          assert.equal(fateOf(decided, after), isSure ? 'holds' : 'said', String(chosen[at]));
        }
      },
    ),
    { numRuns: propertyRuns(30, 2_000) },
  );
});
