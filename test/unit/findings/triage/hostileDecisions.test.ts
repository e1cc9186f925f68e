import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isSameByTitle } from '../../../../src/core/findings/identity.ts';
import {
  bookOf,
  entryOf,
  formatLine,
  type TriageBook,
  type TriageEntry,
} from '../../../../src/core/findings/triage/book.ts';
import { type ReadDecisions, readDecisions } from '../../../../src/core/findings/triage/triageDisk.ts';
import { testBlocks, type Work } from '../../core/blockedLoop.ts';

const count = 30_000;
const decisions = Array.from({ length: count }, (_, index) => ({
  identity: {
    fingerprint: `1:${index}`,
    spot: 'CWE-89 src/db.ts',
    title: 'Injection',
    only: ['code'] as const,
    run: 'run-1',
    index,
  },
  state: 'confirmed' as const,
  note: '',
  at: index,
  path: 'src/db.ts',
}));

/** Findings without a quote share a fingerprint. */
const unquoted = decisions.map((each) => ({
  ...each,
  identity: {
    ...each.identity,
    fingerprint: '1:same',
    title: `Injection ${each.at}`,
    only: ['title'] as const,
  },
}));

function toBook(decided: readonly TriageEntry[]): TriageBook {
  const steps = bookOf(decided);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

const decidedAgain = unquoted.map((each) => ({ ...each, at: each.at + count }));

async function readingBook(
  after: Parameters<Work['prepare']>[0],
  lines: string,
  check: (read: ReadDecisions) => void,
): Promise<() => Promise<void>> {
  const folder = await mkdtemp(path.join(tmpdir(), 'book-'));
  after(() => rm(folder, { recursive: true }));
  const book = path.join(folder, 'book.jsonl');
  await writeFile(book, `${lines}\n`);
  return async () => check(await readDecisions(folder, { book }, undefined, 0));
}

await testBlocks(import.meta.filename, {
  'F146 30,000 decisions about one kind of finding in one file are found for as many findings of another run':
    {
      prepare: () => () => {
        const book = toBook(decisions);
        const found = decisions.map(({ identity }) => entryOf(book, { ...identity, run: 'run-2' }));
        assert.deepEqual(found.at(-1), decisions.at(-1));
      },
    },
  'F146 30,000 decisions about findings without a quote are found for as many findings of another run': {
    prepare: () => () => {
      const book = toBook(unquoted);
      for (const { identity } of unquoted) {
        const again = { ...identity, run: 'run-2' };
        assert.equal(entryOf(book, again), undefined);
        assert.equal(entryOf(book, again, isSameByTitle)?.at, identity.index);
      }
    },
  },
  'F146 30,000 decisions about findings without a quote replace as many': {
    prepare: () => () => {
      const { entries } = toBook([...unquoted, ...decidedAgain]);
      assert.deepEqual(entries, decidedAgain);
    },
  },
  'F146 a book with 30,000 decisions about findings without a quote is read': {
    prepare: (after) =>
      readingBook(after, unquoted.map(formatLine).join('\n'), ({ book }) =>
        assert.equal(book.entries.length, count),
      ),
  },
  'F187 a book of 60 MB in one line is damaged, and the decisions after it are read': {
    prepare: (after) => {
      const content = [`[${'{},'.repeat(20e6)}{}]`, ...decisions.slice(0, 3).map(formatLine)].join('\n');
      return readingBook(after, content, ({ book, failures }) =>
        assert.deepEqual([book.entries.length, failures[0]?.kind], [3, 'triageDamaged']),
      );
    },
  },
});
