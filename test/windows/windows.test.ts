import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { startWindows, toWindowsPath, type Windows } from '../host/wine.ts';
import { parseWorker } from '../unit/findings/parse/bundledWorker.ts';
import { readTar, readZip } from '../unit/upload/archive/readArchive.ts';
import type { EndedTest } from './reporter.ts';

const here = (file: string): string => toWindowsPath(join(import.meta.dirname, file));
const typeScript = ['--experimental-strip-types', '--disable-warning=ExperimentalWarning'];

describe('in Windows', () => {
  let windows: Windows;
  let folder: string;
  before(async () => {
    windows = await startWindows();
    folder = await mkdtemp(join(tmpdir(), 'windows-'));
  });
  after(async () => {
    await windows.dispose();
    await rm(folder, { recursive: true, force: true });
  });

  test('the tests of paths, files, leases, and archives pass', async (t) => {
    const report = join(folder, 'report');
    const { code, stderr } = await windows.runNode(
      [
        ...typeScript,
        // In Wine, processes that talk to each other can end in an assertion of libuv, and there is no `true` to start.
        '--test-skip-pattern=several processes|of another machine',
        `--test-reporter=file:///Z:${join(import.meta.dirname, 'reporter.ts')}`,
        `--test-reporter-destination=${toWindowsPath(report)}`,
        here('windows.group.ts'),
      ],
      // esbuild does not run in Wine 8.
      { BUNDLED_PARSE_WORKER: toWindowsPath(parseWorker) },
    );
    const lines = (await readFile(report, 'utf8')).split('\n').filter((line) => line !== '');
    const ended = lines.map((line) => JSON.parse(line) as EndedTest);
    for (const { name, skip = false, error } of ended)
      await t.test(name, { skip }, () => {
        if (error !== undefined) throw new Error(`In Windows: ${error}`);
      });
    assert.ok(code === 0 || ended.some(({ error }) => error !== undefined), stderr);
    assert.ok(ended.length > 0, `No test ran: ${stderr}`);
  });

  test('F176 a token command is a batch file in a folder with spaces', async () => {
    const batch = join(folder, 'my tools', 'print token.cmd');
    await mkdir(join(batch, '..'));
    await writeFile(batch, '@echo %~1\r\n');
    const command = ['cmd', '/d', '/c', 'call', toWindowsPath(batch), 'an-invented-token'];
    const { stdout, stderr } = await windows.runNode([...typeScript, here('tokenProcess.ts'), ...command]);
    assert.equal(stdout, 'an-invented-token', stderr);
  });

  for (const [format, read] of [
    ['tar_gz', readTar],
    ['zip', readZip],
  ] as const)
    test(`F176 a ${format} that is made there has the same files here`, async () => {
      const source = join(folder, format);
      const contents = {
        '.gitignore': 'left out.txt\r\n',
        'README.md': 'one\r\ntwo\r\n',
        'src/設計/ガイド.ts': 'export {};\n',
        'src/nested folder/a b.ts': '',
      };
      for (const [path, content] of Object.entries({ ...contents, 'left out.txt': '' })) {
        await mkdir(join(source, path, '..'), { recursive: true });
        await writeFile(join(source, path), content);
      }
      const archive = join(folder, `${format}.archive`);
      const args = [source, archive].map(toWindowsPath);
      const { stdout, stderr } = await windows.runNode([
        ...typeScript,
        here('packProcess.ts'),
        args[0]!,
        format,
        args[1]!,
      ]);
      assert.ok(stdout !== '', stderr);
      assert.deepEqual(JSON.parse(stdout), { paths: Object.keys(contents).sort(), omitted: [] });
      const entries = await read(archive);
      assert.deepEqual(
        entries.map(({ path, bytes }) => [path, bytes]),
        Object.entries(contents)
          .sort(([one], [other]) => (one < other ? -1 : 1))
          .map(([path, content]) => [path, Buffer.byteLength(content)]),
      );
    });
});
