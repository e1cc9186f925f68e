import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { crc32, deflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { type BundleFile, sha256, toBundle } from '../../../../src/core/findings/handOff/bundle.ts';
import { zipBundle } from '../../../../src/core/findings/handOff/bundleZip.ts';
import { toCsv } from '../../../../src/core/findings/handOff/csv.ts';
import { undecidedBy } from '../../../../src/core/findings/triage/decisions.ts';
import type { ExportSource } from '../../../../src/core/findings/handOff/exportSource.ts';
import { type ImportedFile, readImport } from '../../../../src/core/findings/handOff/importFile.ts';
import { importRun } from '../../../../src/core/findings/handOff/importRun.ts';
import { parseFindings } from '../../../../src/core/findings/parse/parse.ts';
import { toSarif } from '../../../../src/core/findings/handOff/sarif.ts';
import { RunStore } from '../../../../src/core/run/runStore.ts';
import { centralRecord, localHeader, zipEnd } from '../../../../src/core/upload/zipRecords.ts';
import { anyItems, anyTriage, shopRun, sourceOf, tool } from '../handOff.ts';
import { clock as machineClock, finding, setScene, titles } from '../findingScene.ts';
import { scratchFolder } from '../scratchFolder.ts';

const items = [
  {
    id: 'F-1',
    title: 'SQL インジェクション',
    severity: 'high',
    cwe: 89,
    file: 'src/注文.ts',
    line: 3,
    unknown_field: { kept: true },
  },
];
const findings = Buffer.from(JSON.stringify(items));
const report = Buffer.from('# 報告書\n');
const manifest = Buffer.from(
  JSON.stringify({ entries: [{ path: 'src/注文.ts', bytes: 1, sha256: 'ab' }], omitted: [] }),
);
const artifacts = [
  { path: 'findings.json', content: findings },
  { path: 'report.md', content: report },
  { path: 'manifest-0.json', content: manifest },
];
const accepted = { state: 'acceptedRisk', note: '社内のみ', at: 7 } as const;

const importOf = (content: Buffer | string): Promise<ImportedFile> => readImport(Buffer.from(content));

/** A zip as another program may write it: any names, sizes and flags. */
function zipOf(
  entries: readonly { path: string; content: Buffer; tellsBytes?: number; encrypted?: boolean }[],
): Buffer {
  const locals: Buffer[] = [];
  const centrals: Buffer[] = [];
  let at = 0;
  for (const { path, content, tellsBytes, encrypted } of entries) {
    const data = deflateRawSync(content);
    const entry = {
      path,
      mode: 0o644,
      crc: crc32(content),
      bytes: tellsBytes ?? content.length,
      compressedBytes: data.length,
      deflated: true,
      streamed: false,
      zip64: false,
    };
    const [local, central] = [localHeader(entry), centralRecord(entry)];
    if (encrypted === true) {
      local.writeUInt16LE(local.readUInt16LE(6) | 1, 6);
      central.writeUInt16LE(central.readUInt16LE(8) | 1, 8);
    }
    central.writeUInt32LE(at, 42);
    locals.push(local, data);
    centrals.push(central);
    at += local.length + data.length;
  }
  const directory = Buffer.concat(centrals);
  return Buffer.concat([...locals, directory, zipEnd(entries.length, at, directory.length)]);
}

const index = (change: (value: Record<string, unknown>) => void = () => undefined): Buffer => {
  const [first] = toBundle(sourceOf(items), artifacts, tool);
  const value = JSON.parse(String(first?.content)) as Record<string, unknown>;
  change(value);
  return Buffer.from(JSON.stringify(value));
};

describe('an offline bundle', () => {
  test('reading it gives artifacts, run facts and decisions exactly', async () => {
    const source = sourceOf(items, () => accepted);
    const read = await importOf(await zipBundle(toBundle(source, artifacts, tool)));
    assert.deepEqual(Buffer.from(read.files.get('findings.json') ?? ''), findings);
    assert.deepEqual([...read.files.keys()], ['findings.json', 'report.md', 'manifest-0.json']);
    assert.equal(String(read.files.get('report.md')), '# 報告書\n');
    assert.deepEqual(read.decisions, [{ index: 0, ...accepted }]);
    assert.deepEqual(read.folders, ['shop']);
    assert.deepEqual(read.run, {
      runId: 'run-1',
      language: 'japanese',
      dispatchedAt: shopRun.dispatchedAt,
      exitedAt: shopRun.exitedAt,
      targets: [{ name: 'shop', commit: { id: 'c0ffee0123456789', dirty: true } }],
    });
  });

  test('it holds no address, organization or folder of this machine, and equal runs give equal bytes', async () => {
    const files = toBundle(sourceOf(items), artifacts, tool);
    for (const { content } of files) assert.ok(!content.includes('canary'));
    assert.deepEqual(await zipBundle(files), await zipBundle(toBundle(sourceOf(items), artifacts, tool)));
  });

  test('any findings come back byte by byte, in files of any size', async () => {
    const large = Buffer.from(
      JSON.stringify([{ title: 'x', file: 'a.js', description: 'あ'.repeat(1_000_000) }]),
    );
    const read = await importOf(
      await zipBundle(toBundle(sourceOf([]), [{ path: 'findings.json', content: large }], tool)),
    );
    assert.deepEqual(read.files.get('findings.json'), large);
    await fc.assert(
      fc.asyncProperty(anyItems, anyTriage, async (some, triage) => {
        const content = Buffer.from(JSON.stringify(some));
        const source = sourceOf(some, () => triage);
        const files = toBundle(source, [{ path: 'findings.json', content }], tool);
        const back = await importOf(await zipBundle(files));
        assert.deepEqual(back.files.get('findings.json'), content);
        assert.equal(back.findings, some.length);
      }),
      { numRuns: 100 },
    );
  });

  const bad: readonly [string, () => Buffer | Promise<Buffer>, string][] = [
    ['F71 an entry that climbs out', () => zipOf([{ path: '../../evil.sh', content: report }]), 'damaged'],
    ['F71 an absolute entry', () => zipOf([{ path: '/etc/cron.d/evil', content: report }]), 'damaged'],
    ['F71 an entry with a drive', () => zipOf([{ path: 'C:\\evil.bat', content: report }]), 'damaged'],
    ['an entry of another name', () => zipOf([{ path: 'source/a.js', content: report }]), 'notABundle'],
    [
      'the same entry twice',
      () =>
        zipOf([
          { path: 'report.md', content: report },
          { path: 'report.md', content: report },
        ]),
      'notABundle',
    ],
    [
      'an encrypted entry',
      () => zipOf([{ path: 'bundle.json', content: index(), encrypted: true }]),
      'encrypted',
    ],
    [
      'a bomb that says how large it is',
      () => zipOf([{ path: 'report.md', content: Buffer.alloc(65 * 1024 * 1024) }]),
      'tooLarge',
    ],
    [
      'a bomb that lies about its size',
      () => zipOf([{ path: 'report.md', content: Buffer.alloc(9_000_000), tellsBytes: 10 }]),
      'damaged',
    ],
    ['no index', () => zipOf([{ path: 'findings.json', content: findings }]), 'notABundle'],
    [
      'an index that is no JSON',
      () => zipOf([{ path: 'bundle.json', content: Buffer.from('{') }]),
      'damaged',
    ],
    [
      'an index of another program',
      () => zipOf([{ path: 'bundle.json', content: Buffer.from('{"kind":"x","version":1}') }]),
      'notABundle',
    ],
    [
      'a newer version',
      () =>
        zipOf([
          {
            path: 'bundle.json',
            content: index((value) => {
              value['version'] = 2;
            }),
          },
        ]),
      'newerVersion',
    ],
    [
      'wrong types in the index',
      () =>
        zipOf([
          {
            path: 'bundle.json',
            content: index((value) => {
              value['run'] = { targets: 'shop' };
            }),
          },
        ]),
      'damaged',
    ],
    ['a file that is missing', () => zipOf([{ path: 'bundle.json', content: index() }]), 'damaged'],
    [
      'a file that was changed',
      () => {
        const files = toBundle(sourceOf(items), artifacts, tool);
        return zipOf(
          files.map(({ path, content }) => ({
            path,
            content: path === 'report.md' ? Buffer.from('changed') : content,
          })),
        );
      },
      'damaged',
    ],
    [
      'a manifest that is none',
      () => {
        const files = toBundle(
          sourceOf(items),
          [artifacts[0]!, { path: 'manifest-0.json', content: Buffer.from('{"entries":5}') }],
          tool,
        );
        return zipBundle(files);
      },
      'damaged',
    ],
    [
      'an archive that was cut off',
      async () => (await zipBundle(toBundle(sourceOf(items), artifacts, tool))).subarray(0, -30),
      'damaged',
    ],
  ];
  for (const [name, make, subject] of bad) {
    test(`${name} is refused, and says so`, async () => {
      const zip = await make();
      await assert.rejects(importOf(zip), (error: { kind?: string; data?: { subject?: string } }) => {
        assert.deepEqual([error.kind, error.data?.subject], ['badImport', subject]);
        return true;
      });
    });
  }
});

describe('importing', () => {
  test('SARIF, a table and any findings file come in, with the decisions that ours carry', async () => {
    const source = sourceOf(items, () => accepted);
    const fixed = sourceOf(items, () => ({ ...accepted, note: 'not there any more' })).shown;
    for (const [content, decided, folders] of [
      [JSON.stringify(toSarif({ ...source, fixed }, tool)), [{ index: 0, ...accepted }], ['shop']],
      [toCsv(source), [{ index: 0, ...accepted, at: 0 }], ['shop']],
      [findings, [], []],
      [await readFile(new URL('../../../fixtures/findings/semgrep.json', import.meta.url)), [], []],
    ] as const) {
      const read = await importOf(content);
      assert.ok(read.findings > 0);
      assert.deepEqual(read.decisions, decided);
      assert.deepEqual(read.folders, folders);
      const text = String(read.files.get('findings.json'));
      assert.equal(parseFindings(text, { runId: 'x' }).findings.length, read.findings);
    }
  });

  test('F70 keys named __proto__ change nothing', async () => {
    const text =
      '{"findings":[{"title":"x","file":"a.js","__proto__":{"polluted":1}}],"__proto__":{"polluted":1}}';
    assert.equal((await importOf(text)).findings, 1);
    await importOf('title,severity,file,__proto__\nx,high,a.js,1\n');
    assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
  });

  for (const [name, content, subject] of [
    ['an empty file', '', 'noFindings'],
    ['prose', 'Dear all,\nfindings attached.', 'noFindings'],
    ['JSON without a list', '{"name":"x"}', 'noFindings'],
    ['JSON that was cut off', '[{"title":"x"', 'noFindings'],
    ['bytes that are no text', Buffer.from([0xff, 0xfe, 0x00, 0x41]), 'notText'],
  ] as const) {
    test(`${name} is refused, and says so`, async () => {
      await assert.rejects(
        importOf(content),
        (error: { data?: { subject?: string } }) => error.data?.subject === subject,
      );
    });
  }

  test('F69 a file of more than 64 MiB is refused', async () => {
    await assert.rejects(
      importOf(Buffer.alloc(64 * 1024 * 1024 + 1, ' ')),
      (error: { data?: { subject?: string } }) => error.data?.subject === 'tooLarge',
    );
  });

  test('what came in becomes a run that nothing asks the service about, or leaves nothing behind', async (t) => {
    const root = await scratchFolder(t, []);
    const clock = { now: () => 5, monotonic: () => 5, sleep: () => Promise.resolve() };
    const silent = { trace: () => {}, debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
    const store = new RunStore(join(root, 'runs'), { clock, log: silent });
    const imported = await importOf(await zipBundle(toBundle(sourceOf(items), artifacts, tool)));
    const targets = [{ folder: '/home/dev/shop', name: 'shop' }];
    const run = await importRun(imported, { fileName: 'a\u202Eb.zip', targets }, { store, clock });
    assert.equal(run.state, 'imported');
    const again = new RunStore(join(root, 'runs'), { clock, log: silent });
    await again.reload();
    assert.deepEqual(again.all(), [run]);
    assert.equal(run.importedFrom, 'a\\u{202E}b.zip');
    assert.deepEqual([run.baseUrl, run.organizationId, run.noticeDue], ['', '', false]);
    assert.deepEqual(
      run.artifacts.map(({ name }) => name),
      ['findings', 'report'],
    );
    assert.equal(sha256(await readFile(join(store.folderOf(run.id), 'findings.json'))), sha256(findings));

    const broken = { ...imported, files: new Map([...imported.files, ['no/such/folder.json', 'x']]) };
    await assert.rejects(importRun(broken, { fileName: 'b.zip', targets }, { store, clock }));
    await again.reload();
    assert.equal(again.all().length, 1);
  });

  test('a bundle of an older run is an older run: it takes the place of no newer one, and is compared with none', async (t) => {
    const scene = await setScene(t);
    const shop = join(scene.root, 'shop');
    scene.open.add(shop);
    const old = await scene.addRun(['shop'], finding('old'));
    const artifact = { path: 'findings.json', content: Buffer.from(finding('old')) };
    const bundle = toBundle({ run: old, shown: [] }, [artifact], tool);
    await scene.runs.remove(old.id);
    await scene.addRun(['shop'], finding('new'));
    const targets = [{ folder: shop, name: 'shop' }];
    const origin = { fileName: 'old.zip', targets };
    const imported = await importOf(await zipBundle(bundle));
    const run = await importRun(imported, origin, { store: scene.runs, clock: machineClock });
    await scene.store.refresh();
    assert.deepEqual(titles(scene), ['new']);
    assert.equal(scene.store.baselineOf(run), undefined);
    await scene.store.show(run);
    assert.deepEqual(titles(scene), ['old']);
  });

  for (const [name, write] of [
    ['a bundle', (source, files) => zipBundle(toBundle(source, files, tool))],
    ['SARIF', (source) => JSON.stringify(toSarif(source, tool))],
    ['a table', (source) => toCsv(source)],
  ] as [string, (source: ExportSource, files: readonly BundleFile[]) => Promise<Buffer> | string][]) {
    test(`of two folders, ${name} puts findings and decisions on the files of their own folder alone`, async (t) => {
      const scene = await setScene(t);
      const told = [0, 1].map((target) => ({ title: 'x', file: 'a.js', line: 2, target_index: target }));
      const both = await scene.addRun(['shop', 'tool'], JSON.stringify(told), { 'a.js': 'one\ntwo\n' });
      const { shown } = await scene.store.read(both);
      const decided = shown.map((each, at) => (at === 0 ? { ...each, triage: accepted } : each));
      const files = await Promise.all(
        ['findings.json', 'manifest-0.json', 'manifest-1.json'].map(async (file) => ({
          path: file,
          content: await readFile(join(scene.runs.folderOf(both.id), file)),
        })),
      );
      const imported = await importOf(await write({ run: both, shown: decided }, files));
      assert.deepEqual(imported.folders, ['shop', 'tool']);
      const tools = join(scene.root, 'tool');
      const targets = [{ name: 'shop' }, { name: 'tool', folder: tools }];
      const ports = { store: scene.runs, clock: machineClock };
      const run = await importRun(imported, { fileName: 'both', targets }, ports);
      const here = (await scene.store.read(run)).shown;
      assert.deepEqual(
        here.map(({ places }) => places.map(({ folder }) => folder)),
        [[], [tools]],
      );
      const [group, ...others] = undecidedBy(imported.decisions, here);
      assert.deepEqual([group?.decision.note, group?.shown, others], [accepted.note, here.slice(0, 1), []]);
      await scene.store.setTriage(here.slice(0, 1), 'acceptedRisk', 'elsewhere');
      assert.deepEqual(
        (await scene.store.read(run)).shown.map(({ triage }) => triage.state),
        ['acceptedRisk', 'open'],
      );
      assert.equal(await readFile(join(tools, 'triage.json'), 'utf8').catch(() => 'none'), 'none');
    });
  }
});
