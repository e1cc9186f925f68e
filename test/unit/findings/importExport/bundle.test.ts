import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { toBundle, zipBundle } from '../../../../src/core/findings/importExport/bundle.ts';
import { bundleSchema } from '../../../../src/core/findings/importExport/readContent.ts';
import { accepted, artifacts, bundleOf, importOf, items, textOf, zipOf } from './bundles.ts';
import { shopRun, sourceOf } from './exportingFindings.ts';

function factsWith(changes: object): string {
  const [facts] = toBundle(sourceOf(items), []);
  return JSON.stringify({ ...(JSON.parse(String(facts?.content)) as object), ...changes });
}

/** The record of the bundle's only file has another value at this position of the directory. */
function changedAt(position: number, value: number, text = artifacts['report.md'] ?? ''): Buffer {
  const zip = zipOf({ 'report.md': text });
  zip.writeUInt16LE(value, zip.indexOf('PK\u0001\u0002') + position);
  return zip;
}

const twice = { path: 'report.md', content: Buffer.from('# Twice\n') };
const manifestOf = (paths: readonly string[]): string =>
  JSON.stringify({ entries: paths.map((each) => ({ path: each })) });
const manyPaths = manifestOf(Array<string>(300_000).fill('a'));
const manyValues = `[${'{},'.repeat(4_000_000)}{}]`;
const withManifest = (manifest: string): Buffer => bundleOf({ ...artifacts, 'manifest-0.json': manifest });

/** A book has these members. They are about another findings file. */
const ofMachine = { sharedAs: 'canary.json', from: 'canary.json', onlyIn: 'canary' };
const decided = { ...accepted, name: 'other', index: 5, ...ofMachine };
const withDecision = sourceOf(items, () => decided);

describe('an offline bundle', () => {
  test('restores artifacts, run facts and decisions exactly', async () => {
    const read = await importOf(bundleOf(artifacts, withDecision));
    assert.deepEqual([...read.files.keys()], Object.keys(artifacts));
    for (const [name, text] of Object.entries(artifacts)) assert.equal(textOf(read, name), text);
    const [{ index, state, note, at } = {}] = read.decisions;
    assert.deepEqual({ index, state, note, at }, { index: 0, ...accepted });
    assert.deepEqual(read.run, {
      runId: 'run-1',
      workflow: 'whitebox-assessment',
      language: 'japanese',
      dispatchedAt: shopRun.dispatchedAt,
      exitedAt: shopRun.exitedAt,
      targets: [{ name: 'shop', commit: { id: 'c0ffee0123456789', dirty: true } }],
    });
  });

  test('of a partial run of a live application says so, and is imported as one, also when it is handed on', async () => {
    const source = sourceOf(items);
    const input = { target_urls: ['https://shop.example/'] };
    const pairs = [{ feature_name: 'Search', perspective: 'XSS' as const }];
    const partial = { input: { ...input, pairs } };
    for (const changes of [{ state: 'cancelled' }, { state: 'imported', endedEarly: true }, partial]) {
      const run = { ...source.run, workflow: 'blackbox-assessment', input, ...changes } as typeof source.run;
      const read = (await importOf(bundleOf(artifacts, { ...source, run }))).run;
      assert.deepEqual([read?.workflow, read?.input, read?.endedEarly], [run.workflow, input, true]);
    }
  });

  test('contains only what the question before the export names', () => {
    const file = path.resolve(import.meta.dirname, '../../../../l10n/bundle.l10n.ja.json');
    const texts = readFileSync(file, 'utf8');
    const question =
      Object.keys(JSON.parse(texts) as object).find((text) => text.startsWith('Contains:')) ?? '';
    const named: Readonly<Record<string, string>> = {
      'findings.json': 'the findings, with the code that they quote',
      'report.md': 'the report',
      'manifest-0.json': 'the list of assessed files, with hashes',
      'triage.jsonl': 'triage decisions, with notes and times',
      name: 'folder names',
      commit: 'commits',
      coverage: 'how many files were uploaded and excluded',
      input: 'target URLs',
      workflow: 'type',
      runId: 'ID',
      language: 'language',
      dispatchedAt: 'times',
      exitedAt: 'times',
      endedEarly: 'outcome of the run',
    };
    const { targets, ...run } = bundleSchema.shape.run.shape;
    const contents = Object.keys(artifacts).map((each) => ({ path: each, content: Buffer.alloc(0) }));
    const [, ...files] = toBundle(sourceOf(items), contents);
    const members = [run, targets.def.element.shape].flatMap(Object.keys);
    for (const part of [...files.map((file) => file.path), ...members])
      assert.ok(question.includes(named[part] ?? 'nothing'), part);
  });

  test('contains no address, organization or local folder, and equal runs give equal bytes', () => {
    for (const { content } of toBundle(withDecision, [])) assert.ok(!content.includes('canary'));
    assert.deepEqual(bundleOf(), bundleOf());
  });

  const bad: readonly (readonly [name: string, make: () => Buffer, subject: string])[] = [
    ['F71 an entry with ..', () => zipOf({ '../../evil.sh': '' }), 'damaged'],
    ['F71 an absolute entry', () => zipOf({ '/etc/cron.d/evil': '' }), 'damaged'],
    ['F71 an entry with a drive', () => zipOf({ 'C:\\evil.bat': '' }), 'damaged'],
    ['an unexpected entry', () => zipOf({ 'source/a.js': '' }), 'notABundle'],
    ['the same entry twice', () => zipBundle([twice, twice]), 'notABundle'],
    ['an encrypted entry', () => changedAt(8, 1, 'a'.repeat(1_000)), 'notABundle'],
    ['a modified entry', () => changedAt(16, 1), 'damaged'],
    ['a bomb with its true size', () => zipOf({ 'report.md': 'a'.repeat(65 * 1024 * 1024) }), 'tooLarge'],
    ['a bomb with a false size', () => changedAt(24, 10, 'a'.repeat(9_000_000)), 'damaged'],
    ['no facts', () => zipOf(artifacts), 'notABundle'],
    ['no findings', () => bundleOf({}), 'notABundle'],
    ['facts that are not JSON', () => zipOf({ ...artifacts, 'bundle.json': '{' }), 'damaged'],
    ['a newer version', () => zipOf({ ...artifacts, 'bundle.json': factsWith({ version: 2 }) }), 'notABundle'],
    ['other facts', () => zipOf({ ...artifacts, 'bundle.json': factsWith({ run: {} }) }), 'notABundle'],
    ['an invalid manifest', () => withManifest('{"entries":5}'), 'damaged'],
    ['F122 a path that is too long', () => withManifest(manifestOf(['a'.repeat(5_000)])), 'damaged'],
    ['F122 too many paths', () => bundleOf({ ...artifacts, 'manifest-0.json': manyPaths, 'manifest-1.json': manyPaths }), 'tooLarge'],
    ['F118 too many values in findings', () => bundleOf({ 'findings.json': manyValues }), 'tooLarge'],
    ['F118 too many values in a manifest', () => withManifest(manyValues), 'tooLarge'],
    ['a truncated archive', () => bundleOf().subarray(0, -30), 'damaged'],
  ]; // prettier-ignore
  for (const [name, make, subject] of bad)
    test(`with ${name} is refused with the reason`.replace(/^with (F\d+) /, '$1 with '), async () => {
      await assert.rejects(importOf(make()), (error: { kind?: string; data?: { subject?: string } }) => {
        assert.deepEqual([error.kind, error.data?.subject], ['badImport', subject]);
        return true;
      });
    });
});
