import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { AssessmentClient } from '../../../src/core/api/client.ts';
import { newRun } from '../../../src/core/run/state/newRun.ts';
import type { RunStore } from '../../../src/core/run/disk/runStore.ts';
import type { RunIn } from '../../../src/core/run/state/run.ts';
import { tarGz } from '../service/archiveMaker.ts';
import { type Fixture, openWindow, type RunWindow, setUpWindow, type WindowOptions } from './runWindow.ts';
import type { Scope } from './tempFolder.ts';
import { answered, emptyExit } from './sampleRuns.ts';
import { silent } from '../../silentLog.ts';
import { whitebox } from '../../../src/core/workflows/whitebox.ts';

const archive = tarGz([{ path: 'app.js', content: 'eval(request.body);\n' }]);

export function clientOf(fixture: Fixture): AssessmentClient {
  const { baseUrl, organizationId, token } = fixture.service;
  return new AssessmentClient({
    baseUrl,
    organizationId,
    token: { get: () => Promise.resolve(token), refresh: () => Promise.resolve(undefined) },
    clock: fixture.clock,
    log: silent,
    random: () => 0,
  });
}

export async function uploadArchive(fixture: Fixture): Promise<string> {
  const client = clientOf(fixture);
  const address = await client.getUploadUrl(archive.length);
  const path = join(fixture.folder, '../small.tar.gz');
  await writeFile(path, archive);
  const sha256 = createHash('sha256').update(archive).digest('hex');
  await client.putArchive(address, { path, bytes: archive.length, sha256 });
  await client.confirmUpload(address.file_id);
  return address.file_id;
}

/** Starts a run on the service without the extension; resolves to its run ID. */
export async function startRemoteRun(fixture: Fixture): Promise<string> {
  const file_id = await uploadArchive(fixture);
  const targets = [{ file_upload: { file_id, archive_type: 'tar_gz' as const } }];
  return clientOf(fixture).dispatch(whitebox, { input: { targets, language: 'english' } });
}

/** The dispatch of the unknown run never arrived. Its file is confirmed. */
export async function seedUnknownRun(fixture: Fixture, window: RunWindow): Promise<RunIn<'unknown'>> {
  const fileId = await uploadArchive(fixture);
  const at = fixture.clock.now();
  const sha256 = createHash('sha256').update(archive).digest('hex');
  const packed = {
    file: 'archive-0.tar.gz',
    type: 'tar_gz',
    bytes: archive.length,
    sha256,
    sourceBytes: 1,
  } as const;
  const identity = { id: window.store.newId(), now: at };
  const base = newRun(identity, await window.assessment(), [{ archive: packed }]);
  const run: RunIn<'unknown'> = {
    ...base,
    targets: base.targets.map((target) => ({ ...target, upload: { fileId, state: 'confirmed', at } })),
    state: 'unknown',
    intendedAt: at,
    reason: { kind: 'connectionLost' },
  };
  await window.store.create(run);
  return run;
}

/** Tracks a remote run; resolves to the local run after its first answer. */
export async function trackRemoteRun(
  fixture: Fixture,
  window: RunWindow,
): Promise<{ id: string; runId: string }> {
  const runId = await startRemoteRun(fixture);
  return { id: await trackRun(fixture, window, runId), runId };
}

/** The window of the fixture tracks a remote run. */
export async function setUpRun(t: Scope, options?: WindowOptions) {
  const { fixture, window } = await setUpWindow(t, options);
  return { fixture, window, ...(await trackRemoteRun(fixture, window)) };
}

/** The tracked run ended after its window closed. */
export async function trackRunThatEndsUnseen(t: TestContext, fixture: Fixture): Promise<string> {
  const window = openWindow(t, fixture);
  const { id, runId } = await trackRemoteRun(fixture, window);
  await window.close();
  await fixture.service.finishRun(runId);
  return id;
}

export async function trackRun(fixture: Fixture, window: RunWindow, runId: string): Promise<string> {
  const { baseUrl, organizationId } = fixture.service;
  const { id } = await window.tracker.track({
    workflow: 'whitebox-assessment',
    baseUrl,
    organizationId,
    language: 'english',
    runId,
    targets: [{ folder: fixture.folder, name: 'shop' }],
  });
  return id;
}

/** Ends a live run by an exit without output. */
export async function endWithoutExit(
  { store }: { readonly store: RunStore },
  id: string,
  at: number,
): Promise<void> {
  await store.apply(id, { ...answered(emptyExit, at), withoutOutcomeMs: 30 * 60_000 });
}
