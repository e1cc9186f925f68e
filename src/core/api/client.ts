import type * as z from 'zod/mini';
import { AssessmentError } from '../errors.ts';
import type { Clock, Logger, OnBytes } from '../ports.ts';
import { originOf, toPresignedUrl } from './address.ts';
import type { TokenSource } from './credentials.ts';
import { redact } from './credentials.ts';
import { getFile, postJson, putFile } from './http.ts';
import { idempotent, once, reserving, type RetryPolicy, withRetry } from './retry.ts';
import {
  artifactRequestSchema,
  type Description,
  descriptionSchema,
  dispatchRequestSchemas,
  type DispatchRequest,
  dispatchResponseSchema,
  type DownloadUrl,
  downloadUrlSchema,
  emptySchema,
  fileRequestSchema,
  fileResponseSchema,
  getUploadUrlRequestSchema,
  runRequestSchema,
  type UploadUrl,
  uploadUrlSchema,
  type WorkflowId,
} from './schema.ts';

/** What a client needs: the place it talks to (a normalized base URL), whose token it sends, and its surroundings. */
export interface ClientOptions {
  readonly baseUrl: string;
  readonly organizationId: string;
  readonly token: TokenSource;
  readonly clock: Clock;
  readonly log: Logger;
  readonly random: () => number;
}

/** For a single call. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

const passingDispatch: RetryPolicy = {
  attempts: 4,
  // 429 says the service did not take it; the others say that it never left.
  mayRetry: (error) => error.kind === 'rateLimited' || error.kind === 'unsent',
};

/** Talks to one organization of one service; one method per endpoint (API reference, section 4). */
export class AssessmentClient {
  readonly #options: ClientOptions;

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  /** Reserves storage for `bytes` (section 4.1); a lost reply leaves a reservation that only expires. */
  getUploadUrl(bytes: number, options: CallOptions = {}): Promise<UploadUrl> {
    return this.#call(
      'input-files/get-upload-url',
      getUploadUrlRequestSchema,
      { content_length: bytes },
      uploadUrlSchema,
      reserving,
      options,
    );
  }

  /** Sends an archive to its upload address, once, without a token (section 4.1). */
  async putArchive(
    target: UploadUrl,
    archive: { path: string; bytes: number; sha256: string },
    options: CallOptions & { onBytes?: OnBytes | undefined } = {},
  ): Promise<void> {
    const url = toPresignedUrl(target.upload_url);
    await this.#logged('PUT', `${url.origin} (upload)`, () =>
      putFile(url, archive, { ...options, now: this.#options.clock.now() }),
    );
  }

  /** Makes an uploaded file usable as input (section 4.1). */
  async confirmUpload(fileId: string, options: CallOptions = {}): Promise<void> {
    await this.#fileCall('confirm-upload', fileId, options);
  }

  /** Gives up a pending upload and its reservation (section 4.1). */
  async cancelUpload(fileId: string, options: CallOptions = {}): Promise<void> {
    await this.#fileCall('cancel-upload', fileId, options);
  }

  /** Deletes an input file (section 4.1). */
  async deleteFile(fileId: string, options: CallOptions = {}): Promise<void> {
    await this.#fileCall('delete', fileId, options);
  }

  /** Starts a run and spends credits (section 4.2). Sent again only when provably not accepted: never sent, 429, or a 401 with a fresh token. */
  async dispatch<W extends WorkflowId>(
    workflow: W,
    request: DispatchRequest<W>,
    options: CallOptions = {},
  ): Promise<string> {
    const path = `workflows/${workflow}/dispatch`;
    const reply = await this.#call(
      path,
      dispatchRequestSchemas[workflow],
      request,
      dispatchResponseSchema,
      passingDispatch,
      options,
    );
    return reply.workflow_run_id;
  }

  /** Asks once how a run is (section 4.2); the poll schedule decides about asking again. */
  describe(workflow: WorkflowId, runId: string, options: CallOptions = {}): Promise<Description> {
    return this.#call(
      `workflows/${workflow}/describe`,
      runRequestSchema,
      { workflow_run_id: runId },
      descriptionSchema,
      once,
      options,
    );
  }

  /** Asks the service to end a run (section 4.2). */
  async cancel(workflow: WorkflowId, runId: string, options: CallOptions = {}): Promise<void> {
    await this.#call(
      `workflows/${workflow}/cancel`,
      runRequestSchema,
      { workflow_run_id: runId },
      emptySchema,
      idempotent,
      options,
    );
  }

  /** Downloads an artifact into a file, asking for a new address when one fails (section 4.2). Returns its bytes. */
  async downloadArtifact(
    workflow: WorkflowId,
    runId: string,
    artifact: string,
    path: string,
    options: CallOptions & { maxBytes: number },
  ): Promise<number> {
    const attempt = async (): Promise<number> => {
      const address: DownloadUrl = await this.#call(
        `workflows/${workflow}/get-artifact-download-url`,
        artifactRequestSchema,
        { workflow_run_id: runId, artifact_name: artifact },
        downloadUrlSchema,
        once,
        options,
      );
      const url = toPresignedUrl(address.url);
      return this.#logged('GET', `${url.origin} (artifact)`, () =>
        getFile(url, path, { ...options, now: this.#options.clock.now() }),
      );
    };
    const mayRetry = (error: AssessmentError): boolean =>
      idempotent.mayRetry(error) || error.kind === 'forbidden';
    return withRetry({ attempts: idempotent.attempts, mayRetry }, attempt, {
      ...this.#options,
      signal: options.signal,
    });
  }

  async #fileCall(operation: string, fileId: string, options: CallOptions): Promise<void> {
    await this.#call(
      `input-files/${operation}`,
      fileRequestSchema,
      { file_id: fileId },
      fileResponseSchema,
      idempotent,
      options,
    );
  }

  /** One operation: checks the request, sends it as its policy allows, refreshes the token once on 401, checks the reply. */
  async #call<Body, Reply>(
    operation: string,
    requestSchema: z.ZodMiniType<Body>,
    body: Body,
    replySchema: z.ZodMiniType<Reply>,
    policy: RetryPolicy,
    { signal }: CallOptions,
  ): Promise<Reply> {
    const { baseUrl, organizationId, token: source } = this.#options;
    const origin = originOf(baseUrl);
    const checked = requestSchema.safeParse(body);
    if (!checked.success) {
      const subject = checked.error.issues[0]?.path.join('.') ?? '';
      throw new AssessmentError('badSetting', { subject }, { cause: checked.error });
    }
    const url = new URL(`${baseUrl}/o/${encodeURIComponent(organizationId)}/${operation}`);
    let token = await source.get();
    if (token === undefined) throw new AssessmentError('notSignedIn', { origin });
    const send = (): Promise<unknown> => {
      const current = token ?? '';
      return withRetry(
        policy,
        () =>
          this.#logged('POST', operation, () =>
            postJson(url, checked.data, { token: current, signal, now: this.#options.clock.now() }),
          ),
        { ...this.#options, signal },
      );
    };
    let reply: unknown;
    try {
      reply = await send();
    } catch (error) {
      if (!(error instanceof AssessmentError) || error.kind !== 'unauthorized') throw error;
      token = await source.refresh(token, signal);
      if (token === undefined) throw error;
      reply = await send();
    }
    const parsed = replySchema.safeParse(reply);
    if (parsed.success) return parsed.data;
    const detail = redact(JSON.stringify(reply), [token]).slice(0, 500);
    throw new AssessmentError('badResponse', { status: 200, origin, subject: operation, detail });
  }

  async #logged<T>(method: string, what: string, act: () => Promise<T>): Promise<T> {
    const { clock, log } = this.#options;
    const start = clock.monotonic();
    const took = (): string => `${String(Math.round(clock.monotonic() - start))} ms`;
    try {
      const result = await act();
      log.debug(`${method} ${what}: ok, ${took()}`);
      return result;
    } catch (error) {
      const outcome =
        error instanceof AssessmentError ? `${error.message} ${String(error.data.status ?? '')}` : 'stopped';
      log.debug(`${method} ${what}: ${outcome}, ${took()}`);
      throw error;
    }
  }
}
