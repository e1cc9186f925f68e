import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { finished } from 'node:stream/promises';
import { disturb, disturbReply, type Faults, sameRequest } from './faults.ts';
import { refusalReply, Refusal, jsonReply, type Reply } from './replies.ts';

/** The request is logged without access token and signatures. */
export interface LoggedRequest {
  readonly method: string;
  /** The path lacks the query, which on a presigned address is a secret. */
  readonly path: string;
  /** The headers lack Authorization. */
  readonly headers: IncomingHttpHeaders;
  readonly hasAuthorization: boolean;
  /** The JSON body of an operation is here once it has been read. */
  body?: unknown;
  /** The status is undefined if a fault or a broken connection dropped the reply. */
  status?: number;
}

/**
 * Answers one request; throws Refusal. `note` lets it add to what the log knows, `proceed` asks for
 * a body that waits for `100 Continue`.
 */
export type Route = (
  request: IncomingMessage,
  url: URL,
  note: LoggedRequest,
  proceed: () => void,
) => Promise<Reply>;

/**
 * Listens on loopback, logs requests, applies fault rules before and after the route, and writes
 * the reply.
 */
export async function listen(
  route: Route,
  needs: {
    port: number;
    faults: Faults;
    requests: LoggedRequest[];
    log: (line: string) => void;
    closing: AbortSignal;
  },
): Promise<Server> {
  const { faults, requests, log, closing } = needs;

  const answer = async (
    request: IncomingMessage,
    response: ServerResponse,
    proceed = (): void => undefined,
  ): Promise<void> => {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1');
    const entry = logRequest(requests, request, url.pathname);
    const fault = faults.take(entry.method, url.pathname);
    const instead = fault.before && (await disturb(fault.before, request, closing, proceed));
    if (instead === 'gone') return;
    const reply = instead ?? (await replyOf(() => route(request, url, entry, proceed), request, log));
    const again = () => {
      const same = sameRequest(request, entry.body);
      return replyOf(() => route(same, url, entry, proceed), same, log);
    };
    const sent =
      fault.after && !instead
        ? await disturbReply(fault.after, reply, request, response, { closing, again })
        : reply;
    if (sent === 'gone') {
      // A padded or truncated reply still has its status.
      if (response.headersSent) entry.status = reply.status;
      return;
    }
    entry.status = sent.status;
    log(`${entry.method} ${entry.path} ${sent.status}`);
    response.writeHead(sent.status, { ...sent.headers, 'content-length': sent.body.length });
    response.end(sent.body);
    // The rest of a refused body is drained, so that the peer sees the reply instead of a reset.
    request.resume();
    await finished(response);
  };

  const serve = (request: IncomingMessage, response: ServerResponse, proceed?: () => void): void => {
    answer(request, response, proceed).catch((error: unknown) => {
      // The peer has gone or the service is closing.
      if (!closing.aborted)
        log(
          `${request.method ?? ''} ${new URL(request.url ?? '/', 'http://127.0.0.1').pathname}: ${String(error)}`,
        );
      response.destroy();
    });
  };
  const server = createServer((request, response) => serve(request, response));
  // Like object storage, the service doesn't ask for the body if it refuses the headers.
  server.on('checkContinue', (request, response) => serve(request, response, () => response.writeContinue()));
  // Uploads have no time limit.
  server.requestTimeout = 0;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(needs.port, '127.0.0.1', resolve);
  });
  return server;
}

async function replyOf(
  act: () => Promise<Reply>,
  request: IncomingMessage,
  log: (line: string) => void,
): Promise<Reply> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof Refusal) return refusalReply(error);
    if (request.destroyed && !request.complete) throw error;
    log(`internal error: ${String(error)}`);
    return jsonReply(500, { error: { code: 'internal_error', message: String(error) } });
  }
}

function logRequest(requests: LoggedRequest[], request: IncomingMessage, path: string): LoggedRequest {
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
