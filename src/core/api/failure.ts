import type http from 'node:http';
import { AssessmentError, type ErrorKind, systemCode } from '../errors.ts';
import type { Clock } from '../ports.ts';
import { isPage, readStart, serviceMessage } from './replyBody.ts';
import { parseHttpDate, parseRetryAfter } from './retry.ts';

interface FailureOptions {
  readonly secrets: readonly string[];
  readonly clock: Clock;
  readonly body?: string;
}

/** Maps an unsuccessful reply to an error (docs/api.md, section 7). */
export async function replyFailure(
  response: http.IncomingMessage,
  url: URL,
  { secrets, clock, body }: FailureOptions,
): Promise<AssessmentError> {
  const status = response.statusCode ?? 0;
  const text = body ?? (await readStart(response));
  // A date in Retry-After is by the service's clock.
  const serviceNow = parseHttpDate(response.headers.date ?? '') ?? clock.now();
  const retryAfterMs = parseRetryAfter(response.headers['retry-after'], serviceNow);
  return new AssessmentError(kindOfReply(status, isPage(text, response.headers['content-type'])), {
    status,
    origin: url.origin,
    retryAfterMs: retryAfterMs > 0 ? retryAfterMs : undefined,
    detail: serviceMessage(text, secrets),
  });
}

/** Answers of object storage, or of a proxy before it, to an invalid address. */
const refusals: readonly ErrorKind[] = ['unauthorized', 'forbidden', 'notFound', 'rejected', 'conflict'];

/** As `replyFailure`, for a presigned address: a refusal is `addressRefused`; a redirect and a page have the `subject` `files`. */
export async function presignedFailure(
  response: http.IncomingMessage,
  url: URL,
  options: FailureOptions,
): Promise<AssessmentError> {
  const secrets = [...secretsOf(url), ...options.secrets];
  const failure = await replyFailure(response, url, { ...options, secrets });
  const { kind, data } = failure;
  if (kind === 'redirected' || kind === 'intercepted')
    return new AssessmentError(kind, { ...data, subject: 'files' });
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

/** A page is never the service's, whatever its status. A redirect is refused, and 407 is a proxy's, with or without a page. */
function kindOfReply(status: number, isPage: boolean): ErrorKind {
  const kind = kindOfStatus(status);
  return isPage && kind !== 'redirected' && kind !== 'proxy' ? 'intercepted' : kind;
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
    case 499: // a proxy that no longer waits for the service
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

const brokenTls = /^(ERR_TLS|ERR_SSL|EPROTO)|CERT|_SIGNATURE|SELF_SIGNED/;
const neverConnected = new Set(['ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL', 'ECONNREFUSED']);
/** A machine without descriptors or memory for another file or socket. */
const exhausted = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'ENOBUFS']);

export function isExhausted(code: string | undefined): boolean {
  return exhausted.has(code ?? '');
}

/**
 * Maps a failure of the network, TLS or a proxy to an error. `mayBeSent`: there was a connection that the request may have been written to,
 * with TLS after its handshake. A TLS failure is `tls` before that. Afterwards it is a lost connection: the service may have the request.
 */
export function transportFailure(error: unknown, url: URL, mayBeSent: boolean): Error {
  if (error instanceof AssessmentError) return error;
  const code = systemCode(error) ?? '';
  const data = { origin: url.origin, detail: code === '' ? undefined : code };
  const message = error instanceof Error ? error.message : '';
  if (brokenTls.test(code))
    return new AssessmentError(mayBeSent ? 'connectionLost' : 'tls', data, { cause: error });
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
export function isProvablyUnsent(error: unknown): boolean {
  if (!(error instanceof AssessmentError)) return false;
  return [
    'unsent',
    'tls',
    'insecureUrl',
    'notSignedIn',
    'secretStorage',
    'tokenCommand',
    'badSetting',
  ].includes(error.kind);
}

/**
 * True when the service cannot have acted: nothing was sent, or it answered 4xx. Not after 408 and 499 (`timeout`), which proxies send after
 * passing a request on, nor after a page: a proxy may have put it in place of the service's answer.
 */
export function wasRefused(error: AssessmentError): boolean {
  const { kind, data } = error;
  if (kind === 'timeout' || kind === 'intercepted') return false;
  return isProvablyUnsent(error) || (data.status !== undefined && data.status >= 400 && data.status < 500);
}
