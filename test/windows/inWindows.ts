import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { runTokenCommand } from '../../src/core/api/credentials.ts';
import { writeArchive } from '../../src/core/upload/archive/writeArchive.ts';
import { selectFiles } from '../../src/core/upload/select/selectFiles.ts';

/** `windows.test.ts` shares these with the tests. */
const { SHARED_FOLDER: shared = '', SENT_FILES: sent = '' } = process.env;

test('F176 a token command is a batch file in a folder with spaces', async () => {
  const batch = path.join(shared, 'my tools', 'print token.cmd');
  await mkdir(path.dirname(batch), { recursive: true });
  await writeFile(batch, '@echo %~1\r\n');
  const command = ['cmd', '/d', '/c', 'call', batch, 'an-invented-token'];
  assert.equal(await runTokenCommand(command), 'an-invented-token');
});

for (const format of ['tar_gz', 'zip'] as const)
  test(`F176 the files of a folder are packed as ${format}`, async () => {
    const source = path.join(shared, 'source');
    const { root, files } = await selectFiles(source, {
      exclude: [],
      includeNestedRepositories: false,
      surroundings: { home: source, env: { GIT_CONFIG_NOSYSTEM: '1' } },
    });
    const { manifest, omitted } = await writeArchive({
      root,
      files,
      format,
      to: path.join(shared, `${format}.archive`),
      maxBytes: 1e9,
      workerFile: new URL('../../src/core/upload/archive/archiveWorker.ts', import.meta.url),
    });
    assert.deepEqual(
      { paths: [...manifest].map(({ path: name }) => name), omitted },
      { paths: JSON.parse(sent) as unknown, omitted: [] },
    );
  });
