import assert from 'node:assert/strict';
import { connect } from 'node:net';
import type { TestContext } from 'node:test';
import { request } from 'undici';
import {
  startService,
  type AssessmentService,
  type ServiceOptions,
} from '../../service/assessmentService.ts';

export interface MovableClock {
  readonly now: () => number;
  readonly advance: (ms: number) => void;
}

export interface WireAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
  readonly json: Record<string, unknown>;
}

export interface ServiceCaller {
  readonly service: AssessmentService;
  readonly post: (
    path: string,
    body: unknown,
    as?: { token?: string; organizationId?: string },
  ) => Promise<WireAnswer>;
  readonly whitebox: (verb: string, body: unknown) => Promise<WireAnswer>;
  /** Reserves, uploads and confirms; resolves to the file ID. */
  readonly upload: (content: Uint8Array) => Promise<string>;
  /** Uploads an archive and dispatches a run on it; resolves to the run ID. */
  readonly start: (
    archive: Uint8Array,
    input?: { archiveType?: string; language?: string },
  ) => Promise<string>;
  readonly describe: (runId: string) => Promise<Record<string, unknown>>;
}

export function movableClock(startMs = Date.UTC(2030, 0, 1)): MovableClock {
  let now = startMs;
  return {
    now: () => now,
    advance(ms) {
      now += ms;
    },
  };
}

/** Sends one request with undici, an HTTP client that the project does not use. */
export async function send(
  method: 'GET' | 'POST' | 'PUT',
  url: string,
  { headers = {}, body }: { headers?: Record<string, string>; body?: string | Uint8Array } = {},
): Promise<WireAnswer> {
  const answer = await request(url, { method, headers, body: body ?? null });
  const text = await answer.body.text();
  const isJson = String(answer.headers['content-type']).startsWith('application/json');
  const json = (isJson ? JSON.parse(text) : {}) as Record<string, unknown>;
  return { status: answer.statusCode, headers: answer.headers, text, json };
}

/** Writes raw bytes to the service and resolves to the whole response. */
export async function sendRaw(service: AssessmentService, bytes: string): Promise<string> {
  const { port } = new URL(service.baseUrl);
  const socket = connect(Number(port), '127.0.0.1');
  socket.write(bytes);
  let received = '';
  for await (const chunk of socket as AsyncIterable<Buffer>) received += chunk.toString('latin1');
  return received;
}

/** Starts a service for a test; by default runs end with their work. */
export async function callService(t: TestContext, options: ServiceOptions = {}): Promise<ServiceCaller> {
  const service = await startService({ runDurationMs: 0, ...options });
  t.after(() => service.close());

  const caller: ServiceCaller = {
    service,
    post(path, body, { token = service.token, organizationId = service.organizationId } = {}) {
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
      const url = `${service.baseUrl}/o/${encodeURIComponent(organizationId)}${path}`;
      return send('POST', url, { headers, body: JSON.stringify(body) });
    },
    whitebox: (verb, body) => caller.post(`/workflows/whitebox-assessment/${verb}`, body),
    async upload(content) {
      const reserved = await caller.post('/input-files/get-upload-url', { content_length: content.length });
      assert.equal(reserved.status, 200, reserved.text);
      const put = await send('PUT', text(reserved, 'upload_url'), { body: content });
      assert.equal(put.status, 200, put.text);
      const confirmed = await caller.post('/input-files/confirm-upload', {
        file_id: reserved.json['file_id'],
      });
      assert.equal(confirmed.status, 200, confirmed.text);
      return text(reserved, 'file_id');
    },
    async start(archive, { archiveType = 'tar_gz', language = 'english' } = {}) {
      const target = { file_upload: { file_id: await caller.upload(archive), archive_type: archiveType } };
      const dispatched = await caller.whitebox('dispatch', { input: { targets: [target], language } });
      assert.equal(dispatched.status, 200, dispatched.text);
      return text(dispatched, 'workflow_run_id');
    },
    async describe(runId) {
      const described = await caller.whitebox('describe', { workflow_run_id: runId });
      assert.equal(described.status, 200, described.text);
      return described.json;
    },
  };
  return caller;
}

export function text(answer: WireAnswer, member: string): string {
  const value = answer.json[member];
  assert.ok(typeof value === 'string', `${member} is missing in ${answer.text}`);
  return value;
}
