import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { changesOf, compareWithBase } from '../../../../src/core/findings/view/branchChanges.ts';
import { findOwners } from '../../../../src/core/findings/view/owners.ts';
import { testBlocks } from '../../core/blockedLoop.ts';
import { scratchFolder } from '../scratchFolder.ts';
import { invent } from '../shownFindings.ts';

const lineCount = 50_000;

await testBlocks(import.meta.filename, {
  'F160 1 MB of hostile CODEOWNERS patterns is matched in small steps': {
    prepare: async (after) => {
      const root = await scratchFolder({ after }, []);
      execFileSync('git', ['init', '--quiet', root]);
      const line = `/**/${'*a'.repeat(20)}/**/${'*a'.repeat(20)}b @x\n`;
      const text = `* @last\n${line.repeat(Math.ceil((1 << 20) / line.length))}`;
      await writeFile(join(root, 'CODEOWNERS'), text);
      const deep = join(root, ...Array<string>(20).fill('a'.repeat(60)));
      const files = ['1', '2', '3'].map((name) => join(deep, name));
      return async () => {
        const { owners } = await findOwners(new Set(files));
        assert.deepEqual([...owners.values()].flat(), ['@last', '@last', '@last']);
      };
    },
  },
  'F159 10,000 findings that each span 50,000 lines are compared with the base': {
    prepare: () => {
      const base = Array.from({ length: lineCount }, (_, at) => `line(${String(at)});`);
      const shown = Array.from({ length: 10_000 }, (_, index) => {
        const found = invent({ index, at: { path: 'a.js', line: 1 } });
        return { ...found, places: found.places.map((place) => ({ ...place, endLine: lineCount - 1 })) };
      });
      return () => {
        const changes = compareWithBase(base, [...base.slice(0, -1), 'changed();']);
        const changeOf = changesOf(new Map([['/home/dev/shop/a.js', changes]]));
        assert.ok(shown.every((each) => changeOf(each) === 'unchanged'));
      };
    },
  },
});
