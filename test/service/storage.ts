import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { storageRefusal, type Reply } from './replies.ts';

/** Milliseconds count from the epoch. */
export interface Clock {
  readonly now: () => number;
}

export interface StoredContent {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

export type StorageObject =
  /** `refusal` returns why no content is accepted now; `store` replaces earlier content. */
  | {
      readonly method: 'PUT';
      readonly contentLength: number;
      readonly refusal: () => Reply | undefined;
      readonly store: (content: StoredContent) => Promise<void>;
    }
  /** `read` returns nothing once the content has been deleted. */
  | { readonly method: 'GET'; readonly read: () => { body: Buffer; mediaType: string } | undefined };

const PREFIX = '/storage/';

/**
 * This is object storage behind presigned addresses, outside the authenticated interface (sections
 * 4.1, 4.2, and 5.4). It refuses a request with an Authorization header, a wrong signature, a
 * passed expiry, or a length other than the reserved one.
 */
export class PresignedStorage {
  readonly #objects = new Map<string, StorageObject>();
  readonly #secret = randomBytes(32);
  readonly #clock: Clock;
  readonly #directory: string;
  readonly #origin: () => string;

  constructor(needs: { clock: Clock; directory: string; origin: () => string }) {
    this.#clock = needs.clock;
    this.#directory = needs.directory;
    this.#origin = needs.origin;
  }

  /** The new address is good for this many seconds. */
  presign(object: StorageObject, validSeconds: number): string {
    const key = randomBytes(16).toString('hex');
    this.#objects.set(key, object);
    const expires = this.#clock.now() + validSeconds * 1000;
    const query = `expires=${expires}&signature=${this.#sign(object.method, key, String(expires))}`;
    return `${this.#origin()}${PREFIX}${key}?${query}`;
  }

  /**
   * Answers a request to a presigned address; undefined for any other path. `proceed` asks for a
   * body that waits for `100 Continue`.
   */
  async answer(request: IncomingMessage, url: URL, proceed: () => void): Promise<Reply | undefined> {
    if (!url.pathname.startsWith(PREFIX)) return undefined;
    if (request.headers.authorization !== undefined) {
      return storageRefusal(400, 'InvalidArgument', 'A presigned address takes no Authorization header.');
    }
    const key = url.pathname.slice(PREFIX.length);
    const object = this.#objects.get(key);
    if (!object) return storageRefusal(404, 'NoSuchKey', 'There is nothing at this address.');
    const expires = url.searchParams.get('expires') ?? '';
    if (!this.#isSigned(url, request.method ?? '', key, expires)) {
      return storageRefusal(
        403,
        'SignatureDoesNotMatch',
        'The signature does not match method, key and expiry.',
      );
    }
    if (this.#clock.now() >= Number(expires))
      return storageRefusal(403, 'AccessDenied', 'Request has expired');
    if (object.method === 'GET') return deliver(object);
    const refusal = refusalOf(request, object);
    if (refusal) return refusal;
    proceed();
    return await this.#receive(request, key, object);
  }

  async #receive(
    request: IncomingMessage,
    key: string,
    object: StorageObject & { method: 'PUT' },
  ): Promise<Reply> {
    // The name is new, because earlier content is kept until this upload is complete.
    const path = join(this.#directory, `${key}.${randomBytes(4).toString('hex')}`);
    const hash = createHash('sha256');
    let sha256: string | undefined;
    try {
      await pipeline(
        request,
        async function* (chunks: AsyncIterable<Buffer>) {
          for await (const chunk of chunks) {
            hash.update(chunk);
            yield chunk;
          }
        },
        createWriteStream(path, { mode: 0o600 }),
      );
      // The upload may have been confirmed or cancelled while its bytes were on the way. Nothing is
      // awaited between this check and `store`.
      const late = object.refusal();
      if (late) return late;
      sha256 = hash.digest('hex');
      await object.store({ path, bytes: object.contentLength, sha256 });
    } finally {
      if (sha256 === undefined) await rm(path, { force: true });
    }
    return { status: 200, headers: { etag: `"${sha256.slice(0, 32)}"` }, body: Buffer.alloc(0) };
  }

  #sign(method: string, key: string, expires: string): string {
    return createHmac('sha256', this.#secret).update(`${method}\n${key}\n${expires}`).digest('hex');
  }

  #isSigned(url: URL, method: string, key: string, expires: string): boolean {
    if ([...url.searchParams.keys()].join() !== 'expires,signature') return false;
    const given = Buffer.from(url.searchParams.get('signature') ?? '');
    const right = Buffer.from(this.#sign(method, key, expires));
    return given.length === right.length && timingSafeEqual(given, right);
  }
}

function refusalOf(request: IncomingMessage, object: StorageObject & { method: 'PUT' }): Reply | undefined {
  const length = request.headers['content-length'];
  if (length === undefined || request.headers['transfer-encoding'] !== undefined) {
    return storageRefusal(411, 'MissingContentLength', 'Content-Length is required.');
  }
  if (Number(length) !== object.contentLength) {
    return storageRefusal(
      400,
      'ContentLengthMismatch',
      `Content-Length must be ${object.contentLength}, not ${length}.`,
    );
  }
  return object.refusal();
}

function deliver(object: StorageObject & { method: 'GET' }): Reply {
  const content = object.read();
  if (!content) return storageRefusal(404, 'NoSuchKey', 'The content has been deleted.');
  return { status: 200, headers: { 'content-type': content.mediaType }, body: content.body };
}
