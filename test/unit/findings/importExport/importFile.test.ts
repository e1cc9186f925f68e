import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { toBundle, zipBundle } from '../../../../src/core/findings/importExport/bundle.ts';
import { sha256 } from '../../../../src/core/findings/importExport/readContent.ts';
import { toCsv } from '../../../../src/core/findings/importExport/csv.ts';
import { decisionFolders } from '../../../../src/core/findings/shownFinding.ts';
import { hasAllFindings } from '../../../../src/core/findings/chooseRun.ts';
import { identityOf } from '../../../../src/core/findings/identity.ts';
import {
  importedRun,
  importRun,
  readImport,
  undecidedBy,
} from '../../../../src/core/findings/importExport/importFile.ts';
import { parseFindings } from '../../../../src/core/findings/parse/parseFindings.ts';
import { toSarif } from '../../../../src/core/findings/importExport/sarif/sarif.ts';
import { asJournaled } from '../../run/sampleRuns.ts';
import { RunStore } from '../../../../src/core/run/disk/runStore.ts';
import type { Run } from '../../../../src/core/run/state/run.ts';
import { sourceOf, tool } from './exportingFindings.ts';
import { clock as machineClock, finding, setUpFindings, titles } from '../findingFixture.ts';
import { scratchFolder } from '../scratchFolder.ts';
import { accepted, artifacts, findings, importOf, items, textOf } from './bundles.ts';
import { silent } from '../../../silentLog.ts';

function failedLog(results: object): string {
  const toolExecutionNotifications = [{ level: 'error', message: { text: 'Out of memory' } }];
  const invocations = [{ executionSuccessful: false, toolExecutionNotifications }];
  return JSON.stringify({ version: '2.1.0', runs: [{ tool: {}, invocations, ...results }] });
}

describe('importing', () => {
  test('F187 is refused if reading takes too long', async () => {
    const workerFile = new URL('data:text/javascript,setInterval(() => undefined, 1_000)');
    const reading = readImport(Buffer.from(findings), { workerFile, maxMs: 50 });
    await assert.rejects(reading, {
      kind: 'badImport',
      data: { subject: 'tooLarge', detail: undefined, limit: 67_108_864 },
    });
  });

  test('accepts SARIF and any findings file, with findings only', async () => {
    const source = sourceOf(items, () => accepted);
    const absent = sourceOf(items, () => ({ ...accepted, note: 'not there any more' })).shown.map((each) => ({
      ...each,
      verdict: 'sameBytes' as const,
    }));
    for (const content of [
      JSON.stringify(toSarif({ ...source, absent }, new Map(), tool)),
      findings,
      await readFile(new URL('../../../fixtures/findings/semgrep.json', import.meta.url)),
    ]) {
      const read = await importOf(content);
      assert.ok(read.findings > 0);
      assert.deepEqual([read.decisions, read.folders], [[], []]);
      const text = textOf(read, 'findings.json');
      assert.equal(parseFindings(text).findings.length, read.findings);
    }
  });

  test('refuses a CSV file, which is export only', async () => {
    await assert.rejects(
      importOf(toCsv(sourceOf(items))),
      (error: { data?: { subject?: string } }) => error.data?.subject === 'notRead',
    );
  });

  test('F70 ignores keys named __proto__', async () => {
    const text =
      '{"findings":[{"title":"x","file":"a.js","__proto__":{"polluted":1}}],"__proto__":{"polluted":1}}';
    assert.equal((await importOf(text)).findings, 1);
    assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
  });

  for (const [name, content, subject] of [
    ['an empty file', '', 'noFindings'],
    ['prose', 'Dear all,\nfindings attached.', 'noFindings'],
    ['JSON without a list', '{"name":"x"}', 'noFindings'],
    ['SARIF of a failed tool', failedLog({}), 'toolFailed'],
    ['SARIF of a failed tool with an empty list', failedLog({ results: [] }), 'toolFailed'],
    ['truncated JSON', '[{"title":"x"', 'noFindings'],
    ['binary data', Buffer.from([0xff, 0xfe, 0x00, 0x41]), 'notText'],
  ] as const) {
    test(`of ${name} is refused with the reason`, async () => {
      await assert.rejects(
        importOf(content),
        (error: { data?: { subject?: string } }) => error.data?.subject === subject,
      );
    });
  }

  test('F69 refuses a file of more than 64 MiB', async () => {
    await assert.rejects(
      importOf(Buffer.alloc(64 * 1024 * 1024 + 1, ' ')),
      (error: { data?: { subject?: string } }) => error.data?.subject === 'tooLarge',
    );
  });

  test('F155 F167 creates a local run with its coverage, or leaves nothing behind', async (t) => {
    const root = await scratchFolder(t, []);
    const clock = { now: () => 5, monotonic: () => 5, sleep: () => Promise.resolve() };
    const store = new RunStore(join(root, 'runs'), { clock, log: silent });
    const source = sourceOf(items);
    const coverage = {
      uploaded: 239,
      excluded: { ignored: 1, ignoredButTracked: 1 },
      excludedFolders: 0,
      unpacked: 0,
      trackedUnknown: true,
    };
    const [sent] = source.run.targets;
    const exported = { ...source, run: { ...source.run, targets: [{ ...sent!, coverage }] } };
    const imported = await importOf(zipBundle(toBundle(exported, artifacts, tool)));
    const targets = [{ folder: '/home/dev/shop', name: 'shop' }];
    const run = await importRun(imported, { fileName: 'a\u202Eb.zip', targets }, { store, clock });
    assert.equal(run.state, 'imported');
    const again = new RunStore(join(root, 'runs'), { clock, log: silent });
    await again.reload();
    assert.deepEqual(again.all(), [asJournaled(run)]);
    assert.equal(run.importedFrom, 'a\\u{202E}b.zip');
    assert.deepEqual(run.targets[0]?.coverage, coverage);
    assert.deepEqual([run.baseUrl, run.organizationId, run.noticeDue], ['', '', false]);
    assert.deepEqual(
      run.artifacts.map(({ name }) => name),
      ['findings', 'report'],
    );
    assert.equal(sha256(await readFile(join(store.folderOf(run.id), 'findings.json'))), sha256(findings));

    assert.equal(hasAllFindings(run), true);
    const early = { ...imported, run: { ...imported.run!, endedEarly: true } };
    const part = await importRun(early, { fileName: 'c.zip', targets }, { store, clock });
    assert.equal(hasAllFindings(part), false);
    await store.remove(part.id);

    const broken = {
      ...imported,
      files: new Map([...imported.files, ['no/such/folder.json', Buffer.from('x')] as const]),
    };
    await assert.rejects(importRun(broken, { fileName: 'b.zip', targets }, { store, clock }));
    await again.reload();
    assert.equal(again.all().length, 1);
  });

  test('keeps a bundle of a live application beside the code, and one of a single pair separate', async (t) => {
    const fixture = await setUpFindings(t);
    fixture.open.add(join(fixture.root, 'shop'));
    const code = await fixture.addRun(['shop'], finding('code'));
    const artifact = { path: 'findings.json', content: Buffer.from(finding('live')) };
    const input = { target_urls: ['https://shop.example/'] };
    const pairs = [{ feature_name: 'Search', perspective: 'XSS' as const }];
    const bring = async (run: Run): Promise<void> => {
      const imported = await importOf(zipBundle(toBundle({ run, shown: [] }, [artifact], tool)));
      const targets = [{ folder: join(fixture.root, 'shop'), name: 'shop.example' }];
      await importRun(
        imported,
        { fileName: 'live.zip', targets },
        { store: fixture.runs, clock: machineClock },
      );
      await fixture.store.load();
    };
    await bring({ ...code, workflow: 'blackbox-assessment', input: { ...input, pairs } });
    assert.deepEqual(titles(fixture), ['code']);
    await bring({ ...code, workflow: 'blackbox-assessment', input });
    assert.deepEqual(titles(fixture).toSorted(), ['code', 'live']);
  });

  test('dates a bundle of an older run: it replaces no newer one and is compared with none', async (t) => {
    const fixture = await setUpFindings(t);
    const shop = join(fixture.root, 'shop');
    fixture.open.add(shop);
    const old = await fixture.addRun(['shop'], finding('old'));
    const artifact = { path: 'findings.json', content: Buffer.from(finding('old')) };
    const bundle = toBundle({ run: old, shown: [] }, [artifact], tool);
    await fixture.runs.remove(old.id);
    await fixture.addRun(['shop'], finding('new'));
    const targets = [{ folder: shop, name: 'shop' }];
    const origin = { fileName: 'old.zip', targets };
    const imported = await importOf(zipBundle(bundle));
    const run = await importRun(imported, origin, { store: fixture.runs, clock: machineClock });
    await fixture.store.load();
    assert.deepEqual(titles(fixture), ['new']);
    assert.equal(fixture.store.baselineOf(run), undefined);
    await fixture.store.show(run);
    assert.deepEqual(titles(fixture), ['old']);
  });

  test('assigns findings and decisions of a bundle of two folders to files of their own folder', async (t) => {
    const fixture = await setUpFindings(t);
    const findings = [0, 1].map((target) => ({ title: 'x', file: 'a.js', line: 2, target_index: target }));
    const both = await fixture.addRun(['shop', 'tool'], JSON.stringify(findings), { 'a.js': 'one\ntwo\n' });
    const { shown } = await fixture.store.read(both);
    const decided = shown.map((each, at) => (at === 0 ? { ...each, triage: accepted } : each));
    const files = await Promise.all(
      ['findings.json', 'manifest-0.json', 'manifest-1.json'].map(async (file) => ({
        path: file,
        content: await readFile(join(fixture.runs.folderOf(both.id), file)),
      })),
    );
    const imported = await importOf(zipBundle(toBundle({ run: both, shown: decided }, files, tool)));
    assert.deepEqual(imported.folders, ['shop', 'tool']);
    const tools = join(fixture.root, 'tool');
    const targets = [{ name: 'shop' }, { name: 'tool', folder: tools }];
    const ports = { store: fixture.runs, clock: machineClock };
    const run = await importRun(imported, { fileName: 'both', targets }, ports);
    const here = (await fixture.store.read(run)).shown;
    assert.deepEqual(
      here.map(({ places }) => places.map(({ folder }) => folder)),
      [[], [tools]],
    );
    const { byFolder, count } = undecidedBy(imported.decisions, here);
    const [taken] = here;
    assert.ok(taken);
    assert.deepEqual([count, byFolder.size], [1, 1]);
    const [[folder, entries] = [], ...others] = byFolder;
    assert.deepEqual(others, []);
    assert.equal(folder, decisionFolders(taken)[0]);
    const [entry] = entries ?? [];
    assert.ok(entry);
    assert.deepEqual(identityOf(entry), identityOf(taken));
    assert.deepEqual([entry.state, entry.note, entry.path], [accepted.state, accepted.note, 'a.js']);
    await fixture.store.setTriage(here.slice(0, 1), 'acceptedRisk', 'elsewhere');
    assert.deepEqual(
      (await fixture.store.read(run)).shown.map(({ triage }) => triage.state),
      ['acceptedRisk', 'open'],
    );
    assert.equal(await readFile(join(tools, 'triage.jsonl'), 'utf8').catch(() => 'none'), 'none');
  });
});

test('an imported run names no service, and has the times of its run only if both are known', () => {
  const identity = { id: 'one', now: 1_000 };
  const targets = [{ folder: '/shop', name: 'shop' }];
  const facts = {
    language: 'japanese' as const,
    importedFrom: 'findings.sarif',
    artifacts: [],
    targets,
  };
  const imported = {
    version: 1,
    id: 'one',
    workflow: 'whitebox-assessment',
    baseUrl: '',
    organizationId: '',
    language: 'japanese',
    webhookEndpointIds: [],
    targets,
    createdAt: 1_000,
    noticeDue: false,
    state: 'imported',
    endedAt: 1_000,
    importedFrom: 'findings.sarif',
    artifacts: [],
  };
  assert.deepEqual(asJournaled(importedRun(identity, facts)), imported);
  const times = { dispatchedAt: 300, exitedAt: 500 };
  assert.deepEqual(
    asJournaled(
      importedRun(identity, {
        ...facts,
        ...times,
        workflow: 'blackbox-crawl',
        targetUrls: ['http://127.0.0.1:9/'],
        runId: 'run-1',
        endedEarly: true,
      }),
    ),
    {
      ...imported,
      ...times,
      createdAt: 300,
      workflow: 'blackbox-crawl',
      input: { target_urls: ['http://127.0.0.1:9/'] },
      runId: 'run-1',
      endedEarly: true,
    },
  );
  for (const [key, at] of Object.entries(times)) {
    const run = importedRun(identity, { ...facts, [key]: at });
    assert.deepEqual([run.dispatchedAt, run.exitedAt], [undefined, undefined], key);
  }
});
