import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { checkEvidence, leastOf } from '../../../../src/core/findings/place/evidence.ts';
import { createResolver } from '../../../../src/core/findings/place/resolver.ts';
import { readSent } from '../../../../src/core/findings/place/sentFiles.ts';
import type { ShownFinding } from '../../../../src/core/findings/shownFinding.ts';
import { zipBundle } from '../../../../src/core/findings/importExport/bundle.ts';
import type { Run } from '../../../../src/core/run/state/run.ts';
import { type FindingFixture, setUpFindings } from '../findingFixture.ts';
import { parseWorker } from '../parse/bundledWorker.ts';

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

for (const [name, place, wanted] of [
  ['exact', { line: 4, snippet: '  return db.query(sql);' }, 'asSent'],
  ['exact, of several lines, at another line', { line: 90, snippet: code }, 'asSent'],
  [
    're-indented',
    { line: 2, snippet: 'const sql =\t`select * from orders where id=${id}`;\nreturn   db.query(sql);' },
    'asSent',
  ],
  ['fenced', { line: 4, snippet: '```ts\n  return db.query(sql);\n```' }, 'asSent'],
  ['numbered', { line: 4, snippet: '4 |   return db.query(sql);\n5 | }' }, 'asSent'],
  ['part of a line', { line: 4, snippet: 'db.query(sql)' }, 'asSent'],
  [
    'with lines left out',
    { line: 1, snippet: 'function find(id) {\n  // ...\n  return db.query(sql);' },
    'asSent',
  ],
  [
    'very long, in one part, and part of a line',
    { file: 'src/bundled.js', line: 1, snippet: bundled.slice(3) },
    'asSent',
  ],
  [
    'very long, in one part, and invented',
    { file: 'src/bundled.js', line: 1, snippet: `${bundled}g(x);` },
    'notAsSent: quote',
  ],
  [
    'very long, with lines left out, of whole lines',
    { file: 'src/bundled.js', line: 1, snippet: `begin();\n…\n${bundled}` },
    'asSent',
  ],
  [
    'very long, with lines left out, and part of a line at most',
    { file: 'src/bundled.js', line: 1, snippet: `begin();\n…\n${bundled}g(x);` },
    'unchecked: quote',
  ],
  ['invented', { line: 4, snippet: 'return db.query(sql, [id]);' }, 'notAsSent: quote'],
  [
    'composed of lines that are not adjacent',
    { line: 1, snippet: 'function find(id) {\n  return db.query(sql);' },
    'notAsSent: quote',
  ],
  ['of another file', { line: 1, snippet: sent['src/other.ts'] }, 'notAsSent: quote'],
  [
    'of a file that was not sent',
    { file: 'src/none.ts', line: 1, snippet: 'return db.query(sql);' },
    'notAsSent: file',
  ],
  ['missing, at an existing line', { line: 6 }, undefined],
  ['missing, at a line that does not exist', { line: 800 }, 'notAsSent: line'],
  ['too short to be checked', { line: 5, snippet: '}' }, undefined],
  [
    'of two places, one of them invented',
    {
      locations: [
        { file: 'src/db.ts', line: 4, snippet: 'return db.query(sql);' },
        { file: 'src/other.ts', line: 1, snippet: 'export const token = "abc";' },
      ],
    },
    'notAsSent: quote',
  ],
] satisfies readonly [string, object, string | undefined][])
  test(`F140 a quote that is ${name}: ${wanted ?? 'no result'}`, async (t) => {
    const fixture = await setUpFindings(t);
    await find(fixture, [place]);
    assert.deepEqual(evidenceOf(fixture.store.all()), [wanted]);
  });

const quote = { line: 4, snippet: 'return db.query(sql);' };
const foreign = { line: 1, snippet: sent['src/other.ts'] };

test('F140 quotes are checked against the sent text, not the current one', async (t) => {
  const fixture = await setUpFindings(t);
  const run = await find(fixture, [quote, foreign]);
  const file = path.join(fixture.root, 'shop', 'src', 'db.ts');
  await writeFile(file, sent['src/other.ts']);
  assert.deepEqual(await evidenceAfterRestart(fixture, run), ['asSent', 'notAsSent: quote']);
  await rm(path.join(fixture.runs.folderOf(run.id), 'source'), { recursive: true });
  assert.deepEqual(await evidenceAfterRestart(fixture, run), ['unchecked: text', 'unchecked: text']);
  await writeFile(file, code);
  assert.deepEqual(await evidenceAfterRestart(fixture, run), ['asSent', 'notAsSent: quote']);
});

test('F140 quotes are checked again after mapping paths, and after undoing it', async (t) => {
  const fixture = await setUpFindings(t);
  await find(fixture, [{ ...quote, file: 'built/db.ts' }]);
  assert.deepEqual(evidenceOf(fixture.store.all()), ['notAsSent: file']);
  const shop = path.join(fixture.root, 'shop');
  await fixture.store.mapPaths(shop, 'built', path.join(shop, 'src'));
  assert.deepEqual(evidenceOf(fixture.store.all()), ['asSent']);
  await fixture.store.forgetMappings(shop);
  assert.deepEqual(evidenceOf(fixture.store.all()), ['notAsSent: file']);
});

test('F140 a quote is unchecked if the sent text is unknown', async (t) => {
  const fixture = await setUpFindings(t);
  const run = await find(fixture, [quote, { line: 800 }]);
  await rm(path.join(fixture.runs.folderOf(run.id), 'manifest-0.json'));
  assert.deepEqual(await evidenceAfterRestart(fixture, run), ['unchecked: sent', undefined]);
});

test('F140 a quote elsewhere in the sent text is found while the archive is stored', async (t) => {
  const fixture = await setUpFindings(t);
  const run = await find(fixture, [foreign, { line: 1, snippet: 'nowhere(at, all);' }]);
  const files = Object.entries(sent).map(([name, text]) => ({ path: name, content: Buffer.from(text) }));
  const archive = path.join(fixture.runs.folderOf(run.id), 'archive');
  await writeFile(archive, await zipBundle(files));
  const facts = { file: 'archive', type: 'zip' as const, bytes: 1, sha256: '', sourceBytes: 1 };
  const packed = { ...run, targets: run.targets.map((target) => ({ ...target, archive: facts })) };
  await fixture.runs.create(packed);
  assert.deepEqual(await evidenceAfterRestart(fixture, packed), ['elsewhere', 'notAsSent: quote']);
  await rm(archive);
  assert.deepEqual(await evidenceAfterRestart(fixture, packed), ['notAsSent: quote', 'notAsSent: quote']);
});

test('checking many files yields to other work', async (t) => {
  const fixture = await setUpFindings(t);
  const names = ['a.ts', 'b.ts', 'c.ts', 'd.ts'];
  // Not UTF-8, so all files wait for decoding until the last is read.
  const files = names.map((name) => [name, Buffer.from(`// ${name} \xff`, 'latin1')] as const);
  const items = names.map((file) => ({ file, snippet: 'nowhere(at, all);' }));
  const run = await find(fixture, items, Object.fromEntries(files));
  const findings = fixture.store.all().map((shown) => shown.finding);
  const runFolder = fixture.runs.folderOf(run.id);
  const sentOfRun = await readSent(run, runFolder);
  const places = findings.flatMap((each) => each.places);
  const resolver = createResolver({ targets: run.targets, sent: sentOfRun, places });
  const allRead = Promise.withResolvers<string>();
  let waiting = 0;
  let pauses = 0;
  let next: NodeJS.Immediate | undefined;
  const countPauses = (): void => {
    next = setImmediate(() => {
      pauses += 1;
      countPauses();
    });
  };
  await checkEvidence(findings, { run, runFolder, sent: sentOfRun, resolver }, () => {
    waiting += 1;
    if (waiting === names.length) {
      countPauses();
      allRead.resolve('text');
    }
    return allRead.promise;
  });
  clearImmediate(next);
  assert.ok(pauses >= names.length - 1, `paused ${String(pauses)} times`);
});
