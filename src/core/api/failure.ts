import type http from 'node:http';
import { AssessmentError, type ErrorKind, systemCode } from '../errors.ts';
import type { Clock } from '../ports.ts';
import { visibleLine } from '../visibleText.ts';
import { redact } from './credentials.ts';
import { parseHttpDate, parseRetryAfter } from './retry.ts';

const maxErrorBytes = 64 * 1024;

interface FailureOptions {
  readonly secrets: readonly string[];
  readonly clock: Clock;
}

/** Maps an unsuccessful reply to an error, reading at most 64 KiB of its body (docs/api.md, section 7). */
export async function replyFailure(
  response: http.IncomingMessage,
  url: URL,
  { secrets, clock }: FailureOptions,
): Promise<AssessmentError> {
  const status = response.statusCode ?? 0;
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= maxErrorBytes) break;
    }
  } catch {
    // The body was cut off: the status is enough.
  }
  // A date in Retry-After is by the service's clock.
  const serviceNow = parseHttpDate(response.headers.date ?? '') ?? clock.now();
  const retryAfterMs = parseRetryAfter(response.headers['retry-after'], serviceNow);
  return new AssessmentError(kindOfStatus(status), {
    status,
    origin: url.origin,
    retryAfterMs: retryAfterMs > 0 ? retryAfterMs : undefined,
    detail: serviceMessage(Buffer.concat(chunks).toString('utf8'), secrets),
  });
}

/** Answers of object storage, or of a proxy before it, to an invalid address. */
const refusals: readonly ErrorKind[] = ['unauthorized', 'forbidden', 'notFound', 'rejected', 'conflict'];

/** As `replyFailure`, for a presigned address: a refusal is `addressRefused`, and a redirect has the `subject` `files`. */
export async function presignedFailure(
  response: http.IncomingMessage,
  url: URL,
  { secrets, clock }: FailureOptions,
): Promise<AssessmentError> {
  const failure = await replyFailure(response, url, { secrets: [...secretsOf(url), ...secrets], clock });
  const { kind, data } = failure;
  if (kind === 'redirected') return new AssessmentError(kind, { ...data, subject: 'files' });
  return refusals.includes(kind) ? new AssessmentError('addressRefused', data) : failure;
}

function secretsOf(url: URL): string[] {
  const encoded = url.search
    .slice(1)
    .split('&')
    .map((part) => part.slice(part.indexOf('=') + 1));
  // Short values (`true`, a version, a region) are not secrets, and redacting them would blank ordinary words.
  return [...encoded, ...url.searchParams.values()].filter((value) => value.length >= 16);
}

function kindOfStatus(status: number): ErrorKind {
  if (status >= 500) return 'serverError';
  if (status >= 300 && status < 400) return 'redirected';
  switch (status) {
    case 401:
      return 'unauthorized';
    case 403:
      return 'forbidden';
    case 404:
    case 410:
      return 'notFound';
    case 407:
      return 'proxy';
    case 408:
      return 'timeout';
    case 409:
    case 412:
      return 'conflict';
    case 413:
    case 507:
      return 'capacity';
    case 429:
      return 'rateLimited';
    default:
      return status >= 400 ? 'rejected' : 'badResponse';
  }
}

/** A certificate that did not verify, before the request was written. */
const untrusted = /CERT|_SIGNATURE|SELF_SIGNED/;
/** A TLS connection that failed, perhaps in the middle of a request. */
const brokenTls = /^(ERR_TLS|ERR_SSL|EPROTO)/;
const neverConnected = new Set(['ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL', 'ECONNREFUSED']);
/** A machine without descriptors or memory for another file or socket. */
const exhausted = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'ENOBUFS']);

export function isExhausted(code: string | undefined): boolean {
  return exhausted.has(code ?? '');
}

/** Maps a failure of the network, TLS or a proxy to an error. `mayBeSent`: there was a connection. */
export function transportFailure(error: unknown, url: URL, mayBeSent: boolean): Error {
  if (error instanceof AssessmentError) return error;
  const code = systemCode(error) ?? '';
  const data = { origin: url.origin, detail: code === '' ? undefined : code };
  const message = error instanceof Error ? error.message : '';
  if (untrusted.test(code) || brokenTls.test(code)) return new AssessmentError('tls', data, { cause: error });
  // Before the proxy check: the message names the host, which may contain "proxy".
  if (neverConnected.has(code) || failedToConnect(error) || (!mayBeSent && isExhausted(code)))
    return new AssessmentError('unsent', data, { cause: error });
  const kind = /\b407\b|proxy/i.test(message) ? 'proxy' : 'connectionLost';
  return new AssessmentError(kind, data, { cause: error });
}

/** True when no address was found, or no connection made to any of the addresses. */
function failedToConnect(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.length > 0 && error.errors.every(failedToConnect);
  return (
    error instanceof Error && 'syscall' in error && ['connect', 'getaddrinfo'].includes(String(error.syscall))
  );
}

/** True when no byte can have reached the service: even a dispatch may be sent again. */
export function wasNeverSent(error: unknown): boolean {
  if (!(error instanceof AssessmentError)) return false;
  if (error.kind === 'tls') return untrusted.test(error.data.detail ?? '');
  return ['unsent', 'insecureUrl', 'notSignedIn', 'tokenCommand', 'badSetting'].includes(error.kind);
}

const maxLength = 500;
/** Less than `maxErrorBytes`: a body that was cut off there is cut here too. */
const maxReadLength = 16 * 1024;

/** The message in an error body, whatever its form: redacted, one visible line, at most 500 characters; undefined without one. */
export function serviceMessage(body: string, secrets: readonly string[]): string | undefined {
  const message = inBrief(fromJson(body) ?? fromMarkup(body, secrets), secrets);
  return message === '' ? undefined : message;
}

/** A value from the service as text: redacted, one visible line, at most 500 characters. */
export function inBrief(value: unknown, secrets: readonly string[] = []): string {
  return startOf(typeof value === 'string' ? value : toJson(value), secrets).slice(0, maxLength);
}

/** A JSON value from the service, redacted; longer than 16 KiB or nested too deeply, its start as text. */
export function redactedJson(value: unknown, secrets: readonly string[]): unknown {
  const json = toJson(value);
  if (json.length > maxReadLength) return inBrief(value, secrets);
  try {
    return JSON.parse(redact(json, secrets));
  } catch {
    return inBrief(value, secrets);
  }
}

/** JSON can be parsed but not written when it is nested too deeply. */
function toJson(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    return '…';
  }
}

/** The start of a text, redacted, on one line; without its end where half a secret may stand. */
function startOf(text: string, secrets: readonly string[]): string {
  const start = redact(text.slice(0, maxReadLength), secrets);
  // An encoded character takes up to nine.
  const maxHalf = text.length > maxReadLength ? 9 * Math.max(0, ...secrets.map(({ length }) => length)) : 0;
  return visibleLine(start.slice(0, Math.max(0, start.length - maxHalf)));
}

function fromJson(body: string): string | undefined {
  try {
    return inWords(JSON.parse(body.replace(/^\uFEFF/, '')));
  } catch {
    return undefined; // plain text or markup
  }
}

/** The message in a JSON value from the service; all its members where no known one is a message. */
export function inWords(value: unknown): string {
  const root = record(value);
  const error = record(root['error']);
  const code = text(error['code']);
  const inError = text(error['message']);
  const first = Array.isArray(root['errors']) ? record(root['errors'][0])['message'] : undefined;
  return (
    text(root['message']) ??
    text(root['error']) ??
    (inError === undefined ? code : code === undefined ? inError : `${inError} (${code})`) ??
    text(root['detail']) ??
    text(root['title']) ??
    text(first) ??
    membersOf(value)
  );
}

const maxDepth = 4;

function membersOf(value: unknown, depth = 0): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return value === null ? '' : JSON.stringify(value);
  if (depth === maxDepth) return '…';
  if (Array.isArray(value)) return value.map((each) => membersOf(each, depth + 1)).join(', ');
  const members = Object.entries(value).map(([key, each]) => `${key}: ${membersOf(each, depth + 1)}`);
  return depth === 0 ? members.join(', ') : `(${members.join(', ')})`;
}

/** Plain text as it is; HTML and XML (from object storage) without tags. */
function fromMarkup(body: string, secrets: readonly string[]): string {
  const title = text(/<(title|message)>([^<]*)</i.exec(body)?.[2]?.trim());
  return (
    title ??
    startOf(body, secrets)
      .slice(0, 4 * maxLength)
      .replace(/<[^>]*>/g, ' ')
  );
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
