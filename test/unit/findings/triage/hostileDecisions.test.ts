import assert from 'node:assert/strict';
import { isSameByTitle } from '../../../../src/core/findings/identity.ts';
import { entryOf, toBook } from '../../../../src/core/findings/triage/triage.ts';
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
const unquoted = decisions.slice(0, 10_000).map((each) => ({
  ...each,
  identity: {
    ...each.identity,
    fingerprint: '1:same',
    title: `Injection ${each.at}`,
    only: ['title'] as const,
  },
}));

await testBlocks(import.meta.filename, {
  'F146 30,000 decisions about one kind of finding in one file are found for as many findings of another run':
    {
      prepare: () => () => {
        const book = toBook(decisions);
        const found = decisions.map(({ identity }) => entryOf(book, { ...identity, run: 'run-2' }));
        assert.deepEqual(found.at(-1), decisions.at(-1));
      },
    },
  'F146 10,000 decisions about findings without a quote are found for as many findings of another run': {
    prepare: () => () => {
      const book = toBook(unquoted);
      for (const { identity } of unquoted) {
        const again = { ...identity, run: 'run-2' };
        assert.equal(entryOf(book, again), undefined);
        assert.equal(entryOf(book, again, isSameByTitle)?.at, identity.index);
      }
    },
  },
});
