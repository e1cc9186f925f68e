import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { open, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { fileStampOf } from '../../../src/core/files.ts';
import { tempFolder } from '../run/tempFolder.ts';
import { archiveFile, exitedRun, failureOf, reservedUpload, startRun, workflow } from './clientCalls.ts';
import { setUpClient } from './clientFixture.ts';

/** Makes this operation on open files fail with this code, without a path. */
async function failDisk(
  t: TestContext,
  folder: string,
  calls: readonly ('read' | 'write' | 'writev' | 'writeFile' | 'appendFile')[],
  code: string,
): Promise<void> {
  const probe = await open(join(folder, 'probe'), 'w');
  await probe.close();
  const handles = Object.getPrototypeOf(probe) as typeof probe;
  const fail = (): Promise<never> =>
    Promise.reject(
      Object.assign(new Error(`${code}: invented, write`), { code, errno: -1, syscall: 'write' }),
    );
  for (const call of calls) t.mock.method(handles, call, fail);
}

describe('a transfer', () => {
  test('F67 that downloads too much is refused, and the previous file is kept', async (t) => {
    const { path, folder, download } = await exitedRun(t);
    await writeFile(path, 'from before');
    const { kind } = await failureOf(download(10));
    assert.equal(kind, 'tooLarge');
    assert.deepEqual([await readFile(path, 'utf8'), await readdir(folder)], ['from before', ['report.md']]);
  });

  for (const [status, body] of [
    [400, ''],
    [401, ''],
    [403, ''],
    [403, '<html>'],
    [404, ''],
  ] as const) {
    test(`F67 requests a new download address if storage answers ${String(status)} ${body}`, async (t) => {
      const { service, download } = await exitedRun(t);
      service.addFault({ match: { method: 'GET', times: 1 }, before: { kind: 'reply', status, body } });
      await download();
      assert.equal(service.requests.filter((request) => request.path.endsWith('download-url')).length, 2);
    });
  }

  test('F112 distinguishes a redirect by storage, an unknown artifact and an unknown organization', async (t) => {
    const { client, service, archive, address } = await reservedUpload(t);
    const runId = await startRun(t, client);
    const moved = { kind: 'reply' as const, status: 307, headers: { location: '/elsewhere' } };
    service.addFault({ match: { method: 'PUT' }, before: moved });
    const path = join(await tempFolder(t), 'report.md');
    const wrongPath = await setUpClient(t, { baseUrl: `${service.baseUrl}/wrong` });
    const failures = await Promise.all([
      failureOf(client.putArchive(address, archive)),
      failureOf(client.downloadArtifact(workflow, runId, 'other', path, { maxBytes: 1e6 })),
      failureOf(wrongPath.client.getUploadUrl(1)),
    ]);
    assert.deepEqual(
      failures.map(({ kind, data: { status, subject } }) => [kind, status, subject]),
      [
        ['redirected', 307, 'files'],
        ['notFound', 404, 'artifact'],
        ['notFound', 404, 'organization'],
      ],
    );
  });

  for (const [code, kind] of [
    ['ENOSPC', 'diskFull'],
    ['EDQUOT', 'diskFull'],
    ['EFBIG', 'storage'],
    ['EIO', 'storage'],
    ['EROFS', 'storage'],
  ] as const) {
    test(`F111 with ${code} while writing an artifact is a disk failure, and is not retried`, async (t) => {
      const { service, folder, download } = await exitedRun(t);
      await failDisk(t, join(folder, '..'), ['write', 'writev', 'writeFile', 'appendFile'], code);
      const error = await failureOf(download());
      assert.deepEqual([error.kind, error.data.detail], [kind, code]);
      assert.equal(service.requests.filter((request) => request.path.endsWith('download-url')).length, 1);
      assert.deepEqual(await readdir(folder), []);
    });
  }

  test('F111 with an unreadable archive is a disk failure, not a connection failure', async (t) => {
    const { client } = await setUpClient(t);
    const archive = await archiveFile(t, randomBytes(3e6));
    const [address, fileStamp] = [await client.getUploadUrl(archive.bytes), await fileStampOf(archive.path)];
    await failDisk(t, join(archive.path, '..'), ['read'], 'EIO');
    const { kind, data } = await failureOf(client.putArchive(address, { ...archive, fileStamp }));
    assert.deepEqual([kind, data.detail], ['storage', 'EIO']);
  });

  test('F114 of an upload is incomplete if a 2xx answer comes before the body has ended', async (t) => {
    const { client, service, archive, address } = await reservedUpload(t, randomBytes(8e6));
    const reply = { kind: 'reply' as const, status: 200, afterBodyBytes: 1.5e6 };
    service.addFault({ match: { method: 'PUT' }, before: reply });
    const { kind } = await failureOf(client.putArchive(address, archive));
    // An early answer also closes the connection, which may be noticed first.
    assert.ok(['addressRefused', 'connectionLost'].includes(kind), kind);
  });

  test('F37 of a file other than the hashed one is never completed', async (t) => {
    const { client, service, archive, address } = await reservedUpload(t, randomBytes(3e6));
    const other = { ...archive, sha256: '0'.repeat(64) };
    assert.equal((await failureOf(client.putArchive(address, other))).kind, 'lengthChanged');
    assert.equal(service.files()[0]?.sha256, undefined);
  });

  test('F37 of a file that is written to meanwhile is never completed', async (t) => {
    const { client, service } = await setUpClient(t);
    const content = randomBytes(3e6);
    const archive = await archiveFile(t, content);
    const fileStamp = await fileStampOf(archive.path);
    const address = await client.getUploadUrl(archive.bytes);
    const onBytes = (): void => writeFileSync(archive.path, content.fill(0, 2e6));
    const { kind } = await failureOf(client.putArchive(address, { ...archive, fileStamp }, { onBytes }));
    assert.equal(kind, 'lengthChanged');
    assert.equal(service.files()[0]?.sha256, undefined);
  });

  test('F32 of a file moved to another disk is hashed again and sent', async (t) => {
    const { client, service, archive, address } = await reservedUpload(t, randomBytes(3e6));
    await client.putArchive(address, { ...archive, fileStamp: 'of the file on the other disk' });
    assert.equal(service.files()[0]?.sha256, archive.sha256);
  });

  test('reports the number of transferred bytes', async (t) => {
    const { client } = await setUpClient(t);
    const archive = await archiveFile(t, randomBytes(3e6));
    const done: number[] = [];
    await client.putArchive(await client.getUploadUrl(archive.bytes), archive, {
      onBytes: (bytes) => done.push(bytes),
    });
    assert.ok(done.length > 1 && done.every((bytes, index) => bytes > (done[index - 1] ?? 0)));
    assert.equal(done.at(-1), archive.bytes);
  });
});

test('F43 a download address that is not safe is refused', async (t) => {
  const { client, service, lines } = await setUpClient(t);
  const url = 'https://user:canary@127.0.0.1/file?signature=canary';
  const body = JSON.stringify({ url, expires_in_seconds: 900 });
  service.addFault({ match: {}, before: { kind: 'reply', status: 200, body } });
  const path = join(await tempFolder(t), 'report.md');
  const error = await failureOf(client.downloadArtifact(workflow, 'run', 'report', path, { maxBytes: 99 }));
  assert.equal(error.kind, 'insecureUrl');
  assert.equal(service.requests.length, 1, 'asked for once');
  assert.doesNotMatch([error.stack, JSON.stringify(error.data), ...lines].join('\n'), /canary/);
});
