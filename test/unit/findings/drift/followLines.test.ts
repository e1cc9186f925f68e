import assert from 'node:assert/strict';
import { test } from 'node:test';
import { diffArrays } from 'diff';
import fc from 'fast-check';
import { type DriftedRange, followLines } from '../../../../src/core/findings/drift/followLines.ts';
import { splitLines } from '../../../../src/core/findings/drift/lineText.ts';
import { cpuMs } from '../../core/cpuTime.ts';
import { propertyRuns } from '../../core/propertyRuns.ts';

const code = `import db from 'db';

export function find(name) {
  const sql = 'select * from users where name = ' + name;
  return db.query(sql);
}

export function count() {
  return db.query('select count(*) from users');
}
`;

/** The new place of lines of `code` after an edit. */
function follow(edit: (text: string) => string, startLine: number, endLine = startLine): string {
  return describeRange(followLines(splitLines(code))(splitLines(edit(code)))({ startLine, endLine }));
}

/** Where lines of `code` are after an edit. */
function is(wanted: string, edit: (text: string) => string, startLine: number, endLine = startLine): void {
  assert.equal(follow(edit, startLine, endLine), wanted);
}

function describeRange({ startLine, endLine, drift }: DriftedRange): string {
  return `${drift} ${String(startLine)}${endLine === startLine ? '' : `-${String(endLine)}`}`;
}

function withLines(text: string, change: (lines: string[]) => void): string {
  const lines = text.split('\n');
  change(lines);
  return lines.join('\n');
}

const query = "  const sql = 'select * from users where name = ' + name;";

test('unchanged lines are the same', () => {
  is('same 4-5', (text) => text, 4, 5);
  is('same 4-5', (text) => `${text}// more\n`, 4, 5);
});

test('lines inserted or deleted above move a finding', () => {
  is('moved 54-55', (text) => '// new\n'.repeat(50) + text, 4, 5);
  is('moved 2-3', (text) => text.slice(text.indexOf('export')), 4, 5);
});

test('edits both above and below move a finding by those above', () => {
  is('moved 5', (text) => `// head\n${text.replace('count(*)', 'count(id)')}// foot\n`, 4);
});

test('white space, blank lines and line ends are no change', () => {
  is('same 4-5', (text) => text.replaceAll('\n', '\r\n'), 4, 5);
  is('same 4-5', (text) => text.replaceAll('  ', '\t'), 4, 5);
  is('same 4', (text) => text.replaceAll(' = ', '='), 4);
  is('same 1', (text) => `\uFEFF${text}`, 1);
  is('same 4-7', (text) => text.replace(query, `${query}\n\n`), 4, 5);
});

test('an edited line is changed and followed to its new place', () => {
  is('changed 4', (text) => text.replace('+ name', '+ quote(name)'), 4);
  is('changed 6', (text) => `// one\n// two\n${text.replace('+ name', '+ quote(name)')}`, 4);
  is('changed 4', (text) => text.replace(query, '  // parameters are bound\n  const sql = 0;'), 4);
});

test('an edit, deletion or insertion within several lines changes all of them', () => {
  is('changed 4-5', (text) => text.replace('+ name', '+ quote(name)'), 4, 5);
  is('changed 4', (text) => text.replace(`${query}\n`, ''), 4, 5);
  is('changed 4-6', (text) => text.replace(query, `${query}\n  check(sql);`), 4, 5);
});

test('a deleted line is gone, and the nearest remaining line becomes its place', () => {
  is('gone 3', (text) => text.replace(`${query}\n`, ''), 4);
  is('gone 2', (text) => withLines(text, (lines) => lines.splice(2, 5)), 4, 5);
  is('gone 7', (text) => text.slice(0, text.indexOf('export function count')), 9);
});

test('a deleted line is not confused with an edited neighbour', () => {
  const edit = (text: string) =>
    text.replace(`${query}\n  return db.query(sql);`, '  return db.query(sql, [name]);');
  assert.equal(follow(edit, 4), 'gone 3');
  assert.equal(follow(edit, 5), 'changed 4');
});

test('code cut and pasted elsewhere has moved, unless pasted twice or in part', () => {
  const cut = (text: string) => text.replace(`${query}\n`, '');
  is('moved 11', (text) => `${cut(text)}\n${query}\n`, 4);
  is('gone 3', (text) => `${cut(text)}\n${query}\n${query}\n`, 4);
  is('gone 3', (text) => `${cut(text)}\n${query.slice(0, 20)}\n`, 4);
});

test('code of several lines has moved if it is whole at exactly one other place', () => {
  const map = followLines(['foo();', 'foo();', query, '', 'foo();'])([
    'foo();',
    'foo();',
    'foo();',
    query,
    '',
  ]);
  assert.equal(describeRange(map({ startLine: 2, endLine: 3 })), 'moved 3-4');
});

test('a common brace does not count as a remaining function', () => {
  is('gone 2', (text) => text.replace(/export function find[^]*?\n\}\n/, ''), 3, 6);
});

test('everything is gone from an emptied file', () => {
  is('gone 1', () => '', 4, 5);
});

test('a text with little in common leaves the state unknown', () => {
  const before = Array.from({ length: 400 }, (_, at) => (at % 2 === 0 ? 'same();' : `old(${String(at)});`));
  const now = Array.from({ length: 400 }, (_, at) => (at % 2 === 0 ? 'same();' : `fresh(${String(at)}, 1);`));
  const map = followLines(['first', ...before, 'last'])(['first', ...now, ...now, 'last']);
  assert.equal(describeRange(map({ startLine: 200, endLine: 202 })), 'unknown 200-202');
  assert.equal(describeRange(map({ startLine: 402, endLine: 402 })), 'moved 802');
});

test('a range in a very long text is followed like in a short one', () => {
  const before = Array.from({ length: 300_000 }, (_, at) => `line(${String(at)});`);
  const map = followLines(before)(before.with(150_000, 'other();'));
  assert.equal(describeRange(map({ startLine: 1, endLine: 300_000 })), 'changed 1-300000');
});

test('100,000 differences or equal lines are not compared pairwise', () => {
  const calls = Array.from({ length: 100_000 }, (_, at) => `call(${String(at)});`);
  const zeros = (count: number) => Array.from({ length: count }, () => '0,');
  const start = cpuMs();
  const changed = followLines(calls)(calls.map((line, at) => (at % 2 === 0 ? line : `edited${line}`)));
  assert.equal(describeRange(changed({ startLine: 1, endLine: 100_000 })), 'changed 1-100000');
  const lost = followLines(['first();', ...zeros(20_000), 'last();'])(zeros(100_000));
  assert.equal(describeRange(lost({ startLine: 2, endLine: 20_001 })), 'unknown 2-20001');
  assert.ok(cpuMs() - start < 5_000);
});

/** An edit of one line; `insert` puts a new line before it. */
const edits = fc.array(
  fc.constantFrom('keep', 'keep', 'keep', 'keep', 'delete', 'edit', 'insert', 'indent', 'blank'),
  { minLength: 1, maxLength: 120 },
);

test('random edits are followed to their true place', () => {
  fc.assert(
    fc.property(edits, (kinds) => {
      const before = kinds.map(
        (_, at) => `call(${'abcdefgh'.repeat(2)}, ${String(at)}, "${String(at * 7)}");`,
      );
      const now: string[] = [];
      const truth = kinds.map((kind, at) => {
        const line = before[at] ?? '';
        if (kind === 'insert') now.push(`// a new remark about ${String(at)}`);
        if (kind === 'blank') now.push('');
        if (kind !== 'delete')
          now.push(kind === 'edit' ? `${line} // edited` : kind === 'indent' ? `\t${line}` : line);
        return { kind, line: now.length };
      });
      const map = followLines(before)(now);
      for (const [at, { kind, line }] of truth.entries()) {
        const { drift, startLine } = map({ startLine: at + 1, endLine: at + 1 });
        if (kind === 'delete') {
          // Next to an inserted or edited line the replacement is ambiguous.
          assert.ok(drift === 'gone' || drift === 'changed', `${String(at + 1)} ${drift}`);
          continue;
        }
        const wanted = kind === 'edit' ? ['changed'] : line === at + 1 ? ['same'] : ['moved'];
        assert.ok(wanted.includes(drift), `${String(at + 1)} ${kind} ${drift}`);
        // Edited lines beside deleted ones are ambiguous.
        if (kind !== 'edit') assert.equal(startLine, line);
      }
    }),
  );
});

test('a single deletion is gone, a single edit is changed at its line', () => {
  const lines = fc.uniqueArray(fc.stringMatching(/^[a-z]{8,20}$/), { minLength: 3, maxLength: 60 });
  fc.assert(
    fc.property(lines, fc.nat(), (before, seed) => {
      const at = seed % before.length;
      const range = { startLine: at + 1, endLine: at + 1 };
      assert.equal(followLines(before)(before.toSpliced(at, 1))(range).drift, 'gone');
      assert.equal(
        describeRange(followLines(before)(before.with(at, `${before[at] ?? ''};`))(range)),
        `changed ${String(at + 1)}`,
      );
    }),
  );
});

test('matched lines occur in both texts, in order, and nearly as many as possible', () => {
  const texts = fc.array(fc.constantFrom('a', 'b', 'c', '}', '', 'unique one', 'unique two'), {
    maxLength: 30,
  });
  fc.assert(
    fc.property(texts, texts, (before, now) => {
      const map = followLines(before)(now);
      const kept = before
        .map((line, at) => ({ line, ...map({ startLine: at + 1, endLine: at + 1 }) }))
        .filter(({ drift }) => drift === 'same' || drift === 'moved');
      for (const { line, startLine } of kept) assert.equal(now[startLine - 1], line);
      const oracle = diffArrays(before, now).filter(({ added, removed }) => !added && !removed);
      const most = oracle.reduce((sum, { count }) => sum + count, 0);
      // Unique lines are matched first, which may lose lines between two swapped ones.
      assert.ok(kept.length >= most - 15, `${String(kept.length)} of ${String(most)}`);
    }),
  );
});

test('every answer is a valid range', () => {
  const texts = fc.array(fc.constantFrom('one();', 'two();', 'three();', '', '}'), {
    minLength: 1,
    maxLength: 12,
  });
  fc.assert(
    fc.property(texts, texts, fc.nat(), fc.nat(), (before, now, from, length) => {
      const startLine = 1 + (from % before.length);
      const endLine = Math.min(before.length, startLine + (length % 4));
      const { startLine: start, endLine: end } = followLines(before)(now)({ startLine, endLine });
      assert.ok(1 <= start && start <= end && end <= now.length, `${String(start)}-${String(end)}`);
    }),
    { numRuns: propertyRuns(1_000) },
  );
});
