import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';

/** One request as it came in; credentials and signatures are left out. */
export interface LoggedRequest {
  readonly method: string;
  /** Without the query, which on a presigned address is a secret. */
  readonly path: string;
  /** Without Authorization. */
  readonly headers: IncomingHttpHeaders;
  readonly hasAuthorization: boolean;
  /** The JSON body of an operation, once it has been read. */
  body?: unknown;
  /** The status that was sent; stays undefined when a fault or a broken connection took the reply away. */
  status?: number;
}

/** Notes a request; the status follows when the reply is sent. */
export function logRequest(requests: LoggedRequest[], request: IncomingMessage, path: string): LoggedRequest {
  const { authorization, ...headers } = request.headers;
  const entry: LoggedRequest = {
    method: request.method ?? '',
    path,
    headers,
    hasAuthorization: authorization !== undefined,
  };
  requests.push(entry);
  return entry;
}
