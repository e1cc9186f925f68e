import type http from 'node:http';
import { AssessmentError, type ErrorKind, systemCode } from '../errors.ts';
import type { Clock } from '../ports.ts';
import { isPage, readStart, requestIdIn, serviceMessage } from './replyBody.ts';
import { parseHttpDate, parseRetryAfter } from './retry.ts';

/** `storage` is the server of a presigned URL. */
type Sender = 'service' | 'storage';

/** Turns a response into an error (docs/api.md, section 7). */
export async function replyFailure(
  response: http.IncomingMessage,
  url: URL,
  sender: Sender,
  { secrets, clock, body }: { secrets: readonly string[]; clock: Clock; body?: string },
): Promise<AssessmentError> {
  const { headers, statusCode: status = 0 } = response;
  const text = body ?? (await readStart(response));
  const hidden = [...secretsOf(url), ...secrets];
  const page = isPage(text, headers['content-type']);
  const serviceNow = parseHttpDate(headers.date ?? '') ?? clock.now();
  const retryAfterMs = parseRetryAfter(headers['retry-after'], serviceNow);
  return new AssessmentError(kindOf(status, page, sender), {
    status,
    origin: url.origin,
    subject: sender === 'storage' ? 'files' : undefined,
    retryAfterMs: retryAfterMs > 0 ? retryAfterMs : undefined,
    detail: serviceMessage(text, hidden),
    requestId: requestIdIn(headers, text, hidden),
    isPage: page || undefined,
  });
}

function secretsOf(url: URL): string[] {
  const encoded = url.search
    .slice(1)
    .split('&')
    .map((part) => part.slice(part.indexOf('=') + 1));
  // Short values (`true`, a region) aren't secrets. Redacting them would remove ordinary words.
  return [...encoded, ...url.searchParams.values()].filter((value) => value.length >= 16);
}

function kindOf(status: number, isPage: boolean, sender: Sender): ErrorKind {
  if (status < 300) return isPage ? 'intercepted' : 'badResponse';
  if (status < 400) return 'redirected';
  switch (status) {
    case 407:
      return 'proxy';
    case 408:
      return 'timeout';
    case 413:
    case 507:
      return 'capacity';
    case 429:
      return 'rateLimited';
  }
  if (status >= 500) return status === 511 && isPage ? 'intercepted' : 'serverError';
  if (sender === 'storage') return 'addressRefused';
  if (status === 401) return 'unauthorized';
  if (status === 499) return 'timeout'; // Proxies send 499 when they no longer wait for the service.
  if (isPage) return 'intercepted';
  switch (status) {
    case 403:
      return 'forbidden';
    case 404:
    case 410:
      return 'notFound';
    case 409:
    case 412:
      return 'conflict';
    default:
      return 'rejected';
  }
}

export function isExhausted(code: string | undefined): boolean {
  return ['EMFILE', 'ENFILE', 'ENOMEM', 'ENOBUFS'].includes(code ?? '');
}

/**
 * Matches Node's codes for TLS and certificate failures. Most have an underscore, but so do codes
 * of the resolver (`EAI_`) and of Node itself (`ERR_`).
 */
const ofTls = /^(?:EPROTO$|UNSPECIFIED$|(?!EAI_|ERR_(?!TLS|SSL))[A-Z]+_)/;

/** Once the connection is ready, the service may have the request, whatever the code is. */
export function transportFailure(error: unknown, { origin }: URL, isReady: boolean): Error {
  if (error instanceof AssessmentError) return error;
  const code = systemCode(error);
  const kind = isReady ? 'connectionLost' : ofTls.test(code ?? '') ? 'tls' : 'unsent';
  return new AssessmentError(kind, { origin, detail: code, isUnsent: !isReady }, { cause: error });
}

/**
 * True if the service can't have acted. A proxy may send 408, 499 (`timeout`), or a web page
 * (`intercepted`) after it has passed a request on.
 */
export function wasRefused({ kind, data: { status = 0, isUnsent } }: AssessmentError): boolean {
  if (isUnsent === true) return true;
  return kind !== 'timeout' && kind !== 'intercepted' && status >= 400 && status < 500;
}
