import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { testBlocks, type Work } from '../../core/blockedLoop.ts';
import { type FindingFixture, setUpFindings, toVerdicts } from '../findingFixture.ts';
import { parseWorker } from '../parse/bundledWorker.ts';

/** Bundled code has 2 MB in one line. */
const minified = Array.from({ length: 100_000 }, (_, at) => `if (a${at}) b(c, ${at});`).join('');
const count = 200;
const findings = JSON.stringify(
  Array.from({ length: count }, (_, at) => ({
    title: `Injection ${at}`,
    severity: 'high',
    cwe: 89,
    file: 'bundled.js',
    line: 2,
    snippet: `if (a${at * 400}) b(c, ${at * 400});`,
  })),
);

type ShopFixture = FindingFixture & { readonly file: string };
async function openShop(after: Parameters<Work['prepare']>[0]): Promise<ShopFixture> {
  const fixture = await setUpFindings({ after }, 'shop');
  return { ...fixture, file: path.join(fixture.root, 'shop', 'bundled.js') };
}

function textWith(line: string): string {
  return `// bundled\n${line}\n`;
}

/** The line almost contains the quote at every position. */
const [repeated, almost] = ['a'.repeat(1_000_000), `${'a'.repeat(15_000)}b${'a'.repeat(15_000)}`];

await testBlocks(import.meta.filename, {
  'F146 a quote that a line of 1 MB has almost everywhere is not in it; one that it has everywhere is unchecked':
    {
      prepare: async (after) => {
        const fixture = await openShop(after);
        const item = { title: 'A', file: 'bundled.js', line: 1 };
        const items = [almost, repeated.slice(0, 15_000)].map((snippet) => ({ ...item, snippet }));
        const quotes = JSON.stringify(items);
        const run = await fixture.addRun(['shop'], quotes, { 'bundled.js': repeated });
        return async () => {
          const { shown } = await fixture.reopen(parseWorker).read(run);
          assert.deepEqual(
            shown.flatMap((each) => each.evidence),
            [
              { kind: 'quoteNotFound', path: 'bundled.js', missing: 'quote' },
              { kind: 'unchecked', path: 'bundled.js', unknown: 'quote' },
            ],
          );
        };
      },
    },
  'F146 200 findings in a line of 2 MB: they are placed': {
    prepare: async (after) => {
      const fixture = await openShop(after);
      const run = await fixture.addRun(['shop'], findings, { 'bundled.js': textWith(minified) });
      return async () => {
        const { shown } = await fixture.reopen(parseWorker).read(run);
        assert.equal(shown.filter(({ locations }) => locations[0]?.drift === 'same').length, count);
      };
    },
  },
  'F146 200 findings in a line of 2 MB: keys are typed in it': {
    maxMs: 100,
    prepare: async (after) => {
      const fixture = await openShop(after);
      await fixture.addRun(['shop'], findings, { 'bundled.js': textWith(minified) });
      const drifts = () => new Set(fixture.store.all().map(({ locations }) => locations[0]?.drift));
      await fixture.edit(fixture.file, textWith(`x${minified}`));
      return async () => {
        await fixture.edit(fixture.file, textWith(`xy${minified}`));
        assert.deepEqual(drifts(), new Set(['changed']));
        await fixture.edit(fixture.file, textWith(minified));
        assert.deepEqual(drifts(), new Set(['same']));
        await fixture.edit(fixture.file, `\n${textWith(minified)}`);
        assert.deepEqual(drifts(), new Set(['moved']));
      };
    },
  },
  'F146 200 findings in a line of 2 MB: two runs are compared, and what is not compared is not called absent':
    {
      prepare: async (after) => {
        const fixture = await openShop(after);
        await fixture.addRun(['shop'], findings, { 'bundled.js': textWith(minified) });
        const changed = textWith(`x();${minified}`);
        await writeFile(fixture.file, changed);
        // The quotes differ, so that their lines are compared.
        const shorter = findings.replace(/"snippet":"if /g, '"snippet":"');
        const run = await fixture.addRun(['shop'], shorter, { 'bundled.js': changed });
        return async () => {
          const { shown, absent = [] } = await fixture.reopen(parseWorker).read(run);
          const verdicts = Object.values(toVerdicts([...shown, ...absent]));
          assert.deepEqual(new Set(verdicts), new Set(['stillPresent']));
          assert.equal(verdicts.length, count);
        };
      },
    },
});
