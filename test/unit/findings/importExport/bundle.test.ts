import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { crc32, deflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { toBundle, zipBundle } from '../../../../src/core/findings/importExport/bundle.ts';
import { bundleSchema } from '../../../../src/core/findings/importExport/readContent.ts';
import { centralRecord, localHeader, zipEnd } from '../../../../src/core/upload/archive/zip.ts';
import { anyItems, anyTriage, shopRun, sourceOf, tool } from './exportingFindings.ts';
import { accepted, artifacts, findings, importOf, items, report, textOf } from './bundles.ts';
import { propertyRuns } from '../../core/propertyRuns.ts';

/** A zip with any names, sizes and flags. */
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

const index = (changes: object = {}): Buffer => {
  const [first] = toBundle(sourceOf(items), artifacts, tool);
  return Buffer.from(JSON.stringify({ ...(JSON.parse(String(first?.content)) as object), ...changes }));
};

/** A bundle with one file replaced or added. */
function bundleWith(path: string, content: string): Buffer {
  const others = artifacts.filter((artifact) => artifact.path !== path);
  const all = [...others, { path, content: Buffer.from(content) }];
  return zipBundle(toBundle(sourceOf(items), all, tool));
}

const manifestOf = (path: string): string => JSON.stringify({ entries: [{ path }] });
const manyValues = `[${'{},'.repeat(4_000_000)}{}]`;

describe('an offline bundle', () => {
  test('restores artifacts, run facts and decisions exactly', async () => {
    const source = sourceOf(items, () => accepted);
    const read = await importOf(zipBundle(toBundle(source, artifacts, tool)));
    assert.deepEqual(Buffer.from(read.files.get('findings.json') ?? ''), findings);
    assert.deepEqual([...read.files.keys()], ['findings.json', 'report.md', 'manifest-0.json']);
    assert.equal(textOf(read, 'report.md'), '# 報告書\n');
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

  test('of a partial run says so, and is imported as one, also when it is handed on', async () => {
    const source = sourceOf(items);
    for (const changes of [{ state: 'cancelled' }, { state: 'imported', endedEarly: true }]) {
      const run = { ...source.run, ...changes } as typeof source.run;
      const read = await importOf(zipBundle(toBundle({ ...source, run }, artifacts, tool)));
      assert.equal(read.run?.endedEarly, true);
    }
  });

  test('contains only what the question before the export names', () => {
    const root = path.resolve(import.meta.dirname, '../../../..');
    const texts = Object.keys(
      JSON.parse(readFileSync(path.join(root, 'l10n/bundle.l10n.ja.json'), 'utf8')) as object,
    );
    const question = texts.find((text) => text.startsWith('Contains:')) ?? '';
    const named: Readonly<Record<string, string>> = {
      'findings.json': 'the findings, with the code that they quote',
      'report.md': 'the report',
      'manifest-0.json': 'the list of assessed files, with hashes',
      note: 'triage decisions, with notes',
      at: 'notes and times',
      name: 'folder names',
      commit: 'commits',
      coverage: 'how many files were uploaded and excluded',
      targetUrls: 'target URLs',
      workflow: 'type',
      runId: 'ID',
      language: 'language',
      dispatchedAt: 'times',
      exitedAt: 'times',
      endedEarly: 'outcome of the run',
    };
    const { targets, ...run } = bundleSchema.shape.run.shape;
    const [, ...files] = toBundle(
      sourceOf(items, () => accepted),
      artifacts,
      tool,
    );
    const decisions = files.filter((file) => file.path === 'triage.json');
    const [decision = {}] = JSON.parse(String(decisions[0]?.content)) as object[];
    const contained = [
      ...files.filter((file) => !decisions.includes(file)).map((file) => file.path),
      ...Object.keys(decision).filter((key) => key !== 'index' && key !== 'state'),
      ...Object.keys(run),
      ...Object.keys(targets.def.element.shape),
    ];
    for (const part of contained) {
      assert.ok(part in named, `the question names ${part}`);
      assert.ok(question.includes(named[part] ?? ''), part);
    }
  });

  test('contains no address, organization or local folder, and equal runs give equal bytes', () => {
    const files = toBundle(sourceOf(items), artifacts, tool);
    for (const { content } of files) assert.ok(!content.includes('canary'));
    assert.deepEqual(zipBundle(files), zipBundle(toBundle(sourceOf(items), artifacts, tool)));
  });

  test('restores any findings byte by byte', async () => {
    await fc.assert(
      fc.asyncProperty(anyItems, anyTriage, async (some, triage) => {
        const content = Buffer.from(JSON.stringify(some));
        const source = sourceOf(some, () => triage);
        const files = toBundle(source, [{ path: 'findings.json', content }], tool);
        const back = await importOf(zipBundle(files));
        assert.deepEqual(Buffer.from(back.files.get('findings.json') ?? ''), content);
        assert.equal(back.findings, some.length);
      }),
      { numRuns: propertyRuns(8, 1_000) },
    );
  });

  const oneOf = (path: string, content: Buffer | string, more = {}): Buffer =>
    zipOf([{ path, content: Buffer.from(content), ...more }]);
  const whole = (): Buffer => zipBundle(toBundle(sourceOf(items), artifacts, tool));
  const bad: readonly (readonly [name: string, make: () => Buffer, subject: string])[] = [
    ['F71 an entry with ..', () => oneOf('../../evil.sh', report), 'damaged'],
    ['F71 an absolute entry', () => oneOf('/etc/cron.d/evil', report), 'damaged'],
    ['F71 an entry with a drive', () => oneOf('C:\\evil.bat', report), 'damaged'],
    ['an unexpected entry', () => oneOf('source/a.js', report), 'notABundle'],
    ['the same entry twice', () => zipOf([artifacts[1]!, artifacts[1]!]), 'notABundle'],
    ['an encrypted entry', () => oneOf('bundle.json', index(), { encrypted: true }), 'encrypted'],
    ['a bomb with its true size', () => oneOf('report.md', Buffer.alloc(65 * 1024 * 1024)), 'tooLarge'],
    [
      'a bomb with a false size',
      () => oneOf('report.md', Buffer.alloc(9_000_000), { tellsBytes: 10 }),
      'damaged',
    ],
    ['no index', () => oneOf('findings.json', findings), 'notABundle'],
    ['an index that is not JSON', () => oneOf('bundle.json', '{'), 'damaged'],
    ['an index by another program', () => oneOf('bundle.json', '{"kind":"x","version":1}'), 'notABundle'],
    ['a newer version', () => oneOf('bundle.json', index({ version: 2 })), 'newerVersion'],
    ['wrong types in the index', () => oneOf('bundle.json', index({ run: { targets: 'shop' } })), 'damaged'],
    ['a missing file', () => oneOf('bundle.json', index()), 'damaged'],
    [
      'a modified file',
      () => {
        const content = Buffer.from('changed');
        const files = toBundle(sourceOf(items), artifacts, tool);
        return zipOf(files.map((file) => (file.path === 'report.md' ? { ...file, content } : file)));
      },
      'damaged',
    ],
    ['an invalid manifest', () => bundleWith('manifest-0.json', '{"entries":5}'), 'damaged'],
    [
      'F122 a manifest with too many folders in a path',
      () => bundleWith('manifest-0.json', manifestOf(`${'a/'.repeat(2_000)}b`)),
      'damaged',
    ],
    [
      'F122 a manifest with a path that is too long',
      () => bundleWith('manifest-0.json', manifestOf('a'.repeat(5_000))),
      'damaged',
    ],
    [
      'F118 a bundle with too many values in its findings',
      () => bundleWith('findings.json', manyValues),
      'tooLarge',
    ],
    [
      'F118 a bundle with too many values in its manifest',
      () => bundleWith('manifest-0.json', manyValues),
      'tooLarge',
    ],
    [
      'F122 a bundle with too many paths in all manifests',
      () => {
        const content = Buffer.from(`{"entries":[${'{"path":"a"},'.repeat(300_000)}{"path":"a"}]}`);
        const manifests = ['manifest-0.json', 'manifest-1.json'].map((path) => ({ path, content }));
        return zipBundle(toBundle(sourceOf(items), [artifacts[0]!, ...manifests], tool));
      },
      'tooLarge',
    ],
    ['a truncated archive', () => whole().subarray(0, -30), 'damaged'],
  ];
  for (const [name, make, subject] of bad)
    test(`${name} is refused with the reason`, async () => {
      await assert.rejects(importOf(make()), (error: { kind?: string; data?: { subject?: string } }) => {
        assert.deepEqual([error.kind, error.data?.subject], ['badImport', subject]);
        return true;
      });
    });
});
