import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { AssessmentError } from '../../../../src/core/errors.ts';
import { TRIAGE_STATES } from '../../../../src/core/findings/triage/triage.ts';
import {
  emptyBook,
  formatBook,
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

test('conflict markers and damage are told apart, and nothing is guessed', () => {
  const text = formatBook(bookOf(['one']));
  assert.equal(kindOf(text), 'read');
  assert.equal(kindOf(`\uFEFF${text}`), 'read');
  assert.equal(kindOf(`<<<<<<< HEAD\n${text}=======\n${text}>>>>>>> theirs\n`), 'triageConflict book.json');
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

test('git merges what two people decided apart, in most cases', (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'triage-merge-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const put = (name: string, book: TriageBook): string => {
    const file = path.join(folder, name);
    writeFileSync(file, formatBook(book));
    return file;
  };
  let clean = 0;
  const times = 60;
  for (let time = 0; time < times; time += 1) {
    const common = Array.from({ length: time }, (_, at) => `common ${String(time)} ${String(at)}`);
    const [mine, theirs] = [`mine ${String(time)}`, `theirs ${String(time)}`];
    const base = put('base.json', bookOf(common));
    const files = [
      put('mine.json', bookOf([...common, mine])),
      base,
      put('theirs.json', bookOf([...common, theirs])),
    ];
    try {
      const merged = execFileSync('git', ['merge-file', '-p', ...files], { encoding: 'utf8' });
      assert.equal(merged, formatBook(bookOf([...common, mine, theirs])));
      clean += 1;
    } catch (error) {
      if (!(error instanceof Error && 'status' in error && error.status === 1)) throw error;
    }
  }
  assert.ok(clean >= times * 0.9, `${String(clean)} of ${String(times)} merged`);
});
