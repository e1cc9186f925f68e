import assert from 'node:assert/strict';
import path from 'node:path';
import { isSameByTitle } from '../../../../src/core/findings/identity.ts';
import { noAcceptance } from '../../../../src/core/findings/triage/acceptance.ts';
import { entryName, entryOf, toBook, withDecisions } from '../../../../src/core/findings/triage/triage.ts';
import { writeDecisions } from '../../../../src/core/findings/triage/triageDisk.ts';
import { testBlocks } from '../../core/blockedLoop.ts';

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

const decidedAgain = unquoted.map((each) => ({ ...each, at: each.at + count }));

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
      const { entries } = withDecisions(toBook(unquoted), decidedAgain);
      assert.deepEqual(entries, decidedAgain);
    },
  },
  'F146 30,000 shared decisions about findings without a quote take the files of as many others': {
    prepare: () => {
      const counting = new Map(unquoted.map((entry) => [entryName(entry), entry]));
      // The answers are written first: a file instead of their folder ends the work before many files are written.
      const place = {
        kind: 'folder',
        path: import.meta.dirname,
        acceptance: path.join(import.meta.filename, 'accepted.json'),
      } as const;
      const known = {
        place,
        mark: '',
        book: toBook(unquoted),
        files: new Map(),
        counting,
        proposals: [],
        acceptance: noAcceptance,
      };
      return () =>
        assert.rejects(writeDecisions(import.meta.dirname, known, toBook(decidedAgain.toReversed()), 0), {
          kind: 'storage',
        });
    },
  },
});
