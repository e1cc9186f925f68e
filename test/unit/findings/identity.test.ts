import assert from 'node:assert/strict';
import { sourceFor } from './findingFixture.ts';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { createFinder, fingerprintOf, type Identity } from '../../../src/core/findings/identity.ts';
import { parseFindings } from '../../../src/core/findings/parse/parseFindings.ts';
import { findSent } from '../../../src/core/findings/place/resolver.ts';
import type { SentOfRun } from '../../../src/core/findings/place/sentFiles.ts';
import { readResult } from '../../../src/core/findings/result/readResult.ts';
import { shopRun } from './importExport/exportingFindings.ts';
import { identityFor } from './shownFindings.ts';
import { scratchFolder } from './scratchFolder.ts';
import { propertyRuns } from '../core/propertyRuns.ts';

interface Item {
  readonly title: string;
  readonly cwe?: number | undefined;
  readonly file: string;
  readonly line: number;
  readonly snippet?: string | undefined;
}

/** The fingerprints of findings in one folder whose paths are valid. */
function prints(items: readonly Item[]): readonly string[] {
  const { findings } = parseFindings(JSON.stringify(items));
  return findings.map((each) => fingerprintOf(each, { path: each.places[0]?.path ?? '' }));
}

test('a fingerprint is of the weakness, or else the title, and of the quoted code without white space', () => {
  const item = { title: 'One wording', file: 'a.js', line: 1 };
  const [sql, quoted] = [
    { ...item, cwe: 89 },
    { ...item, snippet: 'db.query( sql )' },
  ];
  for (const [one, other, isSame] of [
    [item, { ...item, title: 'Other wording' }, false],
    [sql, { ...sql, title: 'Other wording' }, true],
    [sql, { ...item, cwe: 79 }, false],
    [quoted, { ...item, snippet: '\tdb.query(sql)\r\n' }, true],
    [quoted, { ...item, snippet: 'db.query(sql, [])' }, false],
  ] as const)
    assert.equal(prints([one])[0] === prints([other])[0], isSame, JSON.stringify(other));
});

test('the fingerprint of a live finding is of perspective or weakness, feature, method and URL path', () => {
  const item = {
    title: 'One wording',
    perspective: 'XSS',
    feature_name: 'Search',
    method: 'GET',
    url: 'https://shop.example/search?q=1',
  };
  const same: readonly object[] = [
    { title: 'Other wording' },
    { url: 'https://shop.example/search?q=%3Cscript%3E#top' },
    { cwe: 79 },
  ];
  const different: readonly object[] = [
    { perspective: 'Injection' },
    { feature_name: 'Search for people' },
    { method: 'POST' },
    { url: 'https://shop.example/find?q=1' },
  ];
  const printOf = (each: object): readonly string[] => prints([{ ...item, ...each } as unknown as Item]);
  for (const each of same) assert.deepEqual(printOf(each), printOf({}), JSON.stringify(each));
  for (const each of different) assert.notDeepEqual(printOf(each), printOf({}), JSON.stringify(each));
  const weakness = { perspective: undefined, cwe: 79 };
  assert.notDeepEqual(printOf(weakness), printOf({ ...weakness, cwe: 89 }));
});

test('a fingerprint is independent of local files and folder names', async (t) => {
  const root = await scratchFolder(t, []);
  const paths = ['a.js', 'src/a.js', 'lib/src/a.js', 'gone/b.js', '/workspace/repo/src/a.js', 'shop/a.js'];
  const machine = fc.record({
    name: fc.constantFrom('shop', 'src', 'tool'),
    here: fc.subarray(paths),
  });
  let count = 0;
  /** The fingerprints on one machine; `sent` is undefined if the sent files are unknown. */
  const printsOn = async (
    { name, here }: typeof machine extends fc.Arbitrary<infer Each> ? Each : never,
    items: readonly Item[],
    sent: readonly string[] | undefined,
  ): Promise<readonly string[]> => {
    const place = join(root, String((count += 1)));
    const [folder, runFolder] = [join(place, name), join(place, shopRun.id)];
    await mkdir(runFolder, { recursive: true });
    for (const file of here) {
      await mkdir(join(folder, file, '..'), { recursive: true });
      await writeFile(join(folder, file), 'code');
    }
    await writeFile(join(runFolder, 'findings.json'), JSON.stringify(items));
    const entries = sent?.map((path) => ({ path, bytes: 1, sha256: '' }));
    if (entries !== undefined)
      await writeFile(join(runFolder, 'manifest-0.json'), JSON.stringify({ entries }));
    // The run's name of the folder is the same everywhere.
    const run = { ...shopRun, targets: [{ folder, name: 'shop' }] };
    const folderOf = (id: string): string => join(runFolder, '..', id);
    const read = await readResult(run, sourceFor({ all: () => [run], folderOf }));
    await rm(place, { recursive: true });
    return read.findings.map(({ fingerprint }) => fingerprint);
  };
  await fc.assert(
    fc.asyncProperty(
      machine,
      machine,
      fc.array(fc.constantFrom(...paths), { maxLength: 4 }),
      fc.option(fc.subarray(paths.filter((path) => !path.startsWith('/'))), { nil: undefined }),
      async (one, other, files, sent) => {
        const items = files.map((file, at) => ({ title: 'SQL', file, line: at + 1 }));
        assert.deepEqual(await printsOn(one, items, sent), await printsOn(other, items, sent));
      },
    ),
    { numRuns: propertyRuns(15, 1_000) },
  );
});

test('a path with the number of its archive is resolved alike with and without the list of sent files', () => {
  const files = new Map([
    ['src/a.ts', { target: 0, folder: '/shop', path: 'src/a.ts', bytes: 1, sha256: '' }],
  ]);
  const pathOf = (reported: string, sent: SentOfRun): string => {
    const place = { path: reported, targetIndex: 0 };
    return findSent(shopRun.targets, sent, [place]).sentPath(place).path;
  };
  for (const reported of ['src/a.ts', '0/src/a.ts', './0/src/a.ts'])
    assert.deepEqual(
      [pathOf(reported, [files]), pathOf(reported, [undefined])],
      ['src/a.ts', 'src/a.ts'],
      reported,
    );
  for (const reported of ['0', '1/src/b.ts', 'shop/src/b.ts'])
    assert.equal(pathOf(reported, [undefined]), reported);
  assert.equal(
    pathOf('0/src/b.ts', [files]),
    '0/src/b.ts',
    'where it is known what was sent, nothing is guessed',
  );
});

test('F165 a finding is found by name, else by file and index, else by a fingerprint unique on both sides', () => {
  const [a, b, twin, other] = ['a', 'b', 'twin', 'other'].map((text) => identityFor(text));
  assert.ok(a && b && twin && other);
  const here = [a, b, { ...twin, fingerprint: 'twins' }, { ...other, fingerprint: 'twins' }];
  const unknown = identityFor('unknown');
  for (const [asked, wanted] of [
    [{ ...unknown, name: a.name, file: b.file, fingerprint: 'b' }, a],
    [{ ...unknown, file: b.file, fingerprint: 'a' }, b],
    [{ ...unknown, fingerprint: 'a' }, a],
    [{ ...unknown, fingerprint: 'twins' }, undefined],
    [unknown, undefined],
  ] satisfies readonly [Identity, Identity | undefined][]) {
    assert.equal(createFinder(here, [asked])(asked), wanted);
    const alike = { ...identityFor('another'), fingerprint: asked.fingerprint };
    const isByPrint = wanted?.name !== asked.name && wanted?.file !== asked.file;
    assert.equal(
      createFinder(here, [asked, alike])(asked),
      isByPrint ? undefined : wanted,
      'two are asked for',
    );
  }
});
