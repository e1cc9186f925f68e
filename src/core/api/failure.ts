import type http from 'node:http';
import { AssessmentError, type ErrorKind, systemCode } from '../errors.ts';
import { parseHttpDate, parseRetryAfter } from './retryAfter.ts';
import { serviceMessage } from './serviceMessage.ts';

const maxErrorBytes = 64 * 1024;

/** Maps a reply that is no success to an error, reading at most 64 KiB of its body (API reference, section 7: bodies are not shown). */
export async function replyFailure(
  response: http.IncomingMessage,
  url: URL,
  secrets: readonly string[],
  now: number,
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
    // The status says enough when the body was cut off.
  }
  // A date is meant by the service's clock, which ours may be far from.
  const serviceNow = parseHttpDate(response.headers.date ?? '') ?? now;
  const retryAfterMs = parseRetryAfter(response.headers['retry-after'], serviceNow);
  return new AssessmentError(kindOfStatus(status), {
    status,
    origin: url.origin,
    retryAfterMs: retryAfterMs > 0 ? retryAfterMs : undefined,
    detail: serviceMessage(Buffer.concat(chunks).toString('utf8'), secrets),
  });
}

/** How object storage, or a proxy before it, says in one status or another that an address is of no use any more. */
const refusals: readonly ErrorKind[] = ['unauthorized', 'forbidden', 'notFound', 'rejected', 'conflict'];

/** As `replyFailure`, for a presigned address: no token went there, so that a refusal says nothing of ours, and only of this address; a redirect has `files` as its `subject`. */
export async function presignedFailure(
  response: http.IncomingMessage,
  url: URL,
  secrets: readonly string[],
  now: number,
): Promise<AssessmentError> {
  const failure = await replyFailure(response, url, [...secretsOf(url), ...secrets], now);
  const { kind, data } = failure;
  if (kind === 'redirected') return new AssessmentError(kind, { ...data, subject: 'files' });
  return refusals.includes(kind) ? new AssessmentError('addressRefused', data) : failure;
}

/** What makes a presigned address a secret: the values of its query, as they are written and as they are meant. */
function secretsOf(url: URL): string[] {
  const written = url.search
    .slice(1)
    .split('&')
    .map((part) => part.slice(part.indexOf('=') + 1));
  // Short values (`true`, a version, a region) are no secrets, and would blank innocent words.
  return [...written, ...url.searchParams.values()].filter((value) => value.length >= 16);
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

/** Codes of a certificate that did not verify, which happens before a request is written. */
const untrusted = /CERT|_SIGNATURE|SELF_SIGNED/;
/** Codes of a TLS connection that failed, perhaps in the middle of a request. */
const brokenTls = /^(ERR_TLS|ERR_SSL|EPROTO)/;
const neverConnected = new Set(['ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL', 'ECONNREFUSED']);
/** Codes of a system that has no descriptor, or no memory, for another file or socket. */
const exhausted = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'ENOBUFS']);

/** True when this machine had no descriptor, or no memory, for what was asked of it. */
export function isExhausted(error: unknown): boolean {
  return saysExhausted(systemCode(error));
}

/** True for a system's code that says so. */
export function saysExhausted(code: string | undefined): boolean {
  return exhausted.has(code ?? '');
}

/** Maps what the network, TLS or the proxy did to a request to an error; `mayBeSent` says that a connection had come about. */
export function transportFailure(error: unknown, url: URL, mayBeSent: boolean): Error {
  if (error instanceof AssessmentError) return error;
  const code = systemCode(error) ?? '';
  const data = { origin: url.origin, detail: code === '' ? undefined : code };
  const message = error instanceof Error ? error.message : '';
  if (untrusted.test(code) || brokenTls.test(code)) return new AssessmentError('tls', data, { cause: error });
  // Asked first: the message names the host, and a host may be called proxy.
  if (neverConnected.has(code) || failedToConnect(error) || (!mayBeSent && isExhausted(error)))
    return new AssessmentError('unsent', data, { cause: error });
  const kind = /\b407\b|proxy/i.test(message) ? 'proxy' : 'connectionLost';
  return new AssessmentError(kind, data, { cause: error });
}

/** True when no address was found, or no connection came about; with several addresses to try, none of them did. */
function failedToConnect(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.length > 0 && error.errors.every(failedToConnect);
  return (
    error instanceof Error && 'syscall' in error && ['connect', 'getaddrinfo'].includes(String(error.syscall))
  );
}

/** True when no byte of the request can have reached the service, so that even a dispatch may be sent again. */
export function wasNeverSent(error: unknown): boolean {
  if (!(error instanceof AssessmentError)) return false;
  if (error.kind === 'tls') return untrusted.test(error.data.detail ?? '');
  return ['unsent', 'insecureUrl', 'notSignedIn', 'tokenCommand', 'badSetting'].includes(error.kind);
}
