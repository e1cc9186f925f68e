import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import fc from 'fast-check';
import { AssessmentError } from '../../../../src/core/errors.ts';
import { TRIAGE_STATES } from '../../../../src/core/findings/triage/triage.ts';
import {
  emptyBook,
  formatBook,
  hasConflict,
  parseBook,
  type TriageBook,
  type TriageEntry,
  withDecisions,
} from '../../../../src/core/findings/triage/triageBook.ts';

function fingerprint(text: string): string {
  return `1:${createHash('sha256').update(text).digest('hex').slice(0, 32)}`;
}

function entry(title: string, more: Partial<TriageEntry> = {}): TriageEntry {
  return { state: 'falsePositive', note: 'why', at: 1_700_000_000_000, title, path: 'src/a.js', ...more };
}

function bookOf(names: readonly string[]): TriageBook {
  return withDecisions(emptyBook, new Map(names.map((name) => [fingerprint(name), entry(name)])));
}

/** Merges my, the common and their book as git does. */
function mergeIn(
  t: TestContext,
): (sides: readonly TriageBook[], ...options: string[]) => { text: string; isClean: boolean } {
  const folder = mkdtempSync(path.join(tmpdir(), 'triage-merge-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return (sides, ...options) => {
    const files = sides.map((book, at) => {
      const file = path.join(folder, `${String(at)}.json`);
      writeFileSync(file, formatBook(book));
      return file;
    });
    const { status, stdout } = spawnSync('git', ['merge-file', '-p', ...options, ...files], {
      encoding: 'utf8',
    });
    assert.ok(status !== null && status >= 0 && status < 128);
    return { text: stdout, isClean: status === 0 };
  };
}

function kindOf(text: string): string {
  try {
    parseBook(text, 'book.json');
  } catch (error) {
    if (error instanceof AssessmentError) return `${error.kind} ${String(error.data.subject)}`;
    throw error;
  }
  return 'read';
}

test('what is written is read back, whatever the note says', () => {
  const entries = fc.record(
    {
      state: fc.constantFrom(...TRIAGE_STATES.filter((state) => state !== 'open')),
      note: fc.string({ unit: 'binary' }),
      at: fc.integer({ min: 0, max: 4_000_000_000_000 }),
      title: fc.string(),
      path: fc.string(),
    },
    { noNullPrototype: true },
  );
  fc.assert(
    fc.property(fc.dictionary(fc.stringMatching(/^[0-9a-f]{1,8}$/), entries), (decided) => {
      const wanted = new Map(Object.entries(decided).map(([digits, each]) => [`1:${digits}`, each]));
      const text = formatBook(withDecisions(emptyBook, wanted));
      assert.deepEqual(parseBook(text, 'book.json').entries, wanted);
      assert.equal(formatBook(parseBook(text, 'book.json')), text);
    }),
  );
});

test('every decision is a line of its own, in one order, for people to read', () => {
  const text = formatBook(bookOf(['one', 'two', 'three']));
  const lines = text.split('\n').filter((line) => line.includes('fingerprint'));
  assert.equal(text, formatBook(bookOf(['three', 'one', 'two'])));
  assert.deepEqual(lines, lines.toSorted());
  assert.deepEqual(JSON.parse(lines.find((line) => line.includes('two'))?.replace(/,$/, '') ?? ''), {
    fingerprint: fingerprint('two'),
    state: 'falsePositive',
    note: 'why',
    at: '2023-11-14T22:13:20.000Z',
    title: 'two',
    path: 'src/a.js',
  });
});

test('what a later version wrote is kept as it came', () => {
  const known = `{"fingerprint":"1:0a","state":"confirmed","note":"","at":"2026-01-01T00:00:00.000Z","title":"","path":"","mood":[1]}`;
  const later = `{"fingerprint":"2:0b","state":"disputed","by":"someone"}`;
  const text = `{"version":1,"team":{"name":"shop"},"decisions":[${known},${later},"x"]}`;
  const book = parseBook(text, 'book.json');
  assert.deepEqual([...book.entries.keys()], ['1:0a']);
  const again = formatBook(withDecisions(book, new Map([['1:0a', entry('new')]])));
  assert.match(again, /"team": \{"name":"shop"\}/);
  assert.match(again, /"state":"disputed","by":"someone"/);
  assert.match(again, /"mood":\[1\].*|"title":"new".*"mood"/);
});

test('a finding that is open again, without a note, leaves no line', () => {
  const book = bookOf(['one', 'two']);
  const opened = withDecisions(
    book,
    new Map([[fingerprint('one'), entry('one', { state: 'open', note: '' })]]),
  );
  assert.equal(formatBook(opened), formatBook(bookOf(['two'])));
});

test('of two decisions about a finding the later one counts', () => {
  const line = (state: string, at: string) => JSON.stringify({ fingerprint: '1:0a', state, at });
  const late = line('fixed', '2026-02-01T00:00:00Z');
  const early = line('confirmed', '2026-01-01T00:00:00Z');
  for (const lines of [
    [late, early],
    [early, late],
  ]) {
    const book = parseBook(`{"version":1,"decisions":[${lines.join()}]}`, 'book.json');
    assert.equal(book.entries.get('1:0a')?.state, 'fixed');
  }
});

test('conflict marks and damage are told apart, and nothing is guessed', () => {
  const text = formatBook(bookOf(['one']));
  assert.equal(kindOf(text), 'read');
  assert.equal(kindOf(`\uFEFF${text}`), 'read');
  assert.equal(hasConflict(text), false);
  assert.equal(hasConflict(`<<<<<<< HEAD\n${text}=======\n${text}>>>>>>> theirs\n`), true);
  for (const damaged of ['', '[]', 'null', text.slice(0, -9), text.replace('"version": 1', '"version": 2')]) {
    assert.equal(kindOf(damaged), 'triageDamaged book.json', damaged);
  }
});

test('keys that name a prototype are only keys', () => {
  const text =
    '{"version":1,"__proto__":{"polluted":1},"decisions":[{"fingerprint":"__proto__","state":"fixed","at":"2026-01-01T00:00:00Z"}]}';
  const book = parseBook(text, 'book.json');
  assert.equal(book.entries.get('__proto__')?.state, 'fixed');
  assert.equal(({} as { polluted?: number }).polluted, undefined);
});

test('of a file with a conflict the decisions of both sides are read, the later one about the same finding', (t) => {
  const merge = mergeIn(t);
  const bookWith = (titles: Record<string, string>, state: TriageEntry['state'], at: number): TriageBook =>
    withDecisions(
      emptyBook,
      new Map(Object.entries(titles).map(([key, title]) => [key, entry(title, { state, at })])),
    );
  const base = bookWith({ '1:0a0': 'left', '1:0a1': 'both' }, 'confirmed', 1);
  const mine = bookWith({ '1:0a1': 'both', '1:0b1': 'mine' }, 'fixed', 3);
  const theirs = bookWith({ '1:0a1': 'both', '1:0b2': 'theirs' }, 'falsePositive', 2);
  for (const options of [[], ['--diff3']]) {
    for (const sides of [
      [mine, base, theirs],
      [theirs, base, mine],
    ]) {
      const { text, isClean } = merge(sides, ...options);
      assert.equal(isClean, false);
      for (const newLine of ['\n', '\r\n']) {
        const { entries } = parseBook(text.replaceAll('\n', newLine), 'book.json');
        assert.deepEqual([...entries].map(([key, { title, state }]) => `${key} ${title} ${state}`).sort(), [
          '1:0a1 both fixed',
          '1:0b1 mine fixed',
          '1:0b2 theirs falsePositive',
        ]);
      }
    }
  }
});

test('a file with the sixteen lines of earlier versions is read, and has those of this one when it is written', () => {
  const text = formatBook(bookOf(['one', 'two']));
  const earlier = text
    .split('\n')
    .filter((line) => !/^ +"[0-9a-f]{3}",$/.test(line))
    .flatMap((line) =>
      line.includes('"decisions"')
        ? [line, ...Array.from('0123456789abcdef', (digit) => `    "${digit}",`)]
        : [line],
    );
  assert.equal(earlier.length, 2 + 3 + 16 + 4);
  assert.equal(formatBook(parseBook(earlier.join('\n'), 'book.json')), text);
});

test('git merges what two people decided apart, several decisions each, in nearly all cases', (t) => {
  const merge = mergeIn(t);
  const times = 30;
  for (const [each, least] of [
    [1, 30],
    [3, 29],
    [5, 28],
    [10, 24],
  ] as const) {
    let clean = 0;
    for (let time = 0; time < times; time += 1) {
      const names = (whose: string, count: number): string[] =>
        Array.from({ length: count }, (_, at) => `${whose} ${String(time)} ${String(at)}`);
      const [common, mine, theirs] = [names('common', time * 3), names('mine', each), names('theirs', each)];
      const sides = [bookOf([...common, ...mine]), bookOf(common), bookOf([...common, ...theirs])] as const;
      const merged = merge(sides);
      const all = bookOf([...common, ...mine, ...theirs]);
      if (merged.isClean) assert.equal(merged.text, formatBook(all));
      assert.deepEqual(parseBook(merged.text, 'book.json').entries.size, all.entries.size);
      clean += Number(merged.isClean);
    }
    assert.ok(clean >= least, `${String(clean)} of ${String(times)} merged with ${String(each)} each`);
  }
});
