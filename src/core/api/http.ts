import { randomBytes } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import type http from 'node:http';
import { AssessmentError } from '../errors.ts';
import { onDisk, replaceFile } from '../files.ts';
import type { Clock, OnBytes } from '../ports.ts';
import { exchange, readAll } from './request.ts';
import { presignedFailure, replyFailure } from './failure.ts';
import { checkHashed, type HashedFile, sendUnchanged } from './hashedFile.ts';
import { serviceMessage } from './serviceMessage.ts';

/** Longest JSON reply that is read; a longer one is a `badResponse`. */
const maxJsonBytes = 4 * 1024 * 1024;
/** A JSON exchange may take as long as so many silences: it holds up every later look at its run. */
const mostSilences = 4;

/** How long an exchange may go without a byte in either direction, in milliseconds. */
export interface IdleLimits {
  readonly jsonMs: number;
  readonly transferMs: number;
}

/** The limits unless a caller has others. */
export const usualIdleLimits: IdleLimits = { jsonMs: 30_000, transferMs: 120_000 };

/** A download that brings fewer bytes in such a time would hold its run up for ever. */
const leastRate = { bytes: 300 * 1024, ms: 5 * 60_000 };

/** What every exchange is given; `secrets` were sent to the service, and no error may say them back. */
interface ExchangeOptions {
  readonly signal?: AbortSignal | undefined;
  readonly idleMs: number;
  readonly clock: Clock;
  readonly secrets: readonly string[];
}

/** Sends a JSON body and returns the JSON reply of status 200; throws AssessmentError for anything else. Sends once: retries are the caller's. */
export async function postJson(
  url: URL,
  body: unknown,
  options: ExchangeOptions & { token: string },
): Promise<unknown> {
  const bytes = Buffer.from(JSON.stringify(body));
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
      idleMs: options.idleMs,
      totalMs: mostSilences * options.idleMs,
    },
    async (response) => {
      if (response.statusCode !== 200)
        throw await replyFailure(response, url, options.secrets, options.clock.now());
      const text = (await readAll(response, maxJsonBytes)).toString('utf8').replace(/^\uFEFF/, '');
      try {
        return JSON.parse(text) as unknown;
      } catch {
        throw new AssessmentError('badResponse', {
          status: 200,
          origin: url.origin,
          detail: serviceMessage(text, options.secrets),
        });
      }
    },
  );
}

/** Sends a file to a presigned address with its exact length and without Authorization (section 4.1); throws `lengthChanged` when the file is not the one that was hashed. */
export async function putFile(
  url: URL,
  file: HashedFile,
  options: ExchangeOptions & { onBytes?: OnBytes | undefined },
): Promise<void> {
  const { bytes } = file;
  const source = await open(file.path);
  try {
    const mark = await checkHashed(source, file, options.signal);
    let given = 0;
    await exchange(
      {
        method: 'PUT',
        url,
        headers: { 'Content-Length': bytes },
        body: (write) =>
          sendUnchanged(
            source,
            { bytes, mark },
            (chunk) => {
              given += chunk.length;
              return write(chunk);
            },
            (sent) => options.onBytes?.(sent, bytes),
          ),
        signal: options.signal,
        idleMs: options.idleMs,
      },
      async (response) => {
        const status = response.statusCode ?? 0;
        if (status < 200 || status > 299) throw await failureOf(response, url, options);
        if (given < bytes) throw new AssessmentError('addressRefused', { status, origin: url.origin });
        response.resume();
        await finished(response);
      },
    );
  } finally {
    await source.close();
  }
}

/** Downloads a presigned address into a file, replacing it only when all of it arrived; throws `tooLarge` past `maxBytes`. Returns the bytes written. */
export async function getFile(
  url: URL,
  path: string,
  options: ExchangeOptions & { maxBytes: number },
): Promise<number> {
  // A name of its own: another window may be downloading the same artifact.
  const temporary = `${path}.${randomBytes(6).toString('hex')}.part`;
  try {
    const bytes = await exchange(
      { method: 'GET', url, headers: {}, signal: options.signal, idleMs: options.idleMs },
      async (response) => {
        if (response.statusCode !== 200) throw await failureOf(response, url, options);
        const file = await onDisk(open(temporary, 'w', 0o600));
        try {
          return await save(response, url, file, options);
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

/** Writes a body to a file and on to the disk; throws `timeout` when it comes too slowly ever to be whole. Returns its bytes. */
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
    if (at - measured.at < leastRate.ms) continue;
    if (bytes - measured.bytes < leastRate.bytes)
      throw new AssessmentError('timeout', { origin: url.origin, limit: leastRate.ms });
    measured = { bytes, at };
  }
  await onDisk(file.sync());
  const promised = response.headers['content-length'];
  if (promised !== undefined && Number(promised) !== bytes)
    throw new AssessmentError('connectionLost', { limit: Number(promised), actual: bytes });
  return bytes;
}

function failureOf(
  response: http.IncomingMessage,
  url: URL,
  { secrets, clock }: ExchangeOptions,
): Promise<AssessmentError> {
  return presignedFailure(response, url, secrets, clock.now());
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
