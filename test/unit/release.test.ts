import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { createVSIX } from '@vscode/vsce';
import { bundledPackages, checkAudit } from '../tools/audit.ts';
import { isPreRelease } from '../tools/package.ts';
import {
  checkComponents,
  checkLicences,
  checkSame,
  checkTag,
  checkTree,
  checkVsix,
  pictureAddress,
  releaseNotes,
  runNode,
} from '../tools/release.ts';

const root = path.resolve(import.meta.dirname, '../..');

test('a release refuses changes without a commit', () => {
  checkTree('');
  assert.throws(
    () => checkTree(' M README.md\n?? new.txt\n'),
    /commit, undo, or remove these first:\n M README\.md/,
  );
});

test('a release refuses a tag that is not the version, and a version that the Marketplace does not take', () => {
  checkTag('v1.0.0', '1.0.0', '1.0.0');
  assert.throws(() => checkTag('v1.0.1', '1.0.0', '1.0.0'), /use --tag v1\.0\.0/);
  assert.throws(() => checkTag('v1.0.0', '1.0.0', '0.9.0'), /package-lock\.json has version 0\.9\.0/);
  assert.throws(() => checkTag('v1.1.0-beta', '1.1.0-beta', '1.1.0-beta'), /versions like 1\.0\.0 only/);
});

const changelog = `# Changelog

## 1.1.0 - 2026-12-24 (pre-release)

- Soon.

## 1.0.0 - 2026-12-01

The first release.

### Added

- All of it.
`;

test('release notes are the section of the one version, which has a date', () => {
  assert.equal(releaseNotes(changelog, '1.0.0'), 'The first release.\n\n### Added\n\n- All of it.\n');
  assert.equal(releaseNotes(changelog, '1.1.0'), '- Soon.\n');
  assert.throws(() => releaseNotes(changelog, '1.2.0'), /has no "## 1\.2\.0 - YYYY-MM-DD"/);
  assert.throws(() => releaseNotes('## 1.0.0 - unreleased\n\nText\n', '1.0.0'), /no date for 1\.0\.0/);
  assert.throws(() => releaseNotes('## 1.0.0 - 2026-12-01\n\n', '1.0.0'), /says nothing about 1\.0\.0/);
});

test('exactly an odd minor version is a pre-release, and the changelog says so', () => {
  assert.deepEqual(['1.0.0', '1.1.0', '1.2.3', '2.11.0'].map(isPreRelease), [false, true, false, true]);
  const unmarked = changelog.replace(' (pre-release)', '');
  assert.throws(() => releaseNotes(unmarked, '1.1.0'), /an odd minor version is a pre-release/);
  const marked = changelog.replace('2026-12-01', '2026-12-01 (pre-release)');
  assert.throws(() => releaseNotes(marked, '1.0.0'), /an even minor version is no pre-release/);
});

test('pictures are loaded from the repository in package.json, at the tag', () => {
  const expected = 'https://raw.githubusercontent.com/owner/name/v1.0.0';
  assert.equal(pictureAddress('https://github.com/owner/name.git', 'v1.0.0'), expected);
  assert.throws(() => pictureAddress('https://example.com/owner/name', 'v1.0.0'), /not on github\.com/);
});

test('a release refuses when its tests or a program fail', () => {
  runNode('--eval', 'process.exit(0)');
  assert.throws(() => runNode('--eval', 'process.exit(1)'), /failed/);
});

test('a release refuses two VSIX of the same sources that differ in a byte', () => {
  checkSame(Buffer.from('same'), Buffer.from('same'));
  assert.throws(() => checkSame(Buffer.from('same'), Buffer.from('samf')), /differ/);
});

test('a release reads the VSIX back, and refuses another version, a wrong mark, and pictures that no reader sees', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'release-test-'));
  const images = 'https://example.com/v1.0.0';
  const base = { name: 'sample', publisher: 'invented', engines: { vscode: '^1.108.0' } };
  const manifest = { ...base, repository: { url: 'https://github.com/owner/name.git' } };
  const pack = async (version: string, preRelease: boolean): Promise<string> => {
    await writeFile(path.join(folder, 'package.json'), JSON.stringify({ ...manifest, version }));
    await writeFile(path.join(folder, 'README.md'), '# Sample\n\n![A picture](a.png)\n');
    const packagePath = path.join(folder, `${version}-${preRelease}.vsix`);
    const quiet = { dependencies: false, skipLicense: true, allowUnusedFilesPattern: true };
    await createVSIX({ cwd: folder, packagePath, baseImagesUrl: images, preRelease, ...quiet });
    return packagePath;
  };
  const plain = await pack('1.0.0', false);
  await checkVsix(plain, { ...manifest, version: '1.0.0' }, images);
  await assert.rejects(
    checkVsix(plain, { ...manifest, version: '1.2.0' }, images),
    /is invented\.sample 1\.0\.0, not/,
  );
  await assert.rejects(
    checkVsix(plain, { ...manifest, version: '1.0.0' }, 'https://example.com/v2'),
    /outside/,
  );
  const odd = { ...manifest, version: '1.1.0' };
  await checkVsix(await pack('1.1.0', true), odd, images);
  await assert.rejects(
    checkVsix(await pack('1.1.0', false), odd, images),
    /an odd minor version is a pre-release/,
  );
  await rm(folder, { recursive: true });
});

const bundled = [
  { name: '@scope/one', version: '1.0.0', licence: 'MIT' },
  { name: 'two', version: '2.0.0', licence: 'ISC' },
];

test('a release refuses an SBOM that names other packages than the notices', () => {
  const one = { group: '@scope', name: 'one', version: '1.0.0' };
  checkComponents({ components: [one, { name: 'two', version: '2.0.0' }] }, bundled);
  assert.throws(() => checkComponents({ components: [one] }, bundled), /not in both .*: two 2\.0\.0/);
  const other = [one, { name: 'two', version: '2.0.1' }];
  assert.throws(() => checkComponents({ components: other }, bundled), /two 2\.0\.1, two 2\.0\.0/);
});

test('a release refuses a bundled package under a licence that is not on the list', () => {
  checkLicences(bundled);
  const copyleft = { name: 'three', version: '3.0.0', licence: 'GPL-3.0-only' };
  assert.throws(() => checkLicences([...bundled, copyleft]), /three is under GPL-3\.0-only/);
});

test('a release refuses a bundled package that is known to be vulnerable, and says when the registry offers no audit', () => {
  const report = (node: string) => ({
    vulnerabilities: { two: { severity: 'high', range: '<2.0.1', nodes: [node] } },
  });
  assert.throws(() => checkAudit(bundled, report('node_modules/two')), /two <2\.0\.1: high/);
  assert.match(checkAudit(bundled, report('node_modules/tool/node_modules/two')), /none of 2/);
  assert.match(checkAudit(bundled, {}), /^skipped: the registry offers no audit/);
  assert.throws(() => checkAudit(bundled, {}, true), /the registry offers no audit/);
});

test('the bundled packages are read from the notices, and none is a mistake', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'release-test-'));
  const file = path.join(folder, 'ThirdPartyNotices.txt');
  await writeFile(
    file,
    'Title\n\n---\n\n@scope/one 1.0.0 (MIT)\n\nCopyright 2020 (c)\n\n---\n\ntwo 2.0.0 (ISC)\n',
  );
  assert.deepEqual(await bundledPackages(file), bundled);
  await writeFile(file, 'Title\n');
  await assert.rejects(bundledPackages(file), /names no package/);
  await rm(folder, { recursive: true });
});

test('the Release workflow only runs npm run release and uploads; both publish a pre-release as such', async () => {
  const workflow = await readFile(path.join(root, '.github/workflows/release.yml'), 'utf8');
  const commands = [...workflow.matchAll(/^ +(?:- )?run: (.+)$/gmu)].map(([, command = '']) => command);
  assert.deepEqual(
    commands.map((command) => command.split(' ').slice(0, 3).join(' ')),
    ['npm ci --no-audit', 'npm run release', 'npx vsce publish', 'npx ovsx publish', 'gh release create'],
  );
  const [, , marketplace, openVsx, release] = commands;
  for (const command of [marketplace, openVsx]) assert.match(command ?? '', / --skip-duplicate /);
  for (const command of [marketplace, release])
    assert.match(command ?? '', /\$\{\{ steps\.release\.outputs\.pre-release .*\}\}/);
});
