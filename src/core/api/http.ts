import { createHash, randomBytes } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import type http from 'node:http';
import { AssessmentError } from '../errors.ts';
import { flush, onDisk, replaceFile, toFileStamp } from '../files.ts';
import { parseIfJson } from '../json.ts';
import type { Clock, OnBytes } from '../ports.ts';
import { sendRequest, readAll } from './sendRequest.ts';
import { replyFailure } from './failure.ts';
import { bodyText, compressionOf, isPage, maxStartBytes } from './replyBody.ts';

/** A longer reply to a successful call or upload is a `badResponse`. */
const maxReplyBytes = 1024 * 1024;
/**
 * The total limit of a JSON request, as a multiple of its idle limit: a slow request delays the
 * run's next poll.
 */
const maxIdleTimes = 4;
/**
 * The limit after an upload's last byte, as a multiple of its idle limit: a proxy may pass the
 * upload on only then.
 */
const maxStoringTimes = 5;

/** The longest time without a byte in either direction. */
export interface IdleLimits {
  readonly jsonMs: number;
  readonly transferMs: number;
}

export const defaultIdleLimits: IdleLimits = { jsonMs: 30_000, transferMs: 120_000 };

/** A slower download fails: it could delay its run for days. */
const minRate = { bytes: 300 * 1024, ms: 5 * 60_000 };

interface TransferOptions {
  readonly signal?: AbortSignal | undefined;
  readonly idleMs: number;
  readonly clock: Clock;
  readonly secrets: readonly string[];
}

/** A gateway may change 200 to the other statuses, so the shape of the body decides. */
const accepted: readonly unknown[] = [200, 201, 202];

export async function postJson(
  url: URL,
  body: unknown,
  options: TransferOptions & { token: string },
): Promise<{ readonly status: number | undefined; readonly json: unknown }> {
  const bytes = Buffer.from(JSON.stringify(body));
  return sendRequest(
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
      idleMs: options.idleMs,
      totalMs: maxIdleTimes * options.idleMs,
    },
    async (response) => {
      const status = response.statusCode;
      if (!accepted.includes(status)) throw await replyFailure(response, url, 'service', options);
      const text = await readText(response, url);
      const json = parseIfJson(text);
      if (json === undefined) throw await replyFailure(response, url, 'service', { ...options, body: text });
      return { status, json };
    },
  );
}

async function readText(response: http.IncomingMessage, url: URL): Promise<string> {
  return bodyText(await readAll(response, maxReplyBytes, url), response.headers);
}

/** Azure's blob storage refuses an upload that doesn't name its kind of blob. */
const azureBlobHost =
  /\.blob\.(core\.(windows\.net|usgovcloudapi\.net|chinacloudapi\.cn|cloudapi\.de)|storage\.azure\.net)\.?$/;

/**
 * Sends no Authorization (docs/api.md, section 5). Uses `Expect`, because storage that refuses a
 * body closes the connection, and its response would often be lost. Throws `lengthChanged` if the
 * file has changed since it was hashed.
 */
export async function putFile(
  url: URL,
  file: HashedFile,
  options: TransferOptions & { onBytes?: OnBytes | undefined },
): Promise<void> {
  const { bytes } = file;
  const source = await open(file.path);
  try {
    const fileStamp = await checkHashed(source, file, options.signal);
    const put = async (expectsContinue: boolean): Promise<void> => {
      let passed = 0;
      await sendRequest(
        {
          method: 'PUT',
          url,
          headers: {
            'Content-Length': bytes,
            ...(azureBlobHost.test(url.hostname) ? { 'x-ms-blob-type': 'BlockBlob' } : {}),
          },
          body: (write) =>
            sendUnchanged(
              source,
              { bytes, fileStamp },
              (chunk) => {
                passed += chunk.length;
                return write(chunk);
              },
              (sentBytes) => options.onBytes?.(sentBytes, bytes),
            ),
          expectsContinue,
          signal: options.signal,
          idleMs: options.idleMs,
          answerMs: maxStoringTimes * options.idleMs,
        },
        async (response) => {
          const status = response.statusCode ?? 0;
          if (status < 200 || status > 299) throw await replyFailure(response, url, 'storage', options);
          const body = await readText(response, url);
          if (isPage(body, response.headers['content-type']))
            throw await replyFailure(response, url, 'storage', { ...options, body });
          if (passed < bytes) throw new AssessmentError('addressRefused', { status, origin: url.origin });
        },
      );
    };
    try {
      await put(true);
    } catch (error) {
      if (!(error instanceof AssessmentError) || error.data.status !== 417) throw error;
      await put(false);
    }
  } finally {
    await source.close();
  }
}

/** Throws `tooLarge` beyond `maxBytes`. Returns the length. */
export async function getFile(
  url: URL,
  path: string,
  options: TransferOptions & { maxBytes: number },
): Promise<number> {
  // The name is unique, because another window may download the same artifact.
  const temporary = `${path}.${randomBytes(6).toString('hex')}.part`;
  try {
    const bytes = await sendRequest(
      { method: 'GET', url, headers: {}, signal: options.signal, idleMs: options.idleMs },
      async (response) => {
        if (response.statusCode !== 200) throw await replyFailure(response, url, 'storage', options);
        const file = await onDisk(open(temporary, 'w+', 0o600));
        try {
          const length = await save(response, url, file, options);
          const body = bodyText(await readStartOf(file), response.headers);
          if (isPage(body, response.headers['content-type']) || compressionOf(body) !== undefined)
            throw await replyFailure(response, url, 'storage', { ...options, body });
          return length;
        } finally {
          await onDisk(file.close());
        }
      },
    );
    await onDisk(replaceFile(temporary, path));
    return bytes;
  } finally {
    await rm(temporary, { force: true });
  }
}

async function save(
  response: http.IncomingMessage,
  url: URL,
  file: FileHandle,
  { clock, maxBytes }: { clock: Clock; maxBytes: number },
): Promise<number> {
  let bytes = 0;
  let measured = { bytes, at: clock.monotonic() };
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new AssessmentError('tooLarge', { limit: maxBytes });
    await onDisk(file.writeFile(chunk));
    const at = clock.monotonic();
    if (at - measured.at < minRate.ms) continue;
    if (bytes - measured.bytes < minRate.bytes)
      throw new AssessmentError('timeout', { origin: url.origin, limit: minRate.ms });
    measured = { bytes, at };
  }
  await onDisk(flush(file));
  return bytes;
}

async function readStartOf(file: FileHandle): Promise<Buffer> {
  const buffer = Buffer.alloc(maxStartBytes);
  const { bytesRead } = await onDisk(file.read(buffer, 0, maxStartBytes, 0));
  return buffer.subarray(0, bytesRead);
}

export interface HashedFile {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
  /** The file's stamp after it was hashed. A file that still has this stamp isn't hashed again. */
  readonly fileStamp?: string | undefined;
}

/** Larger chunks are no faster; smaller ones take more processor time. */
const chunkBytes = 512 << 10;

/** Throws `lengthChanged` if the content doesn't match the hash. Returns the file's stamp. */
async function checkHashed(
  source: FileHandle,
  { bytes, sha256, fileStamp }: HashedFile,
  signal: AbortSignal | undefined,
): Promise<string> {
  const found = await onDisk(source.stat({ bigint: true }));
  if (Number(found.size) !== bytes) throw changed(bytes, Number(found.size));
  const currentStamp = toFileStamp(found);
  if (currentStamp === fileStamp) return currentStamp;
  const hash = createHash('sha256');
  const buffer = Buffer.allocUnsafeSlow(chunkBytes);
  for (let position = 0; position < bytes;) {
    signal?.throwIfAborted();
    const { bytesRead } = await onDisk(source.read(buffer, 0, buffer.length, position));
    if (bytesRead === 0) throw changed(bytes, position);
    hash.update(buffer.subarray(0, bytesRead));
    position += bytesRead;
  }
  if (hash.digest('hex') !== sha256) throw changed(bytes, bytes);
  return currentStamp;
}

/** Throws `lengthChanged` if the stamp changes. */
async function sendUnchanged(
  source: FileHandle,
  { bytes, fileStamp }: { readonly bytes: number; readonly fileStamp: string },
  write: (chunk: Uint8Array) => Promise<void>,
  onSent: (bytes: number) => void,
): Promise<void> {
  // Two buffers alternate: a stream takes twice the processor time and ten times the memory.
  const buffers = [Buffer.allocUnsafeSlow(chunkBytes), Buffer.allocUnsafeSlow(chunkBytes)] as const;
  const read = async (index: number): Promise<Buffer> => {
    const buffer = index % 2 === 0 ? buffers[0] : buffers[1];
    const position = index * chunkBytes;
    const wanted = Math.max(0, Math.min(chunkBytes, bytes - position));
    const chunk = await readFull(source, buffer.subarray(0, wanted), position);
    const isLast = position + wanted >= bytes;
    if (isLast && toFileStamp(await onDisk(source.stat({ bigint: true }))) !== fileStamp)
      throw changed(bytes, bytes);
    return chunk;
  };
  let chunk = await read(0);
  for (let index = 1, sentBytes = 0; chunk.length > 0; index++) {
    const current = chunk;
    [chunk] = await Promise.all([read(index), write(current)]);
    sentBytes += current.length;
    onSent(sentBytes);
  }
}

async function readFull(source: FileHandle, into: Buffer, position: number): Promise<Buffer> {
  let length = 0;
  while (length < into.length) {
    const { bytesRead } = await onDisk(source.read(into, length, into.length - length, position + length));
    if (bytesRead === 0) throw changed(position + into.length, position + length);
    length += bytesRead;
  }
  return into;
}

function changed(limit: number, actual: number): AssessmentError {
  return new AssessmentError('lengthChanged', { limit, actual });
}
