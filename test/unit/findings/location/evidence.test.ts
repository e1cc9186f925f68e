import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { checkEvidence, leastOf, type RunSource } from '../../../../src/core/findings/location/evidence.ts';
import type { ShownFinding } from '../../../../src/core/findings/shownFinding.ts';
import type { Run } from '../../../../src/core/run/state/run.ts';
import { type FindingFixture, setUpFindings } from '../findingFixture.ts';
import { parseWorker } from '../parse/bundledWorker.ts';
import { toUploaded } from '../result/storedManifest.ts';
import { scratchFolder } from '../scratchFolder.ts';

const code = `function find(id) {
  const sql = \`select * from orders where id=\${id}\`;

  return db.query(sql);
}
export const limit = 10;
`;
const bundled = Array.from({ length: 300 }, (_, at) => `f${at}(x);`).join('');
const uploaded = {
  'src/db.ts': code,
  'src/bundled.js': `begin();${bundled}end();\n${bundled}\n`,
  'src/other.ts': 'export const token = readToken(process.env);\n',
};

function evidenceOf(shown: readonly ShownFinding[]): readonly (string | undefined)[] {
  return shown.map(({ evidence }) => {
    const least = leastOf(evidence);
    if (least?.kind === 'quoteNotFound') return `${least.kind}: ${least.missing}`;
    return least?.kind === 'unchecked' ? `${least.kind}: ${least.unknown}` : least?.kind;
  });
}

/** Stores a run with these findings, by default in `src/db.ts`. */
function find(
  fixture: FindingFixture,
  findings: readonly object[],
  files: Readonly<Record<string, string | Buffer>> | undefined = uploaded,
): Promise<Run> {
  fixture.open.add(path.join(fixture.root, 'shop'));
  const usual = { title: 'SQL', cwe: 89, file: 'src/db.ts' };
  const text = JSON.stringify(findings.map((each) => ({ ...usual, ...each })));
  return fixture.addRun(['shop'], text, files);
}

async function evidenceAfterRestart(fixture: FindingFixture, run: Run) {
  return evidenceOf((await fixture.reopen(parseWorker).read(run)).shown);
}

test('F140 the evidence of a quote is in the uploaded text of its file, however it is written', async (t) => {
  const call = '  return db.query(sql);';
  const spaced = 'const sql =\t`select * from orders where id=${id}`;\nreturn   db.query(sql);';
  const inBundle = { file: 'src/bundled.js' };
  const locations = [
    { file: 'src/db.ts', line: 4, snippet: call },
    { file: 'src/other.ts', line: 1, snippet: 'export const token = "abc";' },
  ];
  const rows: readonly (readonly [string, string | undefined, string | undefined, object?])[] = [
    ['exact', call, 'quoteFound'],
    ['exact, of several lines, at another line', code, 'quoteFound', { line: 90 }],
    ['re-indented', spaced, 'quoteFound'],
    ['fenced', `\`\`\`ts\n${call}\n\`\`\``, 'quoteFound'],
    ['numbered', `4 | ${call}\n5 | }`, 'quoteFound'],
    ['part of a line', 'db.query(sql)', 'quoteFound'],
    ['with lines left out', `function find(id) {\n  // ...\n${call}`, 'quoteFound'],
    ['very long, and part of a line', bundled.slice(3), 'quoteFound', inBundle],
    ['very long, and invented', `${bundled}g(x);`, 'quoteNotFound: quote', inBundle],
    ['very long, with lines left out', `begin();\n…\n${bundled}`, 'quoteFound', inBundle],
    ['very long, the end invented', `begin();\n…\n${bundled}g(x);`, 'quoteNotFound: quote', inBundle],
    ['invented', 'return db.query(sql, [id]);', 'quoteNotFound: quote'],
    ['of lines that are not adjacent', `function find(id) {\n${call}`, 'quoteNotFound: quote'],
    ['of another file', uploaded['src/other.ts'], 'quoteNotFound: quote'],
    ['of a file that was not sent', call, 'quoteNotFound: file', { file: 'src/none.ts' }],
    ['missing, at an existing line', undefined, undefined],
    ['missing, at a line that does not exist', undefined, 'quoteNotFound: line', { line: 800 }],
    ['too short to be checked', '}', undefined],
    ['of two places, one of them invented', undefined, 'quoteNotFound: quote', { locations }],
  ];
  const fixture = await setUpFindings(t);
  const items = rows.map(([, snippet, , more]) => ({ line: 1, snippet, ...more }));
  await find(fixture, items);
  const found = evidenceOf(fixture.store.all());
  for (const [at, [name, , wanted]] of rows.entries()) assert.equal(found[at], wanted, name);
});

const quote = { line: 4, snippet: 'return db.query(sql);' };
const foreign = { line: 1, snippet: uploaded['src/other.ts'] };

test('F140 quotes are checked against the uploaded text, not the current one, and once', async (t) => {
  const fixture = await setUpFindings(t);
  const run = await find(fixture, [quote, foreign]);
  const file = path.join(fixture.root, 'shop', 'src', 'db.ts');
  await writeFile(file, uploaded['src/other.ts']);
  const checked = ['quoteFound', 'quoteNotFound: quote'];
  assert.deepEqual(await evidenceAfterRestart(fixture, run), checked);
  const runFolder = fixture.runs.folderOf(run.id);
  await rm(path.join(runFolder, 'source'), { recursive: true });
  assert.deepEqual(await evidenceAfterRestart(fixture, run), checked);
  await rm(path.join(runFolder, 'details.jsonl'));
  assert.deepEqual(await evidenceAfterRestart(fixture, run), checked);
  await rm(path.join(runFolder, 'result.json'));
  assert.deepEqual(await evidenceAfterRestart(fixture, run), ['unchecked: text', 'unchecked: text']);
});

test('F140 a quote in a file that only a mapping finds cannot be checked', async (t) => {
  const fixture = await setUpFindings(t);
  await find(fixture, [{ ...quote, file: 'built/db.ts' }]);
  assert.deepEqual(evidenceOf(fixture.store.all()), ['quoteNotFound: file']);
  const shop = path.join(fixture.root, 'shop');
  await fixture.store.mapPaths(shop, 'built', path.join(shop, 'src'));
  assert.deepEqual(evidenceOf(fixture.store.all()), ['unchecked: file']);
  await fixture.store.forgetMappings(shop);
  assert.deepEqual(evidenceOf(fixture.store.all()), ['quoteNotFound: file']);
});

test('F140 a quote is unchecked if the uploaded text is unknown', async (t) => {
  const fixture = await setUpFindings(t);
  const run = await find(fixture, [quote, { line: 800 }]);
  const runFolder = fixture.runs.folderOf(run.id);
  for (const name of ['manifest-0.json', 'result.json']) await rm(path.join(runFolder, name));
  assert.deepEqual(await evidenceAfterRestart(fixture, run), ['unchecked: upload', undefined]);
});

test('F140 a quote keeps its evidence once the uploaded text is gone, and a new one cannot be checked', async (t) => {
  const fixture = await setUpFindings(t);
  const run = await find(fixture, [quote, foreign]);
  const runFolder = fixture.runs.folderOf(run.id);
  await rm(path.join(runFolder, 'source'), { recursive: true });
  await writeFile(path.join(fixture.root, 'shop', 'src', 'db.ts'), '');
  const items = [quote, foreign, { line: 1, snippet: 'invented(later);' }];
  const text = items.map((each) => ({ title: 'SQL', cwe: 89, file: 'src/db.ts', ...each }));
  await writeFile(path.join(runFolder, 'findings.json'), JSON.stringify(text));
  const wanted = ['quoteFound', 'quoteNotFound: quote', 'unchecked: text'];
  assert.deepEqual(await evidenceAfterRestart(fixture, run), wanted, 'downloaded again');
});

/** The file has 1,000 lines. It is known or not whether it was uploaded. */
async function checkMany(t: TestContext, isUploadKnown: boolean, maxMs?: number) {
  const folder = await scratchFolder(t, []);
  const lines = Array.from({ length: 1_000 }, (_, at) => `call${String(at)}(input);`);
  const text = lines.join('\n');
  await writeFile(path.join(folder, 'a.js'), text);
  const file = toUploaded('a.js', { 'a.js': text }, folder)!;
  let reads = 0;
  const source: RunSource = {
    run: { targets: [{ folder, name: 'shop' }] } as unknown as Run,
    runFolder: folder,
    uploaded: [isUploadKnown ? new Map([['a.js', file]]) : undefined],
    uploadedFile: () => (isUploadKnown ? file : undefined),
    decode: (bytes) => {
      reads += 1;
      return { text: bytes.toString('utf8'), isExact: true };
    },
  };
  const locations = lines.map((line) => ({ path: 'a.js', startLine: 1, snippet: line.slice(1) }));
  const checked = [...(await checkEvidence(locations, source, new Map(), maxMs)).values()];
  return { checked, reads };
}

test('F140 the file of many quotes is read once, whether it is known what was uploaded or not', async (t) => {
  for (const isUploadKnown of [true, false]) {
    const { checked, reads } = await checkMany(t, isUploadKnown);
    assert.equal(reads, 1);
    assert.equal(checked.length, 1_000);
    for (const [at, { anchored }] of checked.entries()) assert.equal(anchored.startLine, at + 1);
  }
});

test('F202 a quote that is not checked in time cannot be checked, and its place stays as it was reported', async (t) => {
  const { checked } = await checkMany(t, true, -1);
  const evidence = { kind: 'unchecked', path: 'a.js', unknown: 'quote' };
  assert.deepEqual(
    checked.map((each) => [each.anchored.startLine, each.evidence]),
    Array.from({ length: 1_000 }, () => [1, evidence]),
  );
});
