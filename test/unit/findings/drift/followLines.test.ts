import assert from 'node:assert/strict';
import { test } from 'node:test';
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

function describeRange({ startLine, endLine, drift }: DriftedRange): string {
  return `${drift} ${String(startLine)}${endLine === startLine ? '' : `-${String(endLine)}`}`;
}

const query = "  const sql = 'select * from users where name = ' + name;";
const quoted = code.replace('+ name', '+ quote(name)');
const cut = code.replace(`${query}\n`, '');
const shorter = code.replace(`${query}\n  return db.query(sql);`, '  return db.query(sql, [name]);');

for (const [name, startLine, endLine, edited, wanted] of [
  ['nothing changed', 4, 5, code, 'same 4-5'],
  ['lines are added below', 4, 5, `${code}// more\n`, 'same 4-5'],
  ['lines are inserted above', 4, 5, '// new\n'.repeat(50) + code, 'moved 54-55'],
  ['lines are deleted above', 4, 5, code.slice(code.indexOf('export')), 'moved 2-3'],
  ['edits are around it', 4, 4, `// head\n${code.replace('count(*)', 'count(id)')}// foot\n`, 'moved 5'],
  ['line ends change', 4, 5, code.replaceAll('\n', '\r\n'), 'same 4-5'],
  ['indentation changes', 4, 5, code.replaceAll('  ', '\t'), 'same 4-5'],
  ['spaces go', 4, 4, code.replaceAll(' = ', '='), 'same 4'],
  ['a byte order mark comes', 1, 1, `\uFEFF${code}`, 'same 1'],
  ['blank lines come inside', 4, 5, code.replace(query, `${query}\n\n`), 'same 4-7'],
  ['the line is edited', 4, 4, quoted, 'changed 4'],
  ['the line is edited, and others come above', 4, 4, `// one\n// two\n${quoted}`, 'changed 6'],
  ['the line is replaced', 4, 4, code.replace(query, '  // bound parameters\n  const sql = 0;'), 'changed 4'],
  ['one of the lines is edited', 4, 5, quoted, 'changed 4-5'],
  ['one of the lines is deleted', 4, 5, cut, 'changed 4'],
  ['a line comes between them', 4, 5, code.replace(query, `${query}\n  check(sql);`), 'changed 4-6'],
  ['the line is deleted', 4, 4, cut, 'gone 3'],
  ['all around is deleted', 4, 5, code.split('\n').toSpliced(2, 5).join('\n'), 'gone 2'],
  ['the end is deleted', 9, 9, code.slice(0, code.indexOf('export function count')), 'gone 7'],
  ['the line is deleted beside an edited one', 4, 4, shorter, 'gone 3'],
  ['the line is edited beside a deleted one', 5, 5, shorter, 'changed 4'],
  ['the line is cut and pasted elsewhere', 4, 4, `${cut}\n${query}\n`, 'moved 11'],
  ['the line is pasted twice', 4, 4, `${cut}\n${query}\n${query}\n`, 'gone 3'],
  ['a part of the line is pasted', 4, 4, `${cut}\n${query.slice(0, 20)}\n`, 'gone 3'],
  ['only a common brace is left', 3, 6, code.replace(/export function find[^]*?\n\}\n/, ''), 'gone 2'],
  ['the file is emptied', 4, 5, '', 'gone 1'],
] as const)
  test(`lines ${String(startLine)} to ${String(endLine)} are “${wanted}” where ${name}`, () => {
    const now = followLines(splitLines(code), splitLines(edited))({ startLine, endLine });
    assert.equal(describeRange(now), wanted);
  });

test('code of several lines has moved if it is whole at exactly one other location', () => {
  const before = ['foo();', 'foo();', query, '', 'foo();'];
  const map = followLines(before, ['foo();', 'foo();', 'foo();', query, '']);
  assert.equal(describeRange(map({ startLine: 2, endLine: 3 })), 'moved 3-4');
});

test('a text with little in common leaves the state unknown', () => {
  const before = Array.from({ length: 400 }, (_, at) => (at % 2 === 0 ? 'same();' : `old(${String(at)});`));
  const now = Array.from({ length: 400 }, (_, at) => (at % 2 === 0 ? 'same();' : `fresh(${String(at)}, 1);`));
  const map = followLines(['first', ...before, 'last'], ['first', ...now, ...now, 'last']);
  assert.equal(describeRange(map({ startLine: 200, endLine: 202 })), 'unknown 200-202');
  assert.equal(describeRange(map({ startLine: 402, endLine: 402 })), 'moved 802');
});

test('a range in a very long text is followed like in a short one', () => {
  const before = Array.from({ length: 300_000 }, (_, at) => `line(${String(at)});`);
  const map = followLines(before, before.with(150_000, 'other();'));
  assert.equal(describeRange(map({ startLine: 1, endLine: 300_000 })), 'changed 1-300000');
});

test('100,000 differences or equal lines are not compared pairwise', () => {
  const calls = Array.from({ length: 100_000 }, (_, at) => `call(${String(at)});`);
  const zeros = (count: number) => Array.from({ length: count }, () => '0,');
  const start = cpuMs();
  const edited = calls.map((line, at) => (at % 2 === 0 ? line : `edited${line}`));
  const changed = followLines(calls, edited);
  assert.equal(describeRange(changed({ startLine: 1, endLine: 100_000 })), 'changed 1-100000');
  const lost = followLines(['first();', ...zeros(20_000), 'last();'], zeros(100_000));
  assert.equal(describeRange(lost({ startLine: 2, endLine: 20_001 })), 'unknown 2-20001');
  assert.ok(cpuMs() - start < 5_000);
});

/** Each edit is of one line; `insert` puts a new line before it. */
const edits = fc.array(
  fc.constantFrom('keep', 'keep', 'keep', 'keep', 'delete', 'edit', 'insert', 'indent', 'blank'),
  { minLength: 1, maxLength: 120 },
);

test('random edits are followed to their true location', () => {
  fc.assert(
    fc.property(edits, (kinds) => {
      const before = kinds.map((_, at) => `call(${'abcdefgh'.repeat(2)}, ${String(at)}, "${at * 7}");`);
      const now: string[] = [];
      const truth = kinds.map((kind, at) => {
        const line = before[at] ?? '';
        if (kind === 'insert') now.push(`// a new remark about ${String(at)}`);
        if (kind === 'blank') now.push('');
        if (kind !== 'delete')
          now.push(kind === 'edit' ? `${line} // edited` : kind === 'indent' ? `\t${line}` : line);
        return { kind, line: now.length };
      });
      const map = followLines(before, now);
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

test('every answer is a valid range', () => {
  const line = fc.constantFrom('one();', 'two();', 'three();', '', '}');
  const texts = fc.array(line, { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(texts, texts, fc.nat(), fc.nat(), (before, now, from, length) => {
      const startLine = 1 + (from % before.length);
      const endLine = Math.min(before.length, startLine + (length % 4));
      const { startLine: start, endLine: end } = followLines(before, now)({ startLine, endLine });
      assert.ok(1 <= start && start <= end && end <= now.length, `${String(start)}-${String(end)}`);
    }),
    { numRuns: propertyRuns(1_000) },
  );
});
