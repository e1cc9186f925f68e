import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import type { Log, Result, Run as SarifRun } from 'sarif';
import { VERDICTS, type Verdict } from '../../../../src/core/findings/result/result.ts';
import { repositoryUri } from '../../../../src/core/findings/importExport/issueTracker.ts';
import {
  hashLines,
  readAssessedLocations,
} from '../../../../src/core/findings/importExport/sarif/assessedLocations.ts';
import {
  chooseForUpload,
  readMainFile,
  toCodeScanning,
} from '../../../../src/core/findings/importExport/sarif/codeScanning.ts';
import { toSarif } from '../../../../src/core/findings/importExport/sarif/sarif.ts';
import { parseFindings } from '../../../../src/core/findings/parse/parseFindings.ts';
import type { DetailedFinding, DetailedRun } from '../../../../src/core/findings/shownFinding.ts';
import { type TriageState, undecided } from '../../../../src/core/findings/triage/triage.ts';
import type { Run } from '../../../../src/core/run/state/run.ts';
import { propertyRuns } from '../../core/propertyRuns.ts';
import { storeManifest, toUploaded } from '../result/storedManifest.ts';
import { anyItems, anyTriage, shopRun, shownOf, tool, written } from './exportingFindings.ts';
import { brokenRules, codeScanningRules, ourRules, sarifProse } from './sarifRules.ts';
import { createValidator } from './sarifSchema.ts';

const allRules = { ...sarifProse, ...codeScanningRules, ...ourRules };

const app = Array.from({ length: 40 }, (_, at) => `const line${at} = ${at};`).join('\n');
const hashOfLine3 = hashLines(app, new Set([3])).get(3);
const marked = '\uFEFFone\r\ntwo = 2;\r\n  three = 3;\r\n';
const page = 'src/注文 管理/ページ#1.ts';
const uploaded = {
  'package.json': '{}',
  'src/marked.js': marked,
  'src/app.js': app,
  [page]: 'one\r\ntwo\r\n',
};
const line3 = { title: 'A', cwe: 89, file: 'src/app.js', line: 3 };

/** The tests of github/codeql-action have these texts and line hashes. */
test("F151 the line hash that GitHub matches alerts by is that of GitHub's action", () => {
  const words =
    'e9496ae3ebfced30 fb7c023a8b9ccb3f ce8ba1a563dcdaca e20e36e16fcb0cc8 b3edc88f2938467e c8e28b0b4002a3a0';
  const repeated =
    'a7f2ff13bc495cf2:1 a7f2ff13bc495cf2:2 a7f2ff13bc495cf2:3 a7f2ff13bc495cf2:4 a7f2ff13bc495cf2:5 a7f2ff13bc495cf2:6';
  for (const [text, hashes] of [
    ['', ''],
    [' a\nb\n  \t\tc\n d', '271789c17abda88f 54703d4cd895b18 180aee12dab6264 a23a3dc5e078b07b'],
    [' hello; \t\nworld!!!\n\n\n  \t\tGreetings\n End\n', words],
    [' hello; \t\r\nworld!!!\r\n\n\r  \t\tGreetings\r End\r\n', words],
    [
      'Lorem ipsum dolor sit amet.\n'.repeat(10),
      `${repeated} a7f2ff1481e87703 a9cf91f7bbf1862b 55ec222b86bcae53 cc97dc7b1d7d8f7b`,
    ],
  ] as const) {
    const lines = new Set(Array.from({ length: text.length + 1 }, (_, at) => at + 1));
    const expected = hashes.split(' ').map((each) => (each.includes(':') ? each : `${each}:1`));
    const last = text.endsWith('\n') || text === '' ? ['c129715d7a2bc9a3:1'] : [];
    const known = text === '' ? [] : expected;
    assert.deepEqual([...hashLines(text, lines).values()], [...known, ...last], JSON.stringify(text));
  }
});

describe('findings for code scanning', () => {
  let root: string;
  let folder: string;
  let storage: string;
  let run: Run;
  let earlier: Run;

  before(async () => {
    root = await mkdtemp(path.join(tmpdir(), 'code-scanning-'));
    folder = path.join(root, 'services', 'shop');
    storage = path.join(root, 'storage');
    for (const [name, text] of Object.entries(uploaded)) {
      await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
      await writeFile(path.join(folder, name), text);
    }
    await mkdir(storage);
    await storeManifest(storage, 0, uploaded);
    run = { ...shopRun, targets: [{ folder, name: 'shop' }] };
    earlier = { ...run, id: '20290101000000-0badcafe' };
  });
  after(() => rm(root, { recursive: true }));

  const findingsOf = (items: unknown, of: Run = run): DetailedFinding[] =>
    shownOf(parseFindings(JSON.stringify(items)).findings, undefined, of).map((shown) => ({
      ...shown,
      uploaded: shown.finding.locations.map((location) => toUploaded(location.path, uploaded, folder)),
    }));
  /** The finding is now at another line than it was assessed. */
  const movedOf = (of: Run): DetailedFinding =>
    findingsOf([line3], of).map((each) => {
      const [reported] = each.finding.locations;
      const here = { file: path.join(folder, 'src/app.js'), folder, target: 0, path: 'src/app.js' };
      const locations = [{ ...here, startLine: 9, endLine: 9, reported: reported!, drift: 'moved' as const }];
      return { ...each, locations };
    })[0]!;

  const everything = async (source: DetailedRun): Promise<Log> => {
    const { shown, absent = [] } = source;
    return written(toSarif(source, await readAssessedLocations([...shown, ...absent], () => storage), tool));
  };
  const logOf = async (source: DetailedRun): Promise<Log> => {
    const listed = chooseForUpload(source).listed as readonly DetailedFinding[];
    const repository = {
      root,
      folders: [{ folder, name: 'shop', path: 'services/shop' }],
      uri: repositoryUri('https://user:x@git.example/a/b.git'),
      commit: 'c0ffee',
    };
    const assessed = await readAssessedLocations(listed, () => storage);
    const mainFile = await readMainFile(source.run, repository, storage);
    return written(toCodeScanning({ source, listed, assessed, repository, mainFile }, tool));
  };
  const writtenRun = async (source: DetailedRun): Promise<SarifRun & { results: Result[] }> => {
    const [first] = (await logOf(source)).runs;
    return { ...first!, results: first?.results ?? [] };
  };
  const resultsOf = async (items: unknown): Promise<readonly Result[]> =>
    (await writtenRun({ run, shown: findingsOf(items) })).results;
  const locationOf = (result: Result | undefined): unknown[] => {
    const { artifactLocation, region = {} } = result?.locations?.[0]?.physicalLocation ?? {};
    const { startLine, startColumn, endLine, endColumn } = region;
    return [artifactLocation?.uri, startLine, startColumn, endLine, endColumn];
  };
  const hashIn = (result: Result | undefined): string | undefined =>
    result?.partialFingerprints?.['primaryLocationLineHash'];

  test('F151 satisfy every rule of GitHub and the SARIF specification, and in the other form the specification', async () => {
    const validate = await createValidator();
    assert.throws(() => validate({ version: '2.1.0', runs: [{ tool: {} }] }), 'the schema refuses something');
    const verdicts = fc.option(fc.constantFrom(...VERDICTS), { nil: undefined });
    await fc.assert(
      fc.asyncProperty(anyItems, anyItems, anyTriage, verdicts, async (items, former, triage, verdict) => {
        const shown = findingsOf(items).map((each) => ({ ...each, triage, verdict }));
        const gone = { verdict: verdict ?? 'fileUnchanged' };
        const absent = findingsOf(former, earlier).map((each) => ({ ...each, ...gone }));
        for (const [write, rules] of [
          [logOf, allRules],
          [everything, sarifProse],
        ] as const) {
          const log = await write({ run, shown, absent });
          assert.deepEqual(brokenRules(log, rules), []);
          validate(log);
        }
      }),
      { numRuns: propertyRuns(100) },
    );
  });

  test('F151 violate rules of the table when changed accordingly', () => {
    const driver = { name: '', rules: [{ id: '' }] };
    const results = [{ message: { text: '{x} [a](b)' } }];
    const bare: Log = { version: '2.1.0', runs: [{ tool: { driver }, results }] };
    assert.ok(brokenRules(bare, codeScanningRules).length >= 7);
    assert.ok(brokenRules(bare, sarifProse).length >= 3);
  });

  test('F151 have locations in the uploaded text, from the repository root, with the hash of GitHub’s action', async () => {
    // The finding has more weaknesses than GitHub accepts tags.
    const cwe = Array.from({ length: 40 }, (_, at) => at + 1);
    assert.deepEqual(brokenRules(await logOf({ run, shown: findingsOf([{ ...line3, cwe }]) }), allRules), []);
    const [one, other] = await resultsOf([
      line3,
      { title: 'Other', file: 'src/注文 管理/ページ#1.ts', line: 2, start_column: 2, end_column: 3 },
    ]);
    const uri =
      'services/shop/src/%E6%B3%A8%E6%96%87%20%E7%AE%A1%E7%90%86/%E3%83%9A%E3%83%BC%E3%82%B8%231.ts';
    assert.deepEqual(locationOf(one), ['services/shop/src/app.js', 3, 1, 3, 'const line2 = 2;'.length + 1]);
    assert.deepEqual(locationOf(other), [uri, 2, 2, 2, 3]);
    assert.equal(hashIn(one), hashOfLine3);
  });

  test('F151 reach from the first column past the last, unless they have columns', async () => {
    const regionsOf = async (lines: readonly object[]): Promise<unknown[]> =>
      (await resultsOf(lines.map((each) => ({ title: 'A', file: 'src/marked.js', ...each })))).map((result) =>
        locationOf(result).slice(1),
      );
    const lines = [
      { line: 2 },
      { line: 2, end_line: 3 },
      { line: 2, start_column: 5, end_column: 6 },
      { line: 2, start_column: 5, end_column: 5 },
      { line: 2, start_column: 500, end_column: 600 },
      { line: 9 },
    ];
    const known = [[2, 1, 2, 9], [2, 1, 3, 13], [2, 5, 2, 6], [2, 5, 2, 9], [2, 1, 2, 9], [9, 1, 9, 2]]; // prettier-ignore
    assert.deepEqual(await regionsOf(lines), known);
    await writeFile(path.join(folder, 'src/marked.js'), `${marked}changed`);
    assert.deepEqual(await regionsOf(lines.slice(0, 1)), [[2, 1, 2, 2]], 'nothing has the sent bytes');
    await writeFile(path.join(folder, 'src/marked.js'), marked);
  });

  test('F151 say in both forms what was assessed: lines, hashes, commit, and uncommitted changes', async () => {
    const dirty = { ...run, targets: [{ folder, name: 'shop', commit: { id: 'c0ffee', dirty: true } }] };
    for (const write of [everything, logOf]) {
      const [log] = (await write({ run: dirty, shown: [movedOf(dirty)] })).runs;
      const [result] = log!.results!;
      assert.deepEqual([locationOf(result)[1], hashIn(result)], [3, hashOfLine3]);
      const hashes = log!.artifacts?.map((each) => each.hashes);
      assert.deepEqual(hashes, [{ 'sha-256': hash('sha256', app) }]);
      const [{ properties, toolExecutionNotifications: notes } = {}] = log!.invocations!;
      assert.deepEqual(properties?.['commits'], [{ folder: 'shop', commit: 'c0ffee', dirty: true }]);
      const texts = notes?.map(({ message }) => message.text);
      assert.deepEqual(texts, ['shop was assessed with uncommitted changes to commit c0ffee.']);
    }
  });

  test('F151 with an equal hash or no line have different fingerprints', async () => {
    const items = [
      { ...line3, snippet: 'const line2' },
      { ...line3, snippet: 'line2 = 2;' },
      { ...line3, cwe: 79 },
      { title: 'No line', cwe: 79, file: 'src/app.js' },
      { title: 'Nowhere', cwe: 79 },
      { title: 'Nowhere', cwe: 79 },
    ];
    const [one, two, , four, five] = findingsOf(items).map((each) =>
      each.fingerprint.split(':')[1]!.slice(0, 16),
    );
    const results = await resultsOf(items);
    const hashes = [`${one}:1`, `${two}:1`, hashOfLine3, `${four}:1`, `${five}:1`, `${five}:2`];
    assert.deepEqual(results.map(hashIn), hashes);
    assert.deepEqual(locationOf(results[3]), ['services/shop/src/app.js', 1, 1, 1, 2]);
    assert.deepEqual(locationOf(results[4]), ['services/shop/package.json', 1, 1, 1, 2]);
    assert.match(results[4]?.message.text ?? '', /^Nowhere\.[^]*names no file of this repository/);
    assert.doesNotMatch(results[3]?.message.text ?? '', /names no file/);
    const related = [{ file: 'src/app.js', role: 'related' }];
    const [beside] = await resultsOf([{ ...line3, related_locations: related }]);
    assert.equal(beside?.relatedLocations, undefined, 'a place without a line says nothing more');
  });

  test('F151 that are absent are included at the lines of the run that reported them, unless closed or changed', async () => {
    const inState = (state: TriageState, verdict?: Verdict): DetailedFinding => {
      return { ...movedOf(earlier), verdict, triage: { ...undecided, state } };
    };
    const states = ['open', 'confirmed', 'fixed', 'falsePositive', 'acceptedRisk'] as const;
    const source = {
      run,
      shown: states.map((state) => inState(state)),
      absent: [
        inState('open', 'fileUnchanged'),
        inState('confirmed', 'notUploaded'),
        inState('fixed', 'unknown'),
        inState('open', 'codeChanged'),
        inState('falsePositive', 'codeChanged'),
      ],
    };
    const { listed, closed } = chooseForUpload(source);
    const wanted = [...source.shown.slice(0, 3), ...source.absent.slice(0, 2)];
    assert.deepEqual([listed, closed], [wanted, [source.absent[3]]]);
    const { results, artifacts } = await writtenRun({ run, shown: [], absent: source.absent.slice(0, 1) });
    assert.deepEqual([locationOf(results[0])[1], hashIn(results[0])], [3, hashOfLine3]);
    assert.deepEqual(artifacts, [], 'what an earlier run was sent may be other bytes');
  });

  test('F151 contain run, commit and repository without credentials, and only files with results', async () => {
    const flow = { source: { path: 'src/app.js', line: 1 }, sink: { path: 'nowhere.js', line: 1 } };
    const { automationDetails, versionControlProvenance, artifacts, results } = await writtenRun({
      run,
      shown: findingsOf([{ ...line3, ...flow }]),
    });
    assert.equal(automationDetails?.id, 'whitebox/whitebox-assessment/shop/run-1');
    const repositoryUri = 'https://git.example/a/b';
    assert.deepEqual(versionControlProvenance, [
      { repositoryUri, revisionId: 'c0ffee', mappedTo: { uriBaseId: '%SRCROOT%' } },
    ]);
    const location = { uri: 'services/shop/src/app.js', uriBaseId: '%SRCROOT%' };
    assert.deepEqual(artifacts, [{ location, hashes: { 'sha-256': hash('sha256', app) } }]);
    const steps = results[0]?.codeFlows?.[0]?.threadFlows[0]?.locations;
    assert.equal(steps?.length, 1, 'what lies outside the repository is left out');
    const outside = findingsOf([line3]).map((each) => ({
      ...each,
      uploaded: each.uploaded.map((file) => file && { ...file, folder: root }),
    }));
    const elsewhere = (await writtenRun({ run, shown: outside })).artifacts;
    const uris = elsewhere?.map((each) => each.location?.uri);
    assert.deepEqual(uris, ['services/shop/package.json']);
  });
});
