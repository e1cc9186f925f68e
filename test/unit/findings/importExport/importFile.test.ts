import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { hasAllFindings } from '../../../../src/core/findings/chooseRun.ts';
import { toCsv } from '../../../../src/core/findings/importExport/csv.ts';
import { importRun, readImport, undecidedBy } from '../../../../src/core/findings/importExport/importFile.ts';
import { toSarif } from '../../../../src/core/findings/importExport/sarif/sarif.ts';
import { parseFindings } from '../../../../src/core/findings/parse/parseFindings.ts';
import { toTriageSubjects } from '../../../../src/core/findings/shownFinding.ts';
import { RunStore } from '../../../../src/core/run/disk/runStore.ts';
import type { Run } from '../../../../src/core/run/state/run.ts';
import { silent } from '../../../silentLog.ts';
import { asJournaled } from '../../run/sampleRuns.ts';
import { clock as machineClock, setUpFindings } from '../findingFixture.ts';
import { scratchFolder } from '../scratchFolder.ts';
import { accepted, artifacts, bundleOf, importOf, items, textOf } from './bundles.ts';
import { shopRun, sourceOf, tool } from './exportingFindings.ts';

const failed = {
  executionSuccessful: false,
  toolExecutionNotifications: [{ level: 'error', message: { text: 'Out of memory' } }],
};
const failedLog = (results: object): string =>
  JSON.stringify({ version: '2.1.0', runs: [{ tool: {}, invocations: [failed], ...results }] });

/** Some findings have a location, too. */
const titledOnly = (count: number, without: number): string =>
  JSON.stringify(
    Array.from({ length: count }, (_, at) => {
      return { title: 't', severity: 'low', ...(at >= without && { file: 'a.js' }) };
    }),
  );

describe('importing', () => {
  for (const [name, content, subject] of [
    ['an empty file', '', 'noFindings'],
    ['prose', 'Dear all,\nfindings attached.', 'noFindings'],
    ['JSON without a list', '{"name":"x"}', 'noFindings'],
    ['truncated JSON', '[{"title":"x"', 'noFindings'],
    ['SARIF of a failed tool', failedLog({}), 'toolFailed'],
    ['SARIF of a failed tool with an empty list', failedLog({ results: [] }), 'toolFailed'],
    ['binary data', Buffer.from([0xff, 0xfe, 0x00, 0x41]), 'notText'],
    ['CSV, which is export only', toCsv(sourceOf(items)), 'noFindings'],
    ['JSON in which most findings have no location', titledOnly(3, 2), 'noFindings'],
    ['JSON in which most rows have no name', '[{"severity":"low","file":"a.js","line":1}]', 'noFindings'],
    ['F69 more than 64 MiB', Buffer.alloc(64 * 1024 * 1024 + 1, ' '), 'tooLarge'],
  ] as const)
    test(`${name.startsWith('F69') ? 'F69 ' : ''}a file is refused with the reason: ${name}`, async () => {
      const isReason = (error: { data?: { subject?: string } }) => error.data?.subject === subject;
      await assert.rejects(importOf(content), isReason);
    });

  test('F187 is refused if reading takes too long', async () => {
    const slow = new URL('data:text/javascript,setInterval(() => undefined, 1_000)');
    await assert.rejects(readImport(Buffer.alloc(0), slow, { maxMs: 50 }), { kind: 'notInTime' });
  });

  test('accepts SARIF and any findings file, with findings only', async () => {
    const source = sourceOf(items, () => accepted);
    const absent = source.shown.map((each) => ({ ...each, verdict: 'fileUnchanged' as const }));
    for (const content of [
      JSON.stringify(toSarif({ ...source, absent }, new Map(), tool)),
      JSON.stringify(items),
      titledOnly(4, 2),
      '{"findings":[{"title":"x","file":"a.js","__proto__":{"polluted":1}}],"__proto__":{"polluted":1}}',
      await readFile(new URL('../../../fixtures/findings/semgrep.json', import.meta.url)),
    ]) {
      const read = await importOf(content);
      const parsed = parseFindings(textOf(read, 'findings.json')).findings.length;
      assert.deepEqual([read.findings, read.decisions, read.run], [parsed, [], undefined]);
      assert.ok(parsed > 0);
    }
    assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
  });

  test('F155 F167 creates a local run of no service with its coverage, or leaves nothing behind', async (t) => {
    const root = await scratchFolder(t, []);
    const clock = { now: () => 5, monotonic: () => 5, sleep: () => Promise.resolve() };
    const ports = { store: new RunStore(join(root, 'runs'), { clock, log: silent }), clock };
    const { store } = ports;
    const excluded = { ignored: 1, ignoredButTracked: 1 };
    const coverage = { uploaded: 239, excluded, excludedFolders: 0, notPackaged: 0, trackedUnknown: true };
    const source = sourceOf(items);
    const [uploaded] = source.run.targets;
    const exported = { ...source, run: { ...source.run, targets: [{ ...uploaded!, coverage }] } };
    const imported = await importOf(bundleOf(artifacts, exported));
    const targets = [{ folder: '/home/dev/shop', name: 'shop' }];
    const run = await importRun(imported, { fileName: 'a\u202Eb.zip', targets }, ports);
    const again = new RunStore(join(root, 'runs'), { clock, log: silent });
    await again.reload();
    assert.deepEqual(again.all(), [asJournaled(run)]);
    const { version, language, runId, dispatchedAt, exitedAt } = shopRun;
    const bytesOf = (file: string): number => Buffer.byteLength(artifacts[file] ?? '');
    assert.deepEqual(asJournaled(run), {
      ...{ version, language, runId, dispatchedAt, exitedAt },
      id: run.id,
      workflow: 'whitebox-assessment',
      baseUrl: '',
      organizationId: '',
      webhookEndpointIds: [],
      targets: [{ ...targets[0], commit: uploaded?.commit, coverage }],
      noticeDue: false,
      state: 'imported',
      createdAt: 5,
      endedAt: 5,
      importedFrom: 'a\\u{202E}b.zip',
      artifacts: [
        { name: 'findings', file: 'findings.json', bytes: bytesOf('findings.json') },
        { name: 'report', file: 'report.md', bytes: bytesOf('report.md') },
      ],
    });
    for (const [name, text] of Object.entries(artifacts))
      assert.equal(await readFile(join(store.folderOf(run.id), name), 'utf8'), text);

    const early = { ...imported.run!, dispatchedAt: 3, endedEarly: true };
    const part = await importRun({ ...imported, run: early }, { fileName: 'c.zip', targets }, ports);
    assert.deepEqual([hasAllFindings(part), part.createdAt], [false, 3]);
    await store.remove(part.id);

    const files = new Map([...imported.files, ['no/such/folder.json', Buffer.from('x')] as const]);
    await assert.rejects(importRun({ ...imported, files }, { fileName: 'b.zip', targets }, ports));
    await again.reload();
    assert.equal(again.all().length, 1);
  });

  test('assigns findings and decisions of a bundle of two folders to files of their own folder', async (t) => {
    const fixture = await setUpFindings(t, 'shop');
    const ports = { store: fixture.runs, clock: machineClock };
    const items = [0, 1].map((target) => ({ title: 'x', file: 'a.js', line: 2, target_index: target }));
    const both = await fixture.addRun(['shop', 'tool'], JSON.stringify(items), { 'a.js': 'one\ntwo\n' });
    const { shown } = await fixture.store.read(both);
    const decided = shown.map((each, at) => (at === 0 ? { ...each, triage: accepted } : each));
    const files: Record<string, string> = {};
    for (const name of ['findings.json', 'manifest-0.json', 'manifest-1.json'])
      files[name] = await readFile(join(fixture.runs.folderOf(both.id), name), 'utf8');
    const imported = await importOf(bundleOf(files, { run: both, shown: decided }));
    const names = imported.run?.targets.map(({ name }) => name);
    assert.deepEqual(names, ['shop', 'tool']);
    const tools = join(fixture.root, 'tool');
    const targets = [{ name: 'shop' }, { name: 'tool', folder: tools }];
    const run = await importRun(imported, { fileName: 'both', targets }, ports);
    const here = (await fixture.store.read(run)).shown;
    const located = here.map(({ locations }) => locations.map(({ folder }) => folder));
    assert.deepEqual(located, [[], [tools]]);
    const [subject] = toTriageSubjects(here[0]!);
    assert.deepEqual(undecidedBy(imported.decisions, here), [[{ ...accepted, ...subject }]]);
    await fixture.store.setTriage(here.slice(0, 1), 'acceptedRisk', 'elsewhere');
    const states = (await fixture.store.read(run)).shown.map(({ triage }) => triage.state);
    assert.deepEqual(states, ['acceptedRisk', 'open']);
    assert.equal(await readFile(join(tools, 'triage.jsonl'), 'utf8').catch(() => 'none'), 'none');
  });

  test('F206 decisions of a bundle count in its own run, with their times, and in other runs they are only said', async (t) => {
    const fixture = await setUpFindings(t, 'shop');
    const { store, triage, root, runs } = fixture;
    const items = ['a', 'b', 'c'].map((title) => ({ title, file: 'a.js', line: 2 }));
    const files = { 'findings.json': JSON.stringify(items) };
    const own = await fixture.addRun(['shop'], files['findings.json']);
    await store.setTriage(store.all().slice(0, 1), 'confirmed', 'here');
    const decided = sourceOf(items, (at) => ({ state: 'falsePositive', note: String(at), at: 1_000 + at }));
    const content = await importOf(bundleOf(files, decided));
    const folder = join(root, 'shop');
    fixture.shared.add(folder);
    const origin = { fileName: 'a.zip', targets: [{ name: 'shop', folder }] };
    const imported = await importRun(content, origin, { store: runs, clock: machineClock });
    let heard = 0;
    triage.onDidChange(() => (heard += 1));
    const made = undecidedBy(content.decisions, (await store.read(imported)).shown);
    heard = 0;
    await triage.importDecisions(imported, made.flat());
    const later = await fixture.addRun(['shop'], files['findings.json']);
    const statesIn = async (run: Run) =>
      (await store.read(run)).shown.map((each) =>
        [each.triage, each.decidedBefore].map((one) => one && [one.state, one.note, one.at].join(' ')),
      );
    const [first, ...others] = await statesIn(imported);
    assert.match(first?.[0] ?? '', /^confirmed here/);
    assert.deepEqual([made.length, heard], [2, 1]);
    assert.deepEqual(others.flat(), ['falsePositive 1 1001', undefined, 'falsePositive 2 1002', undefined]);
    for (const run of [own, later])
      assert.deepEqual((await statesIn(run)).slice(1), [
        ['open  0', 'falsePositive 1 1001'],
        ['open  0', 'falsePositive 2 1002'],
      ]);
    const notes = triage.unshared().map(({ note }) => note);
    assert.deepEqual(notes, ['here']);
    const [, one] = (await store.read(own)).shown;
    const undo = await store.setTriage([one!], 'confirmed', 'mine');
    const [, mine] = await statesIn(imported);
    assert.match(mine?.[0] ?? '', /^confirmed mine/, 'a decision of this machine counts');
    await undo();
    assert.deepEqual((await statesIn(imported))[1], ['falsePositive 1 1001', undefined]);
  });
});
