// VS Code's proxy support patches these two objects. Named imports would miss the patch.
import http from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { AssessmentError } from '../errors.ts';
import { transportFailure } from './failure.ts';

/** The buffer of a chunk may be reused once its `write` resolves. */
type WriteBody = (write: (chunk: Uint8Array) => Promise<void>) => Promise<void>;

/** A server that ignores `Expect` gets the body after this time. */
const maxContinueMs = 1_000;

interface OutgoingRequest {
  readonly method: 'POST' | 'PUT' | 'GET';
  readonly url: URL;
  readonly headers: Record<string, string | number>;
  readonly body?: Buffer | WriteBody;
  /** The body waits for `100 Continue`, at most 1 s, and isn't sent after any other response. */
  readonly expectsContinue?: boolean;
  readonly signal: AbortSignal | undefined;
  /**
   * The longest time without a byte in either direction. After a longer silence, the request fails
   * with `timeout`, or with `unsent` before the connection is ready. Without `totalMs`, a response
   * that isn't a download must also end within this time of its head.
   */
  readonly idleMs: number;
  /** Replaces `idleMs` between the end of a written body and the head of the response. */
  readonly answerMs?: number;
  readonly totalMs?: number;
}

/** Throws an AssessmentError, or the signal's reason after an abort. */
export async function sendRequest<T>(
  request: OutgoingRequest,
  read: (response: http.IncomingMessage) => Promise<T>,
): Promise<T> {
  request.signal?.throwIfAborted();
  return new Exchange(request).pass(read);
}

class Exchange {
  readonly #request: OutgoingRequest;
  readonly #outgoing: http.ClientRequest;
  readonly #stop = new AbortController();
  /**
   * Aborts if this class stops the request, or the caller aborts it. The reason is thrown, because
   * the response itself only reports a reset connection.
   */
  readonly #ended: AbortSignal;
  /**
   * Rejects as soon as `#ended` aborts: a destroyed request reports its end only once it has a
   * socket.
   */
  readonly #untilEnded: Promise<never>;
  /** True once the request may leave: after the proxy's tunnel and the TLS handshake, if any. */
  #isReady = false;
  #hasReply = false;
  #sending: Promise<void> | undefined;
  #silence: NodeJS.Timeout | undefined;
  readonly #timers: NodeJS.Timeout[] = [];

  constructor(request: OutgoingRequest) {
    this.#request = request;
    const { url, method, signal } = request;
    const transport = url.protocol === 'https:' ? https : http;
    // Pooling is off: if a pooled socket died while idle, it would be unknown whether a dispatch
    // arrived.
    const headers = { ...request.headers, Connection: 'close' };
    this.#outgoing = transport.request(url, { method, headers });
    this.#ended = AbortSignal.any([this.#stop.signal, ...(signal === undefined ? [] : [signal])]);
    this.#untilEnded = new Promise((_resolve, reject) => {
      this.#ended.addEventListener('abort', () => {
        this.#outgoing.destroy(this.#ended.reason as Error);
        reject(this.#ended.reason as Error);
      });
    });
    this.#untilEnded.catch(() => undefined);
  }

  async pass<T>(read: (response: http.IncomingMessage) => Promise<T>): Promise<T> {
    const { url, signal } = this.#request;
    try {
      const response = await this.#response();
      try {
        const result = await read(response);
        // Throws after an early response: a server without the whole body hasn't accepted it.
        await Promise.race([this.#sending, this.#untilEnded]);
        return result;
      } finally {
        response.destroy();
      }
    } catch (error) {
      signal?.throwIfAborted();
      throw transportFailure(this.#ended.reason ?? error, url, this.#isReady);
    } finally {
      for (const timer of [this.#silence, ...this.#timers]) clearTimeout(timer);
      this.#stop.abort(new Error('the request is over'));
      await this.#sending?.catch(() => undefined);
    }
  }

  async #response(): Promise<http.IncomingMessage> {
    const { url, method, body, expectsContinue, idleMs, totalMs } = this.#request;
    const outgoing = this.#outgoing;
    this.#limitSilence(idleMs);
    if (totalMs !== undefined) this.#timers.push(this.#limit(totalMs));
    const replied = new Promise<http.IncomingMessage>((resolve, reject) => {
      outgoing.on('socket', (socket) => this.#useSocket(socket));
      outgoing.on('response', (response) => {
        this.#hasReply = true;
        resolve(response);
      });
      // Errors that follow the response are reported by the response. This listener marks them as
      // handled.
      outgoing.on('error', reject);
    });
    if (expectsContinue === true) {
      // If the constructor got this header, it would write all headers at once, and VS Code's agent
      // for proxies of plain HTTP would write them again.
      outgoing.setHeader('Expect', '100-continue');
      outgoing.once('continue', () => this.#sendBody());
    } else if (typeof body === 'function') this.#sendBody();
    else outgoing.end(body);
    const response = await Promise.race([replied, this.#untilEnded]);
    const { statusCode: status } = response;
    // VS Code's agent passes on a proxy's refusal of the tunnel.
    if (!this.#isReady) throw new AssessmentError('proxy', { origin: url.origin, status, isUnsent: true });
    this.#limitSilence(idleMs);
    const isDownload = method === 'GET' && status === 200;
    if (totalMs === undefined && !isDownload) this.#timers.push(this.#limit(idleMs));
    response.on('data', () => this.#silence?.refresh());
    return response.pause();
  }

  #limit(limit: number): NodeJS.Timeout {
    const { origin } = this.#request.url;
    return setTimeout(() => {
      const failure = this.#isReady
        ? new AssessmentError('timeout', { origin, limit })
        : new AssessmentError('unsent', { origin, limit, detail: 'ETIMEDOUT', isUnsent: true });
      this.#stop.abort(failure);
    }, limit);
  }

  #limitSilence(ms: number): void {
    clearTimeout(this.#silence);
    this.#silence = this.#limit(ms);
  }

  #useSocket(socket: Socket): void {
    const { url, expectsContinue } = this.#request;
    if (expectsContinue === true) this.#outgoing.flushHeaders();
    const isTls = url.protocol === 'https:';
    const isPending = isTls
      ? !('secureConnecting' in socket) || socket.secureConnecting === true
      : socket.connecting;
    const onReady = (): void => {
      this.#isReady = true;
      if (expectsContinue === true) this.#timers.push(setTimeout(() => this.#sendBody(), maxContinueMs));
    };
    if (isPending) socket.once(isTls ? 'secureConnect' : 'connect', onReady);
    else if (!socket.destroyed) onReady();
  }

  #sendBody(): void {
    const { body, answerMs } = this.#request;
    if (typeof body !== 'function' || this.#hasReply || this.#sending !== undefined) return;
    const onSent = (): void => {
      const waits = answerMs !== undefined && !this.#hasReply && !this.#ended.aborted;
      if (waits) this.#limitSilence(answerMs);
    };
    this.#sending = body((chunk) => this.#write(chunk)).then(() => void this.#outgoing.end(onSent));
    // After a reply the connection may close: the reply counts.
    this.#sending.catch((error: unknown) => {
      if (!this.#hasReply || error instanceof AssessmentError) this.#stop.abort(error);
    });
  }

  async #write(chunk: Uint8Array): Promise<void> {
    // Waits two turns to read what has arrived. A write to a connection that the service has closed
    // fails, and loses an unread refusal.
    await nextTurn();
    await nextTurn();
    if (this.#hasReply) throw new Error('a reply came before the end of the body');
    const written = new Promise<void>((resolve, reject) => {
      this.#outgoing.write(chunk, (error) => (error ? reject(error) : resolve()));
    });
    // Without a connection, `written` never settles.
    await Promise.race([written, this.#untilEnded]);
    this.#silence?.refresh();
  }
}

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
