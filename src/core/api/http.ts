import { createHash } from 'node:crypto';
import { open, rm, rename, stat } from 'node:fs/promises';
import { createReadStream } from 'node:fs';
// Default imports: VS Code's proxy support patches these two objects, and a named import would miss the patch.
import http from 'node:http';
import https from 'node:https';
import { Transform, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { AssessmentError } from '../errors.ts';
import type { OnBytes } from '../ports.ts';
import { replyFailure, transportFailure } from './failure.ts';
import { serviceMessage } from './serviceMessage.ts';

/** One HTTP exchange: what goes out, and the bounds on what comes back. */
interface Exchange {
  readonly method: 'POST' | 'PUT' | 'GET';
  readonly url: URL;
  readonly headers: Record<string, string | number>;
  readonly body?: Buffer | Readable;
  readonly signal: AbortSignal | undefined;
  /** Without a byte in either direction for so long, the exchange fails with `timeout`. */
  readonly idleMs: number;
}

/** Longest JSON reply that is read; a longer one is a `badResponse`. */
const maxJsonBytes = 4 * 1024 * 1024;
const jsonIdleMs = 30_000;
const transferIdleMs = 120_000;

/** Sends a JSON body and returns the JSON reply of status 200; throws AssessmentError for anything else. Sends once: retries are the caller's. */
export async function postJson(
  url: URL,
  body: unknown,
  options: { token: string; signal?: AbortSignal | undefined; now: number },
): Promise<unknown> {
  const bytes = Buffer.from(JSON.stringify(body));
  const secrets = [options.token];
  return exchange(
    {
      method: 'POST',
      url,
      headers: {
        'Content-Type': 'application/json',
        'Content-Length': bytes.length,
        Accept: 'application/json',
        Authorization: `Bearer ${options.token}`,
      },
      body: bytes,
      signal: options.signal,
      idleMs: jsonIdleMs,
    },
    async (response) => {
      if (response.statusCode !== 200) throw await replyFailure(response, url, secrets, options.now);
      const text = (await readAll(response, maxJsonBytes)).toString('utf8').replace(/^\uFEFF/, '');
      try {
        return JSON.parse(text) as unknown;
      } catch {
        throw new AssessmentError('badResponse', {
          status: 200,
          origin: url.origin,
          detail: serviceMessage(text, secrets),
        });
      }
    },
  );
}

/** Sends a file to a presigned address with its exact length and without Authorization (section 4.1); throws `lengthChanged` when the file is not the one that was hashed. */
export async function putFile(
  url: URL,
  file: { path: string; bytes: number; sha256: string },
  options: { signal?: AbortSignal | undefined; onBytes?: OnBytes | undefined; now: number },
): Promise<void> {
  const found = await stat(file.path);
  if (found.size !== file.bytes) {
    throw new AssessmentError('lengthChanged', { limit: file.bytes, actual: found.size });
  }
  const hash = createHash('sha256');
  let done = 0;
  const measured = new Transform({
    transform(chunk: Buffer, _encoding, next) {
      hash.update(chunk);
      done += chunk.length;
      options.onBytes?.(done, file.bytes);
      // The last byte is held back until the hash is known to be right: a wrong body is never completed.
      const wrong = done === file.bytes && hash.copy().digest('hex') !== file.sha256;
      if (wrong || done > file.bytes)
        next(new AssessmentError('lengthChanged', { limit: file.bytes, actual: done }));
      else next(null, chunk);
    },
  });
  // 64 KiB reads, the default, made uploads three times slower.
  const source = createReadStream(file.path, { highWaterMark: 1024 * 1024 });
  source.on('error', (error) => measured.destroy(error));
  source.pipe(measured);
  try {
    await exchange(
      {
        method: 'PUT',
        url,
        headers: { 'Content-Length': file.bytes },
        body: measured,
        signal: options.signal,
        idleMs: transferIdleMs,
      },
      async (response) => {
        const status = response.statusCode ?? 0;
        if (status < 200 || status > 299) throw await replyFailure(response, url, [], options.now);
        response.resume();
        await finished(response);
      },
    );
  } finally {
    source.destroy();
  }
}

/** Downloads a presigned address into a file, replacing it only when all of it arrived; throws `tooLarge` past `maxBytes`. Returns the bytes written. */
export async function getFile(
  url: URL,
  path: string,
  options: { maxBytes: number; signal?: AbortSignal | undefined; now: number },
): Promise<number> {
  const temporary = `${path}.part`;
  try {
    const bytes = await exchange(
      { method: 'GET', url, headers: {}, signal: options.signal, idleMs: transferIdleMs },
      async (response) => {
        if (response.statusCode !== 200) throw await replyFailure(response, url, [], options.now);
        const file = await open(temporary, 'w', 0o600);
        let written = 0;
        const capped = new Transform({
          transform(chunk: Buffer, _encoding, next) {
            written += chunk.length;
            if (written > options.maxBytes)
              next(new AssessmentError('tooLarge', { limit: options.maxBytes }));
            else next(null, chunk);
          },
        });
        await pipeline(response, capped, file.createWriteStream({ flush: true }));
        const promised = response.headers['content-length'];
        if (promised !== undefined && Number(promised) !== written) {
          throw new AssessmentError('connectionLost', { limit: Number(promised), actual: written });
        }
        return written;
      },
    );
    await rename(temporary, path);
    return bytes;
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Runs one request and hands its response over; every failure leaves as an AssessmentError, a cancellation as the signal's reason. */
async function exchange<T>(
  request: Exchange,
  read: (response: http.IncomingMessage) => Promise<T>,
): Promise<T> {
  request.signal?.throwIfAborted();
  const transport = request.url.protocol === 'https:' ? https : http;
  // Node follows no redirect by itself: a 3xx arrives here as any other status and is refused.
  // A pooled socket that died while idle would make a dispatch fail with no way to know whether it arrived.
  const headers = { ...request.headers, Connection: 'close' };
  const outgoing = transport.request(request.url, { method: request.method, headers });
  const abort = (): void => {
    outgoing.destroy(new DOMException('Cancelled', 'AbortError'));
  };
  request.signal?.addEventListener('abort', abort, { once: true });
  const idle = setTimeout(() => {
    outgoing.destroy(new AssessmentError('timeout', { origin: request.url.origin, limit: request.idleMs }));
  }, request.idleMs);
  try {
    const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
      outgoing.on('response', resolve);
      // Later errors (of the body, once the response is here) surface on the response; this listener stays so that none is unhandled.
      outgoing.on('error', reject);
      if (request.body === undefined) outgoing.end();
      else if (Buffer.isBuffer(request.body)) outgoing.end(request.body);
      else {
        request.body.on('data', () => idle.refresh());
        request.body.on('error', (error) => outgoing.destroy(error));
        request.body.pipe(outgoing);
      }
    });
    response.on('data', () => idle.refresh());
    response.pause();
    try {
      return await read(response);
    } finally {
      response.destroy();
    }
  } catch (error) {
    request.signal?.throwIfAborted();
    throw transportFailure(error, request.url);
  } finally {
    clearTimeout(idle);
    request.signal?.removeEventListener('abort', abort);
    outgoing.destroy();
  }
}

async function readAll(response: http.IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new AssessmentError('badResponse', { limit: maxBytes });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function finished(response: http.IncomingMessage): Promise<void> {
  return new Promise((resolve, reject) => {
    response.on('end', resolve);
    response.on('error', reject);
    response.on('aborted', () => {
      reject(new AssessmentError('connectionLost'));
    });
  });
}
