import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { markOf } from '../../../src/core/files.ts';
import { tempFolder } from '../run/tempFolder.ts';
import { archiveFile, failureOf, startRun, workflow } from './clientCalls.ts';
import { setUpClient } from './clientDesk.ts';

describe('a transfer', () => {
  test('F67 a download that is too large is refused, and the file from before stays', async (t) => {
    const { client, service } = await setUpClient(t);
    const runId = await startRun(t, client);
    await service.finishRun(runId);
    const folder = await tempFolder(t);
    const path = join(folder, 'report.md');
    await writeFile(path, 'from before');
    const { kind } = await failureOf(
      client.downloadArtifact(workflow, runId, 'report', path, { maxBytes: 10 }),
    );
    assert.equal(kind, 'tooLarge');
    assert.deepEqual([await readFile(path, 'utf8'), await readdir(folder)], ['from before', ['report.md']]);
  });

  for (const status of [400, 401, 403, 404, 410]) {
    test(`F67 a download address that storage answers ${String(status)} to is asked for anew`, async (t) => {
      const { client, service } = await setUpClient(t);
      const runId = await startRun(t, client);
      await service.finishRun(runId);
      service.addFault({ match: { method: 'GET', times: 1 }, before: { kind: 'reply', status } });
      const path = join(await tempFolder(t), 'report.md');
      await client.downloadArtifact(workflow, runId, 'report', path, { maxBytes: 1e6 });
      assert.equal(service.requests.filter((request) => request.path.endsWith('download-url')).length, 2);
    });
  }

  test('a refusal by storage is none of the token', async (t) => {
    const { client, service } = await setUpClient(t);
    const archive = await archiveFile(t);
    const address = await client.getUploadUrl(archive.bytes);
    service.addFault({ match: { method: 'PUT' }, before: { kind: 'reply', status: 401 } });
    const { kind, data } = await failureOf(client.putArchive(address, archive));
    assert.deepEqual([kind, data.status], ['addressRefused', 401]);
  });

  test('F37 a file that is not the one that was hashed is never completed', async (t) => {
    const { client, service } = await setUpClient(t);
    const archive = await archiveFile(t, randomBytes(3e6));
    const address = await client.getUploadUrl(archive.bytes);
    const other = { ...archive, sha256: '0'.repeat(64) };
    assert.equal((await failureOf(client.putArchive(address, other))).kind, 'lengthChanged');
    assert.equal(service.files()[0]?.sha256, undefined);
  });

  test('F37 a file that is written to while it is sent is never completed', async (t) => {
    const { client, service } = await setUpClient(t);
    const content = randomBytes(3e6);
    const archive = await archiveFile(t, content);
    const mark = await markOf(archive.path);
    const address = await client.getUploadUrl(archive.bytes);
    const onBytes = (): void => writeFileSync(archive.path, content.fill(0, 2e6));
    const { kind } = await failureOf(client.putArchive(address, { ...archive, mark }, { onBytes }));
    assert.equal(kind, 'lengthChanged');
    assert.equal(service.files()[0]?.sha256, undefined);
  });

  test('F32 a file that was moved to another disk is hashed again and sent', async (t) => {
    const { client, service } = await setUpClient(t);
    const archive = await archiveFile(t, randomBytes(3e6));
    const address = await client.getUploadUrl(archive.bytes);
    await client.putArchive(address, { ...archive, mark: 'of the file on the other disk' });
    assert.equal(service.files()[0]?.sha256, archive.sha256);
  });

  test('tells how many bytes of a transfer are done', async (t) => {
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
