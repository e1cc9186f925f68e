import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  changesOf,
  compareWithBase,
  type FileChanges,
  originalPaths,
} from '../../../../src/core/findings/view/branchChanges.ts';
import { toPredicate } from '../../../../src/core/findings/view/filter.ts';
import { pausesWhile } from '../../core/cpuTime.ts';
import { invent, type Invented } from '../shownFindings.ts';

const edit = fc.constantFrom('keep', 'indent', 'change', 'delete', 'insert');

test('F159 exactly the lines that were written since the base are changed', () => {
  fc.assert(
    fc.property(fc.array(edit, { minLength: 1, maxLength: 60 }), (edits) => {
      const now: string[] = [];
      const isWritten: boolean[] = [];
      const write = (line: string, isNew: boolean): void => {
        now.push(line);
        isWritten.push(isNew);
      };
      for (const [at, each] of edits.entries()) {
        if (each === 'insert') write(`inserted(${String(at)});`, true);
        if (each === 'change') write(`changed(${String(at)});`, true);
        if (each === 'indent') write(`\t  line(${String(at)});`, false);
        if (each === 'keep' || each === 'insert') write(`line(${String(at)});`, false);
      }
      const before = edits.map((_, at) => `line(${String(at)});`);
      const differs = compareWithBase(before.join('\n'), now.join('\n'));
      const changed = now.map((_, at) => differs({ startLine: at + 1, endLine: at + 1 }));
      assert.deepEqual(changed, isWritten);
      const whole = edits.some((each) => each !== 'keep' && each !== 'indent');
      assert.equal(differs(), whole);
    }),
  );
});

test('F159 a range is changed where a line between its lines was deleted, and not where its code was moved', () => {
  const before = 'check(id);\nload(id);\n\nsend(page);\nclose(all);';
  const deleted = compareWithBase(before, 'check(id);\n\nsend(page);\nclose(all);');
  assert.equal(deleted({ startLine: 1, endLine: 3 }), true);
  assert.equal(deleted({ startLine: 3, endLine: 4 }), false);
  const moved = compareWithBase(before, 'load(id);\nsend(page);\nclose(all);\ncheck(id);');
  assert.equal(moved({ startLine: 4, endLine: 4 }), false);
});

test('F159 a file that the base lacks is changed, one whose text is not known hides nothing', () => {
  const files = new Map<string, FileChanges>([
    ['/home/dev/shop/new.js', compareWithBase(null, 'one')],
    ['/home/dev/shop/unread.js', compareWithBase(undefined, 'one')],
    ['/home/dev/shop/same.js', compareWithBase('one', 'one')],
    ['/home/dev/shop/gone.js', compareWithBase('one\ntwo', 'one')],
  ]);
  const state = { kind: 'known', base: 'origin/main', changeOf: changesOf(files) } as const;
  const passes = toPredicate({ changedOnBranch: true }, state);
  const cases: [Invented['at'], string, boolean][] = [
    [{ path: 'new.js', line: 1 }, 'changed', true],
    [{ path: 'unread.js', line: 1 }, 'unknown', true],
    [{ path: 'elsewhere.js', line: 1 }, 'unknown', true],
    [{ path: 'same.js', line: 1 }, 'unchanged', false],
    [{ path: 'same.js' }, 'unchanged', false],
    [{ path: 'gone.js', line: 1, drift: 'gone' }, 'changed', true],
    [undefined, 'noFile', false],
  ];
  for (const [location, change, isShown] of cases) {
    const shown = invent({ at: location });
    assert.equal(state.changeOf(shown), change, JSON.stringify(location));
    assert.equal(passes(shown), isShown, JSON.stringify(location));
    for (const unknown of [{ kind: 'pending' }, { kind: 'unavailable', why: 'noBase' }] as const)
      assert.ok(toPredicate({ changedOnBranch: true }, unknown)(shown));
  }
});

test('F159 a finding in several files is changed where one of its locations is', () => {
  const files = new Map(['a.js', 'b.js'].map((name) => [`/home/dev/shop/${name}`, () => name === 'b.js']));
  const [one, other] = ['a.js', 'b.js'].flatMap((name) => invent({ at: { path: name, line: 1 } }).locations);
  assert.ok(one && other);
  assert.equal(changesOf(files)({ locations: [one, other] }), 'changed');
  assert.equal(changesOf(files)({ locations: [one] }), 'unchanged');
});

test('F182 the paths of 200,000 changed files are noted between turns of the event loop', async () => {
  const changes = Array.from({ length: 200_000 }, (_, at) => {
    const uri = { fsPath: `/shop/src/${String(at)}.js` };
    return { uri, originalUri: at === 7 ? { fsPath: '/shop/old.js' } : uri };
  });
  const { result, pausesMs } = await pausesWhile(() => originalPaths(changes));
  assert.deepEqual([result.get('/shop/src/7.js'), result.size], ['/shop/old.js', changes.length]);
  assert.ok(pausesMs.length > 5, `${String(pausesMs.length)} turns, the longest ${pausesMs.at(-1)} ms`);
});
