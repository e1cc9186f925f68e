import { AssessmentError } from '../errors.ts';
import type { OnBytes } from '../ports.ts';
import { toPresignedUrl } from './address.ts';
import type { HashedFile } from './hashedFile.ts';
import { getFile, type IdleLimits, putFile, usualIdleLimits } from './http.ts';
import { type CallOptions, type ClientOptions, Operations } from './operations.ts';
import { idempotent, once, reserving, type RetryPolicy, withRetry } from './retry.ts';
import {
  artifactRequestSchema,
  type Description,
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
  toDescriptionSchema,
  type UploadUrl,
  uploadUrlSchema,
  type WorkflowId,
} from './schema.ts';

const passingDispatch: RetryPolicy = {
  attempts: 4,
  // 429 says the service did not take it; the others say that it never left.
  mayRetry: (error) => error.kind === 'rateLimited' || error.kind === 'unsent',
  keepsSent: true,
};

/** Talks to one organization of one service; one method per endpoint (API reference, section 4). */
export class AssessmentClient {
  readonly #options: ClientOptions;
  readonly #idle: IdleLimits;
  readonly #operations: Operations;
  readonly #descriptionSchema = toDescriptionSchema(() => this.#operations.secrets);

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#idle = options.idle ?? usualIdleLimits;
    this.#operations = new Operations(options);
  }

  /** Reserves storage for `bytes` (section 4.1); a lost reply leaves a reservation that only expires. */
  getUploadUrl(bytes: number, options: CallOptions = {}): Promise<UploadUrl> {
    return naming(
      'organization',
      this.#operations.call(
        'input-files/get-upload-url',
        getUploadUrlRequestSchema,
        { content_length: bytes },
        uploadUrlSchema,
        reserving,
        options,
      ),
    );
  }

  /** Sends an archive to its upload address, once, without a token (section 4.1). */
  async putArchive(
    target: UploadUrl,
    archive: HashedFile,
    options: CallOptions & { onBytes?: OnBytes | undefined } = {},
  ): Promise<void> {
    const url = toPresignedUrl(target.upload_url, this.#options.baseUrl);
    await this.#operations.logged('PUT', `${url.origin} (upload)`, () =>
      putFile(url, archive, {
        ...options,
        idleMs: this.#idle.transferMs,
        clock: this.#options.clock,
        secrets: this.#operations.secrets,
      }),
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

  /** Starts a run and spends credits (section 4.2). Sent again only when provably not accepted: never sent, 429, or a 401 with a fresh token. A cancellation is thrown only when nothing was accepted. */
  async dispatch<W extends WorkflowId>(
    workflow: W,
    request: DispatchRequest<W>,
    options: CallOptions = {},
  ): Promise<string> {
    const path = `workflows/${workflow}/dispatch`;
    const reply = await this.#operations.call(
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
    return this.#operations.call(
      `workflows/${workflow}/describe`,
      runRequestSchema,
      { workflow_run_id: runId },
      this.#descriptionSchema,
      once,
      options,
    );
  }

  /** Asks the service to end a run (section 4.2). */
  async cancel(workflow: WorkflowId, runId: string, options: CallOptions = {}): Promise<void> {
    await this.#operations.call(
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
      const asked: Promise<DownloadUrl> = this.#operations.call(
        `workflows/${workflow}/get-artifact-download-url`,
        artifactRequestSchema,
        { workflow_run_id: runId, artifact_name: artifact },
        downloadUrlSchema,
        once,
        options,
      );
      const address = await naming('artifact', asked);
      const url = toPresignedUrl(address.url, this.#options.baseUrl);
      return this.#operations.logged('GET', `${url.origin} (artifact)`, () =>
        getFile(url, path, {
          ...options,
          idleMs: this.#idle.transferMs,
          clock: this.#options.clock,
          secrets: this.#operations.secrets,
        }),
      );
    };
    const mayRetry = (error: AssessmentError): boolean =>
      idempotent.mayRetry(error) || error.kind === 'addressRefused';
    return withRetry({ attempts: idempotent.attempts, mayRetry }, attempt, {
      ...this.#options,
      signal: options.signal,
    });
  }

  async #fileCall(operation: string, fileId: string, options: CallOptions): Promise<void> {
    await this.#operations.call(
      `input-files/${operation}`,
      fileRequestSchema,
      { file_id: fileId },
      fileResponseSchema,
      idempotent,
      options,
    );
  }
}

/** A call after which `notFound` has as its `subject` what the service does not know. */
async function naming<T>(subject: 'organization' | 'artifact', call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (!(error instanceof AssessmentError) || error.kind !== 'notFound') throw error;
    throw new AssessmentError(error.kind, { ...error.data, subject }, { cause: error });
  }
}
