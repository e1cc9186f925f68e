import assert from 'node:assert/strict';
import { readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import {
  asUploadedIn,
  readAsUploaded,
  readUploadedFiles,
  readTextBelow,
  type TextReader,
  textReaders,
  keptPath,
} from '../../../../src/core/findings/location/uploadedFiles.ts';
import { readSaved, resultName } from '../../../../src/core/findings/result/resultFile.ts';
import { saveResult } from '../../../../src/core/findings/result/readResult.ts';
import type { ArchiveFormat } from '../../../../src/core/upload/archive/packing.ts';
import { withLinks } from '../../core/systemSkips.ts';
import { setUpFindings, sourceFor } from '../findingFixture.ts';
import { scratchFolder } from '../scratchFolder.ts';
import { packRun } from './locating.ts';

const long = `src/${'deep/'.repeat(30)}設計 file.js`;
const files: Readonly<Record<string, string>> = {
  'src/orders.js': 'const sql = 1;\n',
  'src/empty.js': '',
  'src/large.js': 'x'.repeat(3_000_000),
  [long]: 'a long name\n',
  'secret.js': 'nobody points here\n',
};

const pointedAt = Object.keys(files).filter((name) => name !== 'secret.js');

/**
 * The packed run has one folder with findings in all files except one. `save` is the last step of
 * collecting.
 */
async function send(t: TestContext, format: ArchiveFormat) {
  const fixture = await setUpFindings(t, 'shop');
  const paths = [...pointedAt.slice(0, -1), `/sandbox/x/${long}`, 'src/none.js', '../out.js'];
  const findings = JSON.stringify(paths.map((file) => ({ title: file, severity: 'high', file, line: 1 })));
  const run = await packRun(fixture, await fixture.storeRun(['shop'], findings, files), files, format);
  const [folder, runFolder] = [path.join(fixture.root, 'shop'), fixture.runs.folderOf(run.id)];
  const fileOf = (name: string): string => path.join(runFolder, keptPath({ target: 0, path: name }));
  return {
    ...{ run, folder, runFolder },
    save: () => saveResult(run, sourceFor(fixture.runs)),
    kept: (name: string): Promise<string | undefined> =>
      readFile(fileOf(name), 'utf8').catch(() => undefined),
  };
}

for (const format of ['tar_gz', 'zip'] as const) {
  test(`the sent text of files with findings is stored, from a ${format} if they changed since`, async (t) => {
    const uploaded = await send(t, format);
    for (const name of Object.keys(files))
      await writeFile(path.join(uploaded.folder, name), 'edited since\n');
    await uploaded.save();
    for (const [name, text] of Object.entries(files)) {
      assert.equal(await uploaded.kept(name), pointedAt.includes(name) ? text : undefined, name);
    }
    assert.equal((await readdir(path.join(uploaded.runFolder, 'source'))).length, 4);
  });

  test(`a damaged ${format} is neither a hang nor wrong text`, async (t) => {
    const uploaded = await send(t, format);
    const archive = path.join(uploaded.runFolder, 'archive');
    const whole = await readFile(archive);
    await writeFile(path.join(uploaded.folder, 'src/orders.js'), 'edited since\n');
    await writeFile(archive, whole.subarray(0, 40));
    await assert.rejects(uploaded.save(), { kind: 'storage' });
    assert.equal(await uploaded.kept('src/orders.js'), undefined);
    assert.equal(await uploaded.kept('src/empty.js'), '');
  });
}

test('F203 texts that cannot be kept are said, and the findings are saved', async (t) => {
  const { run, runFolder, save } = await send(t, 'tar_gz');
  await rm(path.join(runFolder, 'source'), { recursive: true, force: true });
  await writeFile(path.join(runFolder, 'source'), 'in the way');
  await rm(path.join(runFolder, resultName), { force: true });
  await assert.rejects(save(), { kind: 'storage', message: 'storage: ENOTDIR' });
  assert.equal((await readSaved(runFolder))?.head.id, run.id);
});

test('F203 only a missing, changed, or linked file is no text; what the disk does not say is an error', async (t) => {
  const folder = await scratchFolder(t, ['a.js']);
  const failing = (code: string): TextReader => ({
    ...textReaders.host,
    open: () => Promise.reject(Object.assign(new Error(code), { code })),
  });
  for (const code of ['ENOENT', 'ENOTDIR', 'ELOOP', 'EISDIR'])
    assert.equal(await readTextBelow(folder, 'a.js', undefined, failing(code)), undefined, code);
  for (const code of ['EIO', 'EMFILE', 'ESTALE', 'EACCES'])
    await assert.rejects(readTextBelow(folder, 'a.js', undefined, failing(code)), { code });
  for (const reader of Object.values(textReaders))
    assert.deepEqual(
      [await readTextBelow(folder, 'a.js', 4, reader), await readTextBelow(folder, 'a.js', 5, reader)],
      [Buffer.from('a.js'), undefined],
    );
});

test('names of stored files cannot leave their folder', () => {
  for (const name of ['../../escape', '/etc/passwd', 'a\0b', 'C:\\x'])
    assert.match(keptPath({ target: 0, path: name }), /^source\/[0-9a-f]{40}$/);
  assert.notEqual(keptPath({ target: 0, path: 'a' }), keptPath({ target: 1, path: 'a' }));
});

test('a uploaded file is read from the store, the disk or the commit with either line ends, or not at all', async (t) => {
  const { folder, runFolder, save } = await send(t, 'tar_gz');
  const uploaded = (await readUploadedFiles({ target: 0, folder }, runFolder))?.get('src/orders.js');
  const asUploaded = async (): Promise<string | undefined> =>
    (await readAsUploaded(runFolder, uploaded!))?.toString();
  const inCommit = (committed: string): string | undefined =>
    asUploadedIn(Buffer.from(committed), uploaded!)?.toString();
  const text = files['src/orders.js']!;
  assert.equal(await asUploaded(), text);
  await writeFile(path.join(folder, 'src/orders.js'), 'changed\n');
  assert.equal(await asUploaded(), undefined);
  assert.equal(inCommit(text), text);
  assert.equal(inCommit(text.replaceAll('\n', '\r\n')), text);
  assert.equal(inCommit(`${text}// more\n`), undefined);
  await writeFile(path.join(folder, 'src/orders.js'), text);
  // No archive is needed while the disk still has what was uploaded.
  await rm(path.join(runFolder, 'archive'));
  await save();
  await rm(folder, { recursive: true });
  assert.equal(await asUploaded(), text);
  await writeFile(path.join(runFolder, keptPath(uploaded!)), 'changed\n');
  assert.equal(await asUploaded(), undefined);
});

test(
  'F179 a file that a link has replaced, or that lies below a replaced folder, is not read',
  withLinks,
  async (t) => {
    const folder = await scratchFolder(t, ['src/a.js', 'lib/a.js', 'other.js', 'outside/a.js']);
    const outside = path.join(folder, '..', 'outside');
    await rename(path.join(folder, 'outside'), outside);
    const read = async (name: string): Promise<string | undefined> =>
      (await readTextBelow(folder, name))?.toString();
    assert.deepEqual([await read('src/a.js'), await read('lib/a.js')], ['src/a.js', 'lib/a.js']);
    await rename(path.join(folder, 'src'), path.join(folder, 'kept'));
    await symlink(outside, path.join(folder, 'src'));
    await rm(path.join(folder, 'lib/a.js'));
    await symlink(path.join(outside, 'a.js'), path.join(folder, 'lib/a.js'));
    await symlink('other.js', path.join(folder, 'inside.js'));
    assert.deepEqual(
      await Promise.all(['src/a.js', 'lib/a.js', 'inside.js', '../outside/a.js', 'other.js'].map(read)),
      [undefined, undefined, undefined, undefined, 'other.js'],
    );
    // A folder that was opened through a link is what the link leads to.
    await symlink(folder, path.join(outside, 'link'));
    assert.equal((await readTextBelow(path.join(outside, 'link'), 'other.js'))?.toString(), 'other.js');
  },
);
