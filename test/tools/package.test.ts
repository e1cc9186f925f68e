import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, cp, mkdtemp, readdir, readFile, rm, stat, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from '@playwright/test';
import { promisify } from 'node:util';
import { listFiles, PackageManager } from '@vscode/vsce';
import { packedFiles, packageExtension, withoutPictures } from './package.ts';
import { checkVsix } from './release.ts';

const root = path.resolve(import.meta.dirname, '../..');

test('the VSIX is identical to the byte from another folder, whatever the timestamps and modes of its files', async () => {
  const scratch = await mkdtemp(path.join(tmpdir(), 'package-test-'));
  const copy = path.join(scratch, 'copy');
  for (const file of [...(await packedFiles()), '.vscodeignore']) {
    await cp(path.join(root, file), path.join(copy, file));
    await utimes(path.join(copy, file), 1_000_000_000, 1_000_000_000);
    await chmod(path.join(copy, file), 0o600);
  }
  const one = await packageExtension(path.join(scratch, 'one.vsix'));
  const other = await packageExtension(path.join(scratch, 'other.vsix'), { root: copy });
  assert.ok((await readFile(one)).equals(await readFile(other)));
  // vsce itself would pack the same from that folder.
  assert.deepEqual(
    (await listFiles({ cwd: copy, packageManager: PackageManager.None })).sort(),
    [...(await packedFiles())].sort(),
  );
  await rm(scratch, { recursive: true, force: true });
});

interface Manifest {
  readonly publisher: string;
  readonly name: string;
  readonly version: string;
  readonly repository: { readonly url: string };
  readonly contributes: {
    readonly walkthroughs: readonly {
      readonly steps: readonly { readonly media: { readonly image: Readonly<Record<string, string>> } }[];
    }[];
  };
}

async function readManifest(): Promise<Manifest> {
  return JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')) as Manifest;
}

async function filesBelow(folder: string): Promise<readonly string[]> {
  const entries = await readdir(path.join(root, folder), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => path.relative(root, path.join(parentPath, name)));
}

test('the VSIX contains exactly the runtime files, the documentation, the walkthrough’s pictures, and the sample', async () => {
  const { contributes } = await readManifest();
  const steps = contributes.walkthroughs.flatMap((walkthrough) => walkthrough.steps);
  const pictures = new Set(steps.flatMap(({ media }) => Object.values(media.image)));
  assert.equal(pictures.size, 2 * steps.length);
  const sample = await filesBelow('examples/sample');
  const others = `CHANGELOG.md LICENSE README.md package.json package.nls.ja.json package.nls.json l10n/bundle.l10n.ja.json
    media/icon.png media/shield.svg skills/whitebox-findings/SKILL.md
    dist/ThirdPartyNotices.txt dist/archiveWorker.cjs dist/blackbox.schema.ja.json dist/blackbox.schema.json dist/bootstrap.cjs
    dist/main.cjs dist/mcp.cjs dist/parseWorker.cjs dist/secretWorker.cjs
    dist/webview/report.css dist/webview/report.js dist/webview/saved.css`;
  assert.deepEqual(
    [...(await packedFiles())].sort(),
    [...others.split(/\s+/), ...pictures, ...sample].sort(),
  );
  const sizes = await Promise.all(sample.map(async (file) => (await stat(path.join(root, file))).size));
  assert.ok(sizes.reduce((sum, size) => sum + size, 0) <= 40_000);
});

test('README links its pictures if they have a base URL, and otherwise points to the walkthrough', async () => {
  const scratch = await mkdtemp(path.join(tmpdir(), 'package-test-'));
  const manifest = await readManifest();
  const images = 'https://example.com/pictures';
  await checkVsix(await packageExtension(path.join(scratch, 'with.vsix'), { images }), manifest, images);
  const without = await packageExtension(path.join(scratch, 'without.vsix'));
  await assert.rejects(checkVsix(without, manifest, images), /README in the VSIX has no picture/);
  const readme = withoutPictures(await readFile(path.join(root, 'README.md'), 'utf8'));
  assert.match(readme, /walkthrough \*Get Started with Whitebox Assessment\*/);
  assert.doesNotMatch(readme, /!\[|:\n\n(?! {4})/);
  await rm(scratch, { recursive: true, force: true });
});

test('every package in a bundle is listed with its licence', async () => {
  const notices = await readFile(path.join(root, 'dist/ThirdPartyNotices.txt'), 'utf8');
  for (const name of ['zod', '@modelcontextprotocol/sdk', 'marked', 'dompurify']) {
    assert.match(notices, new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\(.+\\)\\n\\n\\S`, 'm'), name);
  }
});

/** Loads every extension host bundle with a stub of VS Code, and prints changed dispatchers. */
const loading = `
  const Module = require('node:module');
  const anything = new Proxy(function () {}, {
    get: (_, key) => (key === Symbol.toPrimitive ? () => '' : anything),
    // A bundle reads it by an object that has it as its prototype.
    getPrototypeOf: () => anything,
    apply: () => anything,
    construct: () => anything,
  });
  const load = Module._load;
  Module._load = (name, ...rest) => (name === 'vscode' ? anything : load(name, ...rest));
  const slots = () => Object.getOwnPropertySymbols(globalThis)
    .filter(({ description }) => description?.startsWith('undici.'))
    .map((slot) => [slot, globalThis[slot]]);
  void fetch;
  const before = new Map(slots());
  for (const part of ['bootstrap', 'main']) require('./dist/' + part + '.cjs');
  const changed = slots().filter(([slot, dispatcher]) => before.get(slot) !== dispatcher);
  console.log(JSON.stringify(changed.map(([slot]) => String(slot))));
`;

test('F88 loading the extension leaves the shared HTTP dispatchers unchanged', async () => {
  const run = promisify(execFile);
  const changed = async (script: string): Promise<unknown> =>
    JSON.parse((await run(process.execPath, ['-e', script], { cwd: root })).stdout);
  assert.deepEqual(await changed(loading), []);
  const withUndici = loading.replace('for (const', "require('undici'); for (const");
  assert.notDeepEqual(await changed(withUndici), [], 'it would be seen');
});
