import type { IncomingMessage } from 'node:http';
import addFormats from 'ajv-formats';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { JsonSchema } from './apiSchemas.ts';
import type { Operation } from './operations.ts';
import { MAX_BODY_BYTES } from './invented.ts';
import { jsonReply, Refusal, type Reply } from './replies.ts';

export type Organizations = ReadonlyMap<string, ReadonlySet<string>>;

const ajv = addFormats.default(new Ajv2020({ strict: true }), ['uri']);

/** Maps a schema's text to its validator, for all services of the process. */
const compiled = new Map<string, ValidateFunction>();

function validatorOf(schema: JsonSchema): ValidateFunction {
  const text = JSON.stringify(schema);
  const validator = compiled.get(text) ?? ajv.compile(schema);
  compiled.set(text, validator);
  return validator;
}

/**
 * This is the authenticated interface below `/o/{orgID}` (sections 4 and 5). It checks a request in
 * full before it performs anything.
 */
export class Api {
  readonly #operations: ReadonlyMap<string, Operation>;
  readonly #organizations: Organizations;

  constructor(operations: readonly Operation[], organizations: Organizations) {
    this.#organizations = organizations;
    this.#operations = new Map(operations.map((operation) => [operation.path, operation]));
  }

  /**
   * Answers a request to a path below the base URL, and calls `onBody` with the request's body.
   * Throws Refusal, and another error if an operation's answer doesn't fit the API reference.
   */
  async answer(request: IncomingMessage, path: string, onBody: (body: unknown) => void): Promise<Reply> {
    // Only the exact path of the reference is accepted.
    if (request.url !== `/v1${path}`)
      throw new Refusal('malformed_path', 'An operation has neither a query nor dot segments.');
    const [, organization = '', operationPath = ''] = /^\/o\/([^/]+)(\/.+)$/.exec(path) ?? [];
    const operation = this.#operations.get(operationPath);
    if (!operation) throw new Refusal('not_found', `There is no operation ${path}.`);
    if (request.method !== 'POST') throw new Refusal('method_not_allowed', 'All operations are POST.');
    const organizationId = this.#authorize(request.headers.authorization, organization);
    if (!/^application\/json\s*(;|$)/i.test(request.headers['content-type'] ?? '')) {
      throw new Refusal('unsupported_content_type', 'Content-Type must be application/json.');
    }
    const body = parse(await readBody(request));
    onBody(body);
    const isValidRequest = validatorOf(operation.request);
    if (!isValidRequest(body)) {
      const [problem] = isValidRequest.errors ?? [];
      const detail = JSON.stringify(problem?.params ?? {});
      throw new Refusal(
        'invalid_request',
        `body${problem?.instancePath ?? ''} ${problem?.message ?? ''} ${detail}`,
      );
    }
    const answer = await operation.perform(organizationId, body as never);
    const isValidResponse = validatorOf(operation.response);
    if (!isValidResponse(answer)) {
      throw new Error(
        `${operationPath} answers against the reference: ${JSON.stringify(isValidResponse.errors)}`,
      );
    }
    return jsonReply(200, answer);
  }

  #authorize(header: string | undefined, pathSegment: string): string {
    const token = /^Bearer (\S+)$/.exec(header ?? '')?.[1];
    const isKnown =
      token !== undefined && [...this.#organizations.values()].some((tokens) => tokens.has(token));
    if (!isKnown) throw new Refusal('unauthorized', 'The access token is missing, unknown or expired.');
    const organizationId = decode(pathSegment);
    const tokens = this.#organizations.get(organizationId);
    if (!tokens) throw new Refusal('organization_not_found', `There is no organization ${organizationId}.`);
    if (!tokens.has(token)) throw new Refusal('forbidden', `The token gives no access to ${organizationId}.`);
    return organizationId;
  }
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new Refusal('malformed_path', 'The path is not percent-encoded UTF-8.');
  }
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= MAX_BODY_BYTES) chunks.push(chunk);
  }
  if (bytes > MAX_BODY_BYTES)
    throw new Refusal('body_too_large', `A body has at most ${MAX_BODY_BYTES} bytes.`);
  if (bytes === 0) throw new Refusal('body_required', 'The request body is required.');
  return Buffer.concat(chunks);
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body));
  } catch (error) {
    throw new Refusal('malformed_json', `The request body is not JSON: ${String(error)}`);
  }
}
