import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { identityOf } from '../../../../src/core/findings/identity.ts';
import { entryOf, formatLine, readBook } from '../../../../src/core/findings/triage/book.ts';
import { type ReadDecisions, readDecisions } from '../../../../src/core/findings/triage/triageFiles.ts';
import { FolderCalls, inSlices } from '../../../../src/core/yieldingWork.ts';
import { silent } from '../../../silentLog.ts';
import { testBlocks, type Work } from '../../core/blockedLoop.ts';
import { scratchFolder } from '../scratchFolder.ts';
import { identityFor } from '../shownFindings.ts';

const count = 30_000;
const decisions = Array.from({ length: count }, (_, index) => ({
  ...identityOf(identityFor('run-1', index)),
  // Findings without a quote share a fingerprint.
  fingerprint: '1:same',
  title: 'Injection',
  state: 'confirmed' as const,
  note: '',
  at: index,
  path: 'src/db.ts',
}));
const again = decisions.map((each) => ({ ...each, at: each.at + count }));

async function readingBook(
  after: Parameters<Work['prepare']>[0],
  lines: string,
  check: (read: ReadDecisions) => void,
): Promise<() => Promise<void>> {
  const folder = await scratchFolder({ after }, []);
  const book = path.join(folder, 'book.jsonl');
  await writeFile(book, `${lines}\n`);
  return async () => check(await readDecisions(folder, { book }, new FolderCalls(silent)));
}

await testBlocks(import.meta.filename, {
  'F146 30,000 decisions are found for as many findings of another report, and by another name': {
    prepare: () => {
      const content = Buffer.from(decisions.map(formatLine).join('\n'));
      return async () => {
        const book = await inSlices(readBook(content));
        for (const { name, file, index } of decisions) {
          assert.equal(entryOf(book, { name, file: '0'.repeat(16), index })?.at, index);
          assert.equal(entryOf(book, { name: `${'0'.repeat(16)}:${String(index)}`, file, index })?.at, index);
        }
      };
    },
  },
  'F146 a book with 30,000 decisions that replace as many is read': {
    prepare: (after) =>
      readingBook(after, [...decisions, ...again].map(formatLine).join('\n'), ({ book }) =>
        assert.deepEqual([...(book?.entries.values() ?? [])].map(formatLine), again.map(formatLine)),
      ),
  },
  'F187 a book of 60 MB in one line is damaged, and the decisions after it are read': {
    prepare: (after) => {
      const content = [`[${'{},'.repeat(20e6)}{}]`, ...decisions.slice(0, 3).map(formatLine)].join('\n');
      return readingBook(after, content, ({ book, failures }) =>
        assert.deepEqual([book?.entries.size, failures[0]?.kind], [3, 'triageDamaged']),
      );
    },
  },
});
