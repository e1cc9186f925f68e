import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { changesOf, compareWithBase } from '../../../../src/core/findings/view/branchChanges.ts';
import { findOwners } from '../../../../src/core/findings/view/owners.ts';
import { testBlocks } from '../../core/blockedLoop.ts';
import { parseWorker } from '../parse/bundledWorker.ts';
import { scratchFolder } from '../scratchFolder.ts';
import { invent } from '../shownFindings.ts';

const lineCount = 200_000;

await testBlocks(import.meta.filename, {
  'F182 3 MB of hostile CODEOWNERS patterns end within their time, in the worker': {
    prepare: async (after) => {
      const root = await scratchFolder({ after }, []);
      execFileSync('git', ['init', '--quiet', root]);
      const line = `/**/${'*a'.repeat(20)}/**/${'*a'.repeat(20)}b @x\n`;
      const text = `* @last\n${line.repeat(Math.floor((3 << 20) / line.length) - 1)}`;
      await writeFile(join(root, 'CODEOWNERS'), text);
      const deep = join(root, ...Array<string>(20).fill('a'.repeat(60)));
      const files = Array.from({ length: 1_000 }, (_, at) => join(deep, String(at)));
      return async () => {
        const { owners, gaps } = await findOwners(new Set(files), parseWorker);
        assert.deepEqual([owners.size, gaps.map(({ lines }) => lines)], [0, ['tooComplex']]);
      };
    },
  },
  'F182 10,000 findings in a file of 200,000 lines are compared with the base': {
    prepare: () => {
      const base = Array.from({ length: lineCount }, (_, at) => `line(${String(at)});`);
      const shown = Array.from({ length: 10_000 }, (_, index) => {
        const found = invent({ index, at: { path: 'a.js', line: 1 } });
        return { ...found, places: found.places.map((place) => ({ ...place, endLine: lineCount - 1 })) };
      });
      const [before, now] = [base, [...base.slice(0, -1), 'changed();']].map((lines) => lines.join('\n'));
      return async () => {
        const changes = await compareWithBase(before, now, parseWorker);
        const changeOf = changesOf(new Map([['/home/dev/shop/a.js', changes]]));
        assert.ok(shown.every((each) => changeOf(each) === 'unchanged'));
      };
    },
  },
});
