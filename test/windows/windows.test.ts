import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, win32 } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { startWindows, toWindowsPath, type Windows } from '../host/wine.ts';
import { parseWorker } from '../unit/findings/parse/bundledWorker.ts';
import { readTar, readZip } from '../unit/upload/archive/readArchive.ts';
import type { EndedTest } from './reporter.ts';

const contents = {
  '.gitignore': 'left out.txt\r\n',
  'README.md': 'one\r\ntwo\r\n',
  'src/nested folder/a b.ts': '',
  'src/設計/ガイド.ts': 'export {};\n',
};

describe('in Windows', () => {
  let windows: Windows;
  let folder: string;
  before(async () => {
    windows = await startWindows();
    folder = await mkdtemp(join(tmpdir(), 'windows-'));
    for (const [path, content] of Object.entries({ ...contents, 'left out.txt': '' })) {
      await mkdir(join(folder, 'source', path, '..'), { recursive: true });
      await writeFile(join(folder, 'source', path), content);
    }
  });
  after(async () => {
    await windows.dispose();
    await rm(folder, { recursive: true, force: true });
  });

  test('the tests of paths, files, leases, and archives pass', async (t) => {
    const report = join(folder, 'report');
    const here = (file: string): string => join(import.meta.dirname, file);
    const { code, stderr } = await windows.runNode(
      [
        ...['--experimental-strip-types', '--disable-warning=ExperimentalWarning'],
        // In Wine, processes that talk to each other can end in an assertion of libuv, and there is
        // no `true` to start.
        '--test-skip-pattern=(several|two) processes|of another machine',
        `--test-reporter=file:///Z:${here('reporter.ts')}`,
        `--test-reporter-destination=${toWindowsPath(report)}`,
        toWindowsPath(here('windows.group.ts')),
      ],
      {
        // esbuild does not run in Wine 8.
        BUNDLED_PARSE_WORKER: toWindowsPath(parseWorker),
        SHARED_FOLDER: toWindowsPath(folder),
        SENT_FILES: JSON.stringify(Object.keys(contents)),
      },
    );
    const lines = (await readFile(report, 'utf8')).split('\n').filter((line) => line !== '');
    const ended = lines.map((line) => JSON.parse(line) as EndedTest);
    for (const { name, skip = false, error } of ended)
      await t.test(name, { skip }, () => {
        if (error !== undefined) throw new Error(`In Windows: ${error}`);
      });
    sayTimes(ended);
    assert.ok(code === 0 || ended.some(({ error }) => error !== undefined), stderr);
    assert.ok(ended.length > 0, `No test ran: ${stderr}`);
  });

  for (const [format, read] of [
    ['tar_gz', readTar],
    ['zip', readZip],
  ] as const)
    test(`F176 a ${format} that is made there has the same files here`, async () => {
      const entries = await read(join(folder, `${format}.archive`));
      assert.deepEqual(
        entries.map(({ path, bytes }) => [path, bytes]),
        Object.entries(contents).map(([path, content]) => [path, Buffer.byteLength(content)]),
      );
    });
});

/** The log names the ten slowest files there. */
function sayTimes(ended: readonly EndedTest[]): void {
  const byFile = Map.groupBy(ended, ({ file = '' }) => win32.basename(file));
  const times = [...byFile].map(([file, all]) => [all.reduce((sum, { ms }) => sum + ms, 0), file] as const);
  const slowest = times.sort(([one], [other]) => other - one).slice(0, 10);
  console.error(slowest.map(([ms, file]) => `  ${(ms / 1000).toFixed(1)} s  ${file} in Windows`).join('\n'));
}
