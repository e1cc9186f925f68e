import assert from 'node:assert/strict';
import { sourceFor } from '../findingFixture.ts';
import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { changesOf, compareWithBase } from '../../../../src/core/findings/view/branchChanges.ts';
import { addOwners, locateAgain, locateUnread, readView } from '../../../../src/core/findings/runView.ts';
import { utf8Only } from '../../../../src/core/findings/location/uploadedFiles.ts';
import { FolderCalls } from '../../../../src/core/yieldingWork.ts';
import { silent } from '../../../silentLog.ts';
import { testBlocks } from '../../core/blockedLoop.ts';
import { shopRun } from '../importExport/exportingFindings.ts';
import { scratchFolder } from '../scratchFolder.ts';
import { invent } from '../shownFindings.ts';

/** The run of `shop` reports findings in these files below the root, which nobody has edited. */
async function setUpRun(after: (cleanUp: () => unknown) => void, root: string, files: readonly string[]) {
  const run = { ...shopRun, targets: [{ folder: root, name: 'shop' }] };
  const runFolder = join(await scratchFolder({ after }, []), run.id);
  await mkdir(runFolder);
  const findings = files.map((file) => ({ title: 'Invented finding', file }));
  await writeFile(join(runFolder, 'findings.json'), JSON.stringify(findings));
  const folderOf = (id: string): string => join(runFolder, '..', id);
  const runs = { all: () => [run], get: () => run, folderOf };
  const texts = () => ({ edited: new Map(), encodings: utf8Only });
  const mappings = { get: () => undefined, update: () => Promise.resolve() };
  const calls = new FolderCalls(silent);
  const source = { ...sourceFor(runs), runs, calls, log: silent, texts, mappings };
  const read = async () => locateUnread(await readView(run, undefined, source), source);
  return { source, read };
}

await testBlocks(import.meta.filename, {
  'F182 3 MB of hostile CODEOWNERS patterns end within their time, in the worker': {
    prepare: async (after) => {
      const root = await scratchFolder({ after }, []);
      execFileSync('git', ['init', '--quiet', root]);
      // One file alone takes longer than the worker may.
      const line = `**/*${'a'.repeat(120)}b* @x\n`;
      const text = `* @last\n${line.repeat(Math.floor((3 << 20) / line.length) - 1)}`;
      await writeFile(join(root, 'CODEOWNERS'), text);
      const deep = Array<string>(12).fill('a'.repeat(255)).join('/');
      await mkdir(join(root, deep), { recursive: true });
      const files = Array.from({ length: 100 }, (_, at) => `${deep}/${String(at)}`);
      for (const file of files) await writeFile(join(root, file), 'code');
      const { source, read } = await setUpRun(after, root, files);
      return async () => {
        const { owners } = await addOwners(await read(), source);
        assert.ok(owners !== 'unknown');
        const gaps = owners.ownersGaps.map(({ lines }) => lines);
        const of = new Set(owners.owners.values());
        assert.deepEqual([owners.owners.size, [...of], gaps], [100, ['unknown'], ['tooComplex']]);
      };
    },
  },
  'F146 5,000 files that appear leave 1,000 missing ones missing, though all have one name': {
    prepare: async (after) => {
      const root = await scratchFolder({ after }, []);
      const indexes = (folder: string, count: number): readonly string[] =>
        Array.from({ length: count }, (_, at) => `${folder}/${String(at)}/index.ts`);
      const { read, source } = await setUpRun(after, root, indexes('src', 1_000));
      const view = await read();
      const created = new Set(indexes('build', 5_000).map((file) => join(root, file)));
      return async () => {
        assert.deepEqual([view.found.length, view.locations.size], [1_000, 0]);
        assert.equal(await locateAgain(view, new Set(), created, source), view);
      };
    },
  },
  'F182 10,000 findings in a file of 12,000 changed lines are compared with the base, as far as that is bounded':
    {
      prepare: () => {
        const [base, now] = [0, 1].map((version) =>
          Array.from({ length: 12_000 }, (_, at) => `line(${String(at % 3 ? at : version + at)});`).join(
            '\n',
          ),
        );
        const shown = Array.from({ length: 10_000 }, (_, at) =>
          invent({ index: at, at: { path: 'a.js', line: at + 1 } }),
        );
        return () => {
          const changeOf = changesOf(new Map([['/home/dev/shop/a.js', compareWithBase(base, now)]]));
          const counts = Map.groupBy(shown, changeOf);
          const unknown = counts.get('unknown') ?? [];
          assert.deepEqual([counts.get('noFile'), unknown.length > 0], [undefined, true]);
          return Promise.resolve();
        };
      },
    },
});
