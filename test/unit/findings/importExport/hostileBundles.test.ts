import assert from 'node:assert/strict';
import { join } from 'node:path';
import { importRun } from '../../../../src/core/findings/importExport/importFile.ts';
import type { ImportedFile } from '../../../../src/core/findings/importExport/readContent.ts';
import { testBlocks, type Work } from '../../core/blockedLoop.ts';
import { clock, type FindingFixture, setUpFindings, titles } from '../findingFixture.ts';
import { artifacts, bundleOf, importOf } from './bundles.ts';
import { sourceOf } from './exportingFindings.ts';

const items = Array.from({ length: 100 }, (_, at) => ({ title: `${at}`, file: `a${at}.js`, line: 1 }));

/** Only the transfer from the worker counts. */
const maxMs = 15;

/** Reads a bundle in the worker, as the editor does. */
function work(bundle: () => Buffer, act: (imported: ImportedFile, fixture: FindingFixture) => unknown): Work {
  return {
    maxMs,
    prepare: async (after) => {
      const fixture = await setUpFindings({ after });
      const content = bundle();
      return async () => act(await importOf(content), fixture);
    },
  };
}

const pathOf = (at: number): string => `packages/part${at % 1000}/src/module/file-of-some-length-${at}.ts`;
const files = Array.from({ length: 190_000 }, (_, at) => ({ path: pathOf(at), bytes: 1, sha256: 'ab' }));
const manifest = { 'manifest-0.json': JSON.stringify({ entries: files }) };

await testBlocks(import.meta.filename, {
  'F146 a bundle of a run of 190,000 files is read': work(
    () => bundleOf({ ...artifacts, ...manifest }),
    ({ files: { size } }) => assert.equal(size, 3),
  ),
  'F146 of 150,000 decisions those of findings that are shown are read': work(
    () => {
      const source = sourceOf(items.slice(0, 1));
      const [one] = source.shown;
      const shown = files.slice(0, 150_000).map((_, index) => ({
        ...one!,
        index,
        triage: { state: 'confirmed' as const, note: 'x', at: 1 },
      }));
      return bundleOf(artifacts, { ...source, shown });
    },
    ({ decisions }) => assert.equal(decisions.length, 1),
  ),
  'F146 a bundle of 120 MB is read': work(
    () =>
      bundleOf({
        'findings.json': JSON.stringify([
          { title: 'x', severity: 'low', description: 'y'.repeat(60_000_000) },
        ]),
        'report.md': 'z'.repeat(60_000_000),
      }),
    ({ findings }) => assert.equal(findings, 1),
  ),
  'F146 a run of 190,000 files is shown': {
    prepare: async (after) => {
      const fixture = await setUpFindings({ after });
      const folder = join(fixture.root, 'shop');
      fixture.open.add(folder);
      const imported = await importOf(bundleOf({ 'findings.json': JSON.stringify(items), ...manifest }));
      const origin = { fileName: 'b.zip', targets: [{ folder, name: 'shop' }] };
      await importRun(imported, origin, { store: fixture.runs, clock });
      return async () => {
        await fixture.store.load();
        assert.equal(titles(fixture).length, items.length);
      };
    },
  },
});
