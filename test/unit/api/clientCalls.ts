import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { AssessmentClient } from '../../../src/core/api/client.ts';
import type { AssessmentError } from '../../../src/core/errors.ts';
import { tempFolder } from '../run/tempFolder.ts';
import { setUpClient } from './clientFixture.ts';
import { tarGz } from '../service/archiveMaker.ts';
import { whitebox } from '../../../src/core/workflows/whitebox.ts';

type SetUp = Parameters<typeof setUpClient> extends [unknown, ...infer More] ? More : never;

export const workflow = 'whitebox-assessment';

export async function archiveFile(
  t: TestContext,
  content: Buffer = tarGz([{ path: 'a.js', content: 'eval(x);' }]),
) {
  const path = join(await tempFolder(t), 'archive.tar.gz');
  await writeFile(path, content);
  return { path, bytes: content.length, sha256: createHash('sha256').update(content).digest('hex') };
}

export async function startRun(t: TestContext, client: AssessmentClient): Promise<string> {
  const archive = await archiveFile(t);
  const address = await client.getUploadUrl(archive.bytes);
  await client.putArchive(address, archive);
  await client.confirmUpload(address.file_id);
  const file_upload = { file_id: address.file_id, archive_type: 'tar_gz' as const };
  return client.dispatch(whitebox, { input: { targets: [{ file_upload }], language: 'english' } });
}

/** The run has ended, and its report can be downloaded. */
export async function exitedRun(t: TestContext, ...more: SetUp) {
  const fixture = await setUpClient(t, ...more);
  const runId = await startRun(t, fixture.client);
  await fixture.service.finishRun(runId);
  const folder = await tempFolder(t);
  const path = join(folder, 'report.md');
  const download = (maxBytes = 1e6): Promise<number> =>
    fixture.client.downloadArtifact(workflow, runId, 'report', path, { maxBytes });
  return { ...fixture, runId, folder, path, download };
}

/** The archive has an address to upload it to. */
export async function reservedUpload(t: TestContext, content?: Buffer) {
  const fixture = await setUpClient(t);
  const archive = await archiveFile(t, content);
  return { ...fixture, archive, address: await fixture.client.getUploadUrl(archive.bytes) };
}

export async function failureOf(promise: Promise<unknown>): Promise<AssessmentError> {
  return promise.then(
    () => assert.fail('no failure'),
    (error: unknown) => error as AssessmentError,
  );
}
