import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { test } from 'node:test';
import { wasRefused } from '../../../src/core/api/failure.ts';
import type { ErrorKind } from '../../../src/core/errors.ts';
import { whitebox } from '../../../src/core/workflows/whitebox.ts';
import type { FaultRule } from '../../service/faults.ts';
import { archiveFile, exitedRun, failureOf, workflow } from './clientCalls.ts';

type Kinds = readonly [ErrorKind, ErrorKind, ErrorKind, ErrorKind];
const always = (kind: ErrorKind): Kinds => [kind, kind, kind, kind];
const refused = (kind: ErrorKind): Kinds => [kind, 'intercepted', 'addressRefused', 'addressRefused'];

/**
 * A status has a meaning from the service without and with a page, and from storage without and
 * with one.
 */
const table: readonly (readonly [statuses: readonly number[], ...Kinds])[] = [
  [[302, 307], ...always('redirected')],
  [[400, 405, 422], ...refused('rejected')],
  [[401], 'unauthorized', 'unauthorized', 'addressRefused', 'addressRefused'],
  [[403], ...refused('forbidden')],
  [[404, 410], ...refused('notFound')],
  [[407], ...always('proxy')],
  [[408], ...always('timeout')],
  [[409, 412], ...refused('conflict')],
  [[413, 507], ...always('capacity')],
  [[429], ...always('rateLimited')],
  [[499], 'timeout', 'timeout', 'addressRefused', 'addressRefused'],
  [[500, 502, 503, 504, 599], ...always('serverError')],
  [[511], 'serverError', 'intercepted', 'serverError', 'intercepted'],
];

const bodies = [
  ['JSON', '{"message":"No."}', 'No.'],
  ['a page', '<html><head><title>No.</title></head></html>', 'No.'],
  ['nothing', '', undefined],
] as const;

interface Operation {
  readonly at: FaultRule['match'];
  readonly isStorage?: boolean;
  readonly call: () => Promise<unknown>;
}

test('F191 each status means the same at each operation, and a page only says who may have sent it', async (t) => {
  const { client, service, runId, folder, download } = await exitedRun(t);
  const archive = await archiveFile(t);
  const address = await client.getUploadUrl(archive.bytes);
  const file_upload = { file_id: address.file_id, archive_type: 'tar_gz' as const };
  const body = { input: { targets: [{ file_upload }], language: 'english' } };
  const operations: readonly Operation[] = [
    { at: { path: '/get-upload-url' }, call: () => client.getUploadUrl(1) },
    { at: { path: '/confirm-upload' }, call: () => client.confirmUpload('file') },
    { at: { path: '/cancel-upload' }, call: () => client.cancelUpload('file') },
    { at: { path: '/delete' }, call: () => client.deleteFile('file') },
    { at: { path: '/dispatch' }, call: () => client.dispatch(whitebox, body) },
    { at: { path: '/describe' }, call: () => client.describe(workflow, runId) },
    { at: { path: '/cancel' }, call: () => client.cancel(workflow, runId) },
    { at: { path: '/get-artifact-download-url' }, call: () => download() },
    { at: { method: 'PUT' }, isStorage: true, call: () => client.putArchive(address, archive) },
    { at: { method: 'GET' }, isStorage: true, call: () => download() },
  ];
  const headers = { 'retry-after': '300', 'www-authenticate': 'Bearer' };
  for (const [statuses, ...kinds] of table)
    for (const status of statuses)
      for (const [what, text, detail] of bodies)
        for (const { at, isStorage = false, call } of operations) {
          const reply = { kind: 'reply' as const, status, headers, body: text };
          const undo = service.addFault({ match: at, before: reply });
          const error = await failureOf(call());
          undo();
          const location = `${String(status)} with ${what} at ${JSON.stringify(at)}`;
          const isPage = what === 'a page';
          const kind = kinds[(isStorage ? 2 : 0) + (isPage ? 1 : 0)];
          const { data } = error;
          assert.deepEqual(
            [error.kind, data.status, data.detail, data.isPage === true, data.retryAfterMs],
            [kind, status, detail, isPage, 300_000],
            location,
          );
          const isFinal = status >= 400 && status < 500 && ![408, 499].includes(status);
          const isSure = isFinal && (!isPage || [401, 407, 413, 429].includes(status));
          if (!isStorage) assert.equal(wasRefused(error), isSure, location);
        }
  assert.deepEqual(await readdir(folder), [], 'nothing was saved');
  assert.equal(service.files().at(-1)?.state, 'reserved', 'nothing was stored');
});
