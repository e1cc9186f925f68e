import assert from 'node:assert/strict';
import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { leastOf } from '../../../../src/core/findings/place/evidence.ts';
import type { ShownFinding } from '../../../../src/core/findings/shownFinding.ts';
import type { Run } from '../../../../src/core/run/state/run.ts';
import { type FindingFixture, setUpFindings } from '../findingFixture.ts';
import { parseWorker } from '../parse/bundledWorker.ts';
import { packRun } from './locating.ts';

const code = `function find(id) {
  const sql = \`select * from orders where id=\${id}\`;

  return db.query(sql);
}
export const limit = 10;
`;
/** Part of bundled code. */
const bundled = Array.from({ length: 300 }, (_, at) => `f${at}(x);`).join('');
const sent = {
  'src/db.ts': code,
  'src/bundled.js': `begin();${bundled}end();\n${bundled}\n`,
  'src/other.ts': 'export const token = readToken(process.env);\n',
};

function evidenceOf(shown: readonly ShownFinding[]): readonly (string | undefined)[] {
  return shown.map(({ evidence }) => {
    const least = leastOf(evidence);
    if (least?.kind === 'notAsSent') return `${least.kind}: ${least.missing}`;
    return least?.kind === 'unchecked' ? `${least.kind}: ${least.unknown}` : least?.kind;
  });
}

/** Stores a run with these findings, by default in `src/db.ts`. */
function find(
  fixture: FindingFixture,
  findings: readonly object[],
  files: Readonly<Record<string, string | Buffer>> | undefined = sent,
): Promise<Run> {
  fixture.open.add(path.join(fixture.root, 'shop'));
  const usual = { title: 'SQL', cwe: 89, file: 'src/db.ts' };
  const text = JSON.stringify(findings.map((each) => ({ ...usual, ...each })));
  return fixture.addRun(['shop'], text, files);
}

/** The evidence of a run's findings in a new window. */
async function evidenceAfterRestart(
  fixture: FindingFixture,
  run: Run,
): Promise<readonly (string | undefined)[]> {
  return evidenceOf((await fixture.reopen(parseWorker).read(run)).shown);
}

test('F140 the evidence of a quote is in the sent text of its file, however it is written', async (t) => {
  const call = '  return db.query(sql);';
  const spaced = 'const sql =\t`select * from orders where id=${id}`;\nreturn   db.query(sql);';
  const inBundle = { file: 'src/bundled.js' };
  const locations = [
    { file: 'src/db.ts', line: 4, snippet: call },
    { file: 'src/other.ts', line: 1, snippet: 'export const token = "abc";' },
  ];
  const rows: readonly (readonly [string, string | undefined, string | undefined, object?])[] = [
    ['exact', call, 'asSent'],
    ['exact, of several lines, at another line', code, 'asSent', { line: 90 }],
    ['re-indented', spaced, 'asSent'],
    ['fenced', `\`\`\`ts\n${call}\n\`\`\``, 'asSent'],
    ['numbered', `4 | ${call}\n5 | }`, 'asSent'],
    ['part of a line', 'db.query(sql)', 'asSent'],
    ['with lines left out', `function find(id) {\n  // ...\n${call}`, 'asSent'],
    ['very long, and part of a line', bundled.slice(3), 'asSent', inBundle],
    ['very long, and invented', `${bundled}g(x);`, 'notAsSent: quote', inBundle],
    ['very long, with lines left out', `begin();\n…\n${bundled}`, 'asSent', inBundle],
    ['very long, the end invented', `begin();\n…\n${bundled}g(x);`, 'notAsSent: quote', inBundle],
    ['invented', 'return db.query(sql, [id]);', 'notAsSent: quote'],
    ['of lines that are not adjacent', `function find(id) {\n${call}`, 'notAsSent: quote'],
    ['of another file', sent['src/other.ts'], 'notAsSent: quote'],
    ['of a file that was not sent', call, 'notAsSent: file', { file: 'src/none.ts' }],
    ['missing, at an existing line', undefined, undefined],
    ['missing, at a line that does not exist', undefined, 'notAsSent: line', { line: 800 }],
    ['too short to be checked', '}', undefined],
    ['of two places, one of them invented', undefined, 'notAsSent: quote', { locations }],
  ];
  const fixture = await setUpFindings(t);
  await find(
    fixture,
    rows.map(([, snippet, , more]) => ({ line: 1, snippet, ...more })),
  );
  const found = evidenceOf(fixture.store.all());
  assert.deepEqual(
    Object.fromEntries(rows.map(([name], at) => [name, found[at]])),
    Object.fromEntries(rows.map(([name, , wanted]) => [name, wanted])),
  );
});

const quote = { line: 4, snippet: 'return db.query(sql);' };
const foreign = { line: 1, snippet: sent['src/other.ts'] };
const nowhere = { line: 1, snippet: 'nowhere(at, all);' };

test('F140 quotes are checked against the sent text, not the current one, and once', async (t) => {
  const fixture = await setUpFindings(t);
  const run = await find(fixture, [quote, foreign]);
  const file = path.join(fixture.root, 'shop', 'src', 'db.ts');
  await writeFile(file, sent['src/other.ts']);
  const checked = ['asSent', 'notAsSent: quote'];
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
  assert.deepEqual(evidenceOf(fixture.store.all()), ['notAsSent: file']);
  const shop = path.join(fixture.root, 'shop');
  await fixture.store.mapPaths(shop, 'built', path.join(shop, 'src'));
  assert.deepEqual(evidenceOf(fixture.store.all()), ['unchecked: file']);
  await fixture.store.forgetMappings(shop);
  assert.deepEqual(evidenceOf(fixture.store.all()), ['notAsSent: file']);
});

test('F140 a quote is unchecked if the sent text is unknown', async (t) => {
  const fixture = await setUpFindings(t);
  const run = await find(fixture, [quote, { line: 800 }]);
  const runFolder = fixture.runs.folderOf(run.id);
  for (const name of ['manifest-0.json', 'result.json']) await rm(path.join(runFolder, name));
  assert.deepEqual(await evidenceAfterRestart(fixture, run), ['unchecked: sent', undefined]);
});

test('F140 a quote that was not searched for in all that was sent is never called invented', async (t) => {
  const fixture = await setUpFindings(t);
  const invented = Array.from({ length: 501 }, (_, at) => ({
    line: 1,
    snippet: `nowhere(${String(at)}, all);`,
  }));
  const text = JSON.stringify(invented.map((each) => ({ title: 'SQL', file: 'src/db.ts', ...each })));
  // No window shows it, so that it is worked out once: each time, as many more are searched for.
  const run = await fixture.storeRun(['shop'], text, sent);
  const counts = Map.groupBy(evidenceOf((await fixture.store.read(run)).shown), (each) => each);
  assert.deepEqual(
    [...counts].map(([each, { length }]) => [each, length]),
    [
      ['notAsSent: quote', 500],
      ['unchecked: archive', 1],
    ],
  );
  const bundle = { ...run, state: 'imported', importedFrom: 'shop.zip' } as Run;
  await fixture.runs.create(bundle);
  await rm(path.join(fixture.runs.folderOf(run.id), 'result.json'));
  assert.deepEqual(new Set(await evidenceAfterRestart(fixture, bundle)), new Set(['unchecked: archive']));
});

test('F140 a quote is not called invented if more was sent than is searched', async (t) => {
  const fixture = await setUpFindings(t);
  const packed = await packRun(fixture, await find(fixture, [foreign, nowhere]), sent, 'zip');
  const manifest = path.join(fixture.runs.folderOf(packed.id), 'manifest-0.json');
  const { entries } = JSON.parse(await readFile(manifest, 'utf8')) as { entries: object[] };
  const more = Array.from({ length: 30 }, (_, at) => ({ path: `${at}.js`, bytes: 5_000_000, sha256: '' }));
  await writeFile(manifest, JSON.stringify({ entries: [...entries, ...more] }));
  assert.deepEqual(await evidenceAfterRestart(fixture, packed), ['elsewhere', 'unchecked: archive']);
});

test('F174 a quote keeps its evidence once the archive is gone, and a new one is never called invented', async (t) => {
  const fixture = await setUpFindings(t);
  const packed = await packRun(fixture, await find(fixture, [foreign, nowhere]), sent, 'zip');
  const runFolder = fixture.runs.folderOf(packed.id);
  assert.deepEqual(await evidenceAfterRestart(fixture, packed), ['elsewhere', 'notAsSent: quote']);
  await rm(path.join(runFolder, 'archive'));
  assert.deepEqual(await evidenceAfterRestart(fixture, packed), ['elsewhere', 'notAsSent: quote']);
  const text = [foreign, nowhere, { line: 1, snippet: 'invented(later);' }];
  const items = text.map((each) => ({ title: 'SQL', cwe: 89, file: 'src/db.ts', ...each }));
  await writeFile(path.join(runFolder, 'findings.json'), JSON.stringify(items));
  const wanted = ['elsewhere', 'notAsSent: quote', 'unchecked: archive'];
  assert.deepEqual(await evidenceAfterRestart(fixture, packed), wanted, 'downloaded again');
});
