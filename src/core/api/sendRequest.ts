// Default imports: VS Code's proxy support patches these two objects, and a named import would miss the patch.
import http from 'node:http';
import https from 'node:https';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { AssessmentError } from '../errors.ts';
import { transportFailure } from './failure.ts';

/** Writes a body in chunks; the buffer of a chunk is free once its `write` resolves. */
type WriteBody = (write: (chunk: Uint8Array) => Promise<void>) => Promise<void>;

/** A server that ignores `Expect` gets the body after this long. */
const maxContinueMs = 1_000;

export interface OutgoingRequest {
  readonly method: 'POST' | 'PUT' | 'GET';
  readonly url: URL;
  readonly headers: Record<string, string | number>;
  readonly body?: Buffer | WriteBody;
  /** The body that `WriteBody` writes waits for `100 Continue`, at most 1 s; it is not sent after any other answer. */
  readonly expectsContinue?: boolean;
  readonly signal: AbortSignal | undefined;
  /**
   * The longest time without a byte in either direction: then the request fails with `timeout`, or with `unsent` before a connection. Without
   * `totalMs`, a response that is not a download must also end this long after its head.
   */
  readonly idleMs: number;
  readonly totalMs?: number;
}

/** Sends one request and passes its response to `read`. Throws an AssessmentError for every failure, and the signal's reason. */
export async function sendRequest<T>(
  request: OutgoingRequest,
  read: (response: http.IncomingMessage) => Promise<T>,
): Promise<T> {
  request.signal?.throwIfAborted();
  const transport = request.url.protocol === 'https:' ? https : http;
  // Node follows no redirects. No pooling either: a pooled socket that died while idle would make a dispatch fail with no way to know whether it arrived.
  const headers = { ...request.headers, Connection: 'close' };
  const outgoing = transport.request(request.url, { method: request.method, headers });
  // Not among the headers above: they would be written at once, and a second time by VS Code's agent for proxies of plain HTTP.
  if (request.expectsContinue === true) outgoing.setHeader('Expect', '100-continue');
  // Once there is a response, it reports a stop made here as a reset connection.
  let stopped: unknown;
  /** Rejects when the request stops or ends. */
  const ended = Promise.withResolvers<never>();
  ended.promise.catch(() => undefined);
  const stop = (error: unknown): void => {
    stopped ??= error;
    outgoing.destroy(error instanceof Error ? error : undefined);
    // A request without a socket reports its end only once it gets one.
    ended.reject(error);
  };
  const abort = (): void => stop(new DOMException('Cancelled', 'AbortError'));
  request.signal?.addEventListener('abort', abort, { once: true });
  let sending: Promise<void> | undefined;
  let sendBody = (): void => undefined;
  let continues: NodeJS.Timeout | undefined;
  // Nothing leaves before the socket has connected; through a proxy there is no socket before the tunnel stands.
  let mayBeSent = false;
  const noteConnected = (): void => {
    mayBeSent = true;
    if (request.expectsContinue === true) continues = setTimeout(() => sendBody(), maxContinueMs);
  };
  outgoing.on('socket', (socket) => {
    if (request.expectsContinue === true) outgoing.flushHeaders();
    // TLS sends nothing of the request before its handshake is over, and has no `connect` over another kind of stream.
    const isShakingHands = 'secureConnecting' in socket && socket.secureConnecting === true;
    if (isShakingHands) socket.once('secureConnect', noteConnected);
    else if (socket.connecting) socket.once('connect', noteConnected);
    else if (!socket.destroyed) noteConnected();
  });
  const { origin } = request.url;
  const expire = (limit: number): void =>
    stop(
      mayBeSent
        ? new AssessmentError('timeout', { origin, limit })
        : new AssessmentError('unsent', { origin, limit, detail: 'ETIMEDOUT' }),
    );
  const idle = setTimeout(expire, request.idleMs, request.idleMs);
  let total =
    request.totalMs === undefined ? undefined : setTimeout(expire, request.totalMs, request.totalMs);
  try {
    const replied = new Promise<http.IncomingMessage>((resolve, reject) => {
      let hasReply = false;
      outgoing.on('response', (response) => {
        hasReply = true;
        resolve(response);
      });
      // Errors after the response surface on the response; this listener keeps them from being unhandled.
      outgoing.on('error', reject);
      const { body } = request;
      if (body === undefined || Buffer.isBuffer(body)) {
        outgoing.end(body);
        return;
      }
      const write = async (chunk: Uint8Array): Promise<void> => {
        // What has arrived is read first, which takes two turns of the event loop: writing to a connection that the service has closed
        // fails, and takes a refusal that waits to be read with it.
        await nextTurn();
        await nextTurn();
        if (hasReply) throw new Error('a reply came before the end of the body');
        await writeChunk(outgoing, chunk, ended.promise);
        idle.refresh();
      };
      sendBody = () => {
        if (hasReply || sending !== undefined) return;
        sending = body(write).then(() => void outgoing.end());
        // After a reply the connection may close: what it said counts.
        sending.catch((error: unknown) => {
          if (!hasReply || error instanceof AssessmentError) stop(error);
        });
      };
      if (request.expectsContinue === true) outgoing.once('continue', sendBody);
      else sendBody();
    });
    const response = await Promise.race([replied, ended.promise]);
    const isDownload = request.method === 'GET' && response.statusCode === 200;
    if (!isDownload) total ??= setTimeout(expire, request.idleMs, request.idleMs);
    response.on('data', () => idle.refresh());
    response.pause();
    try {
      const result = await read(response);
      // A service that answers before it has the whole body has not accepted it.
      await Promise.race([sending, ended.promise]);
      return result;
    } finally {
      response.destroy();
    }
  } catch (error) {
    request.signal?.throwIfAborted();
    throw transportFailure(stopped ?? error, request.url, mayBeSent);
  } finally {
    clearTimeout(idle);
    clearTimeout(total);
    clearTimeout(continues);
    request.signal?.removeEventListener('abort', abort);
    outgoing.destroy();
    ended.reject(new Error('the request is over'));
    // The caller may then reuse or close the source of the body.
    await sending?.catch(() => undefined);
  }
}

/** Resolves when the chunk is written; `ended` ends the wait of a request that never gets a connection. */
function writeChunk(outgoing: http.ClientRequest, chunk: Uint8Array, ended: Promise<never>): Promise<void> {
  const written = new Promise<void>((resolve, reject) => {
    outgoing.write(chunk, (error) => (error ? reject(error) : resolve()));
  });
  return Promise.race([written, ended]);
}

/** Throws `badResponse` past `maxBytes`. */
export async function readAll(
  response: http.IncomingMessage,
  maxBytes: number,
  { origin }: URL,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes)
      throw new AssessmentError('badResponse', { status: response.statusCode, origin, limit: maxBytes });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
