import type * as z from 'zod/mini';
import { AssessmentError, type ErrorData, type ErrorKind } from '../errors.ts';
import type { Clock, Logger, OnBytes } from '../ports.ts';
import { originOf, toPresignedUrl } from './address.ts';
import type { TokenSource } from './credentials.ts';
import { excerptOf } from './replyBody.ts';
import { getFile, type HashedFile, type IdleLimits, postJson, putFile, defaultIdleLimits } from './http.ts';
import { idempotent, noRetry, reserving, type RetryPolicy, withRetry } from './retry.ts';
import {
  artifactRequestSchema,
  type Description,
  dispatchResponseSchema,
  downloadUrlSchema,
  emptySchema,
  fileRequestSchema,
  fileResponseSchema,
  getUploadUrlRequestSchema,
  runRequestSchema,
  toDescriptionSchema,
  type UploadUrl,
  uploadUrlSchema,
} from './schema.ts';

const dispatching: RetryPolicy = {
  attempts: 4,
  // After 429, the service hasn't accepted the request. After `unsent`, it never left this machine.
  mayRetry: (error) => error.kind === 'rateLimited' || error.kind === 'unsent',
  isNeverAborted: true,
};

interface ClientOptions {
  /** A URL that `toBaseUrl` has returned. */
  readonly baseUrl: string;
  readonly organizationId: string;
  readonly token: TokenSource;
  /** The passwords in a run's requests. No message may contain them. */
  readonly passwords?: (() => Promise<readonly string[]>) | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  readonly random: () => number;
  readonly idle?: IdleLimits;
}

interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Runs before each attempt of a JSON request. If it throws, that attempt isn't sent. */
  readonly beforeSend?: (() => Promise<void>) | undefined;
}

interface Operation<Body, Reply> {
  readonly request: z.ZodMiniType<Body>;
  readonly reply: z.ZodMiniType<Reply>;
  readonly policy: RetryPolicy;
}

const reserveUpload = { request: getUploadUrlRequestSchema, reply: uploadUrlSchema, policy: reserving };
const changeFile = { request: fileRequestSchema, reply: fileResponseSchema, policy: idempotent };
const cancelRun = { request: runRequestSchema, reply: emptySchema, policy: noRetry };
const getArtifactUrl = { request: artifactRequestSchema, reply: downloadUrlSchema, policy: noRetry };

/**
 * The endpoints of one organization on one service (docs/api.md, section 4). A call checks its
 * request (`schema`), is retried as its policy allows (`retry`), and checks the reply. `http` and
 * `sendRequest` move the bytes; `failure` turns refusals and broken connections into errors.
 */
export class AssessmentClient {
  readonly #options: ClientOptions & { readonly idle: IdleLimits };
  /** No message may contain these tokens. */
  readonly #sentTokens = new Set<string>();
  #passwords: readonly string[] = [];
  readonly #descriptionSchema = toDescriptionSchema(() => this.#secrets);

  constructor(options: ClientOptions) {
    this.#options = { idle: defaultIdleLimits, ...options };
  }

  /** A reservation whose reply is lost stays until it expires. */
  getUploadUrl(bytes: number, options: CallOptions = {}): Promise<UploadUrl> {
    const body = { content_length: bytes };
    const call = this.#call('input-files/get-upload-url', reserveUpload, body, options);
    return adding({ subject: 'organization' }, call, 'notFound');
  }

  async putArchive(
    target: UploadUrl,
    archive: HashedFile,
    options: CallOptions & { onBytes?: OnBytes | undefined } = {},
  ): Promise<void> {
    const url = toPresignedUrl(target.upload_url, this.#options.baseUrl);
    await this.#logged('PUT', `${url.origin} (upload)`, () =>
      putFile(url, archive, { ...options, ...this.#transferOptions }),
    );
  }

  confirmUpload(fileId: string, options: CallOptions = {}): Promise<void> {
    return this.#fileCall('confirm-upload', fileId, options);
  }

  cancelUpload(fileId: string, options: CallOptions = {}): Promise<void> {
    return this.#fileCall('cancel-upload', fileId, options);
  }

  deleteFile(fileId: string, options: CallOptions = {}): Promise<void> {
    return this.#fileCall('delete', fileId, options);
  }

  /** Spends credits. Retries or aborts the request only if the service can't have accepted it. */
  async dispatch(
    workflow: { readonly id: string; readonly request: z.ZodMiniType },
    request: unknown,
    options: CallOptions = {},
  ): Promise<string> {
    const operation = { request: workflow.request, reply: dispatchResponseSchema, policy: dispatching };
    const reply = await this.#call(`workflows/${workflow.id}/dispatch`, operation, request, options);
    return reply.workflow_run_id;
  }

  /** Doesn't retry: the poll schedule asks again. */
  describe(workflow: string, runId: string, options: CallOptions = {}): Promise<Description> {
    const operation = { request: runRequestSchema, reply: this.#descriptionSchema, policy: noRetry };
    return this.#call(`workflows/${workflow}/describe`, operation, { workflow_run_id: runId }, options);
  }

  /** Doesn't retry: the caller decides about each failure. */
  async cancel(workflow: string, runId: string, options: CallOptions = {}): Promise<void> {
    await this.#call(`workflows/${workflow}/cancel`, cancelRun, { workflow_run_id: runId }, options);
  }

  /** Each attempt gets a new URL. Returns the length in bytes. */
  async downloadArtifact(
    workflow: string,
    runId: string,
    artifact: string,
    file: string,
    options: CallOptions & { maxBytes: number; attempts?: number },
  ): Promise<number> {
    const attempt = async (): Promise<number> => {
      const body = { workflow_run_id: runId, artifact_name: artifact };
      const path = `workflows/${workflow}/get-artifact-download-url`;
      const call = this.#call(path, getArtifactUrl, body, options);
      const address = await adding({ subject: 'artifact' }, call, 'notFound');
      const url = toPresignedUrl(address.url, this.#options.baseUrl);
      return this.#logged('GET', `${url.origin} (artifact)`, () =>
        getFile(url, file, { ...options, ...this.#transferOptions }),
      );
    };
    const mayRetry = (error: AssessmentError): boolean =>
      idempotent.mayRetry(error) || error.kind === 'addressRefused';
    const { attempts = idempotent.attempts } = options;
    return withRetry({ attempts, mayRetry }, attempt, { ...this.#options, signal: options.signal });
  }

  async #fileCall(change: string, fileId: string, options: CallOptions): Promise<void> {
    await this.#call(`input-files/${change}`, changeFile, { file_id: fileId }, options);
  }

  get #transferOptions() {
    const { idle, clock } = this.#options;
    return { idleMs: idle.transferMs, clock, secrets: this.#secrets };
  }

  get #secrets(): readonly string[] {
    return [...this.#sentTokens, ...this.#passwords];
  }

  async #call<Body, Reply>(
    path: string,
    { request, reply, policy }: Operation<Body, Reply>,
    body: Body,
    { signal, beforeSend }: CallOptions,
  ): Promise<Reply> {
    const { baseUrl, organizationId, clock, idle, token: tokens, passwords } = this.#options;
    const origin = originOf(baseUrl);
    const isUnsent = true;
    const checked = request.safeParse(body);
    if (!checked.success) {
      const subject = checked.error.issues[0]?.path.join('.') ?? '';
      throw new AssessmentError('badSetting', { subject, isUnsent }, { cause: checked.error });
    }
    const url = new URL(`${baseUrl}/o/${encodeURIComponent(organizationId)}/${path}`);
    const send = (token: string) => {
      this.#sentTokens.add(token);
      const attempt = async () => {
        await beforeSend?.();
        signal?.throwIfAborted();
        return postJson(url, checked.data, {
          token,
          secrets: this.#secrets,
          signal: policy.isNeverAborted === true ? undefined : signal,
          idleMs: idle.jsonMs,
          clock,
        });
      };
      return withRetry(policy, attempt, { ...this.#options, signal });
    };
    const sendAuthorized = async () => {
      const token = await adding({ isUnsent }, tokens.get(signal));
      if (token === undefined) throw new AssessmentError('notSignedIn', { origin, isUnsent });
      this.#passwords = (await adding({ isUnsent }, Promise.resolve(passwords?.()))) ?? [];
      try {
        return await send(token);
      } catch (error) {
        if (!(error instanceof AssessmentError) || error.kind !== 'unauthorized') throw error;
        const fresh = await adding({ isUnsent }, tokens.refresh(token, signal));
        if (fresh === undefined) throw error;
        return send(fresh);
      }
    };
    return this.#logged('POST', path, async () => {
      const { status, json } = await sendAuthorized();
      const parsed = reply.safeParse(json);
      if (parsed.success) return parsed.data;
      const detail = excerptOf(json, this.#secrets);
      throw new AssessmentError('badResponse', { status, origin, subject: path, detail });
    });
  }

  /** Log lines have what the provider of the service needs, but no token or query. */
  async #logged<T>(method: string, path: string, act: () => Promise<T>): Promise<T> {
    const { clock, log } = this.#options;
    const start = clock.monotonic();
    const line = (outcome: string): string =>
      `${method} ${path}: ${outcome}, ${String(Math.round(clock.monotonic() - start))} ms`;
    try {
      const result = await act();
      log.debug(line('ok'));
      return result;
    } catch (error) {
      if (error instanceof AssessmentError) log.warn(line(factsOf(error)));
      else log.debug(line('stopped'));
      throw error;
    }
  }
}

function factsOf({ message, data: { status, requestId } }: AssessmentError): string {
  const http = status === undefined ? '' : `HTTP ${String(status)}, `;
  return `${http}${message}${requestId === undefined ? '' : `, request ID ${requestId}`}`;
}

async function adding<T>(facts: ErrorData, call: Promise<T>, kind?: ErrorKind): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (!(error instanceof AssessmentError) || (kind ?? error.kind) !== error.kind) throw error;
    throw new AssessmentError(error.kind, { ...error.data, ...facts }, { cause: error });
  }
}
