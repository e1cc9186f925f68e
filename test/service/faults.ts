import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import type { Reply } from './replies.ts';

export type FaultAction =
  /**
   * Sends this reply instead of the service's own; with `afterBodyBytes`, once that much of the
   * request body has arrived.
   */
  | {
      kind: 'reply';
      status: number;
      headers?: Record<string, string>;
      body?: string | Uint8Array;
      afterBodyBytes?: number;
    }
  /**
   * Resets the connection; with `afterBodyBytes`, once that much of the request body has arrived.
   */
  | { kind: 'reset'; afterBodyBytes?: number }
  /** The service continues after this many milliseconds of real time. */
  | { kind: 'delay'; ms: number }
  /** The service continues once this resolves. */
  | { kind: 'hold'; until: Promise<unknown> }
  /**
   * Never answers; with `afterBodyBytes`, stops reading once that much of the request body has
   * arrived.
   */
  | { kind: 'stall'; afterBodyBytes?: number };

export type LateFaultAction =
  | FaultAction
  /** Announces the whole body, sends the first `bytes` of it, and closes the connection. */
  | { kind: 'truncate'; bytes: number }
  /** Pads the body with spaces up to `bytes`. */
  | { kind: 'oversize'; bytes: number }
  /**
   * Performs a JSON operation twice, as if a proxy had sent the request again. The second reply is
   * sent.
   */
  | { kind: 'duplicate' };

/**
 * A rule disturbs matching requests. A string path matches the end of the request's path, which
 * excludes the query. `nth` (from 1) picks one of the rule's matches, `times` the first few;
 * without both, every match is disturbed. `before` acts before the operation takes effect, `after`
 * once it has.
 */
export interface FaultRule {
  readonly match: { method?: string; path?: RegExp | string; nth?: number; times?: number };
  readonly before?: FaultAction;
  readonly after?: LateFaultAction;
}

/** Gateways and services answer with these statuses before they act on a request. */
const beforeActing: readonly unknown[] = [401, 407, 413, 429];

export class Faults {
  readonly #rules = new Map<FaultRule, number>();

  /** Adds a rule; the returned function removes it. */
  add(rule: FaultRule): () => void {
    if (rule.after?.kind === 'reply' && beforeActing.includes(rule.after.status))
      throw new Error(`${String(rule.after.status)} does not come after the operation`);
    this.#rules.set(rule, 0);
    return () => {
      this.#rules.delete(rule);
    };
  }

  /** Counts the request for every matching rule and returns the actions; the first rule wins. */
  take(method: string, path: string): { before?: FaultAction; after?: LateFaultAction } {
    const found: { before?: FaultAction; after?: LateFaultAction } = {};
    for (const [rule, count] of this.#rules) {
      if (!matches(rule, method, path)) continue;
      this.#rules.set(rule, count + 1);
      const { nth, times } = rule.match;
      if ((nth !== undefined && count + 1 !== nth) || (times !== undefined && count >= times)) continue;
      if (rule.before) found.before ??= rule.before;
      if (rule.after) found.after ??= rule.after;
    }
    return found;
  }
}

/**
 * Acts before the operation; resolves to a reply to send instead, to `'gone'` to send nothing, or
 * to undefined to continue. `proceed` asks for a body that waits for `100 Continue`.
 */
export async function disturb(
  action: FaultAction,
  request: IncomingMessage,
  closing: AbortSignal,
  proceed: () => void,
): Promise<Reply | 'gone' | undefined> {
  if ('afterBodyBytes' in action) proceed();
  switch (action.kind) {
    case 'delay':
      await wait(action.ms, undefined, { signal: closing });
      return undefined;
    case 'hold':
      await action.until;
      closing.throwIfAborted();
      return undefined;
    case 'reply':
      await receive(request, action.afterBodyBytes ?? 0);
      return { status: action.status, headers: action.headers ?? {}, body: Buffer.from(action.body ?? '') };
    case 'reset':
      await receive(request, action.afterBodyBytes ?? 0);
      request.socket.resetAndDestroy();
      return 'gone';
    case 'stall':
      await receive(request, action.afterBodyBytes ?? 0);
      return 'gone';
  }
}

/** Acts after the operation. Resolves to the reply to send, or to `'gone'` to send nothing more. */
export async function disturbReply(
  action: LateFaultAction,
  reply: Reply,
  request: IncomingMessage,
  response: ServerResponse,
  { closing, again }: { closing: AbortSignal; again: () => Promise<Reply> },
): Promise<Reply | 'gone'> {
  switch (action.kind) {
    case 'duplicate':
      return again();
    case 'truncate':
      response.writeHead(reply.status, { ...reply.headers, 'content-length': reply.body.length });
      // The connection must not close before the peer gets the bytes.
      response.write(reply.body.subarray(0, action.bytes), () => setImmediate(() => response.destroy()));
      return 'gone';
    case 'oversize':
      await sendPadded(response, reply, action.bytes);
      return 'gone';
    default:
      return (await disturb(action, request, closing, () => undefined)) ?? reply;
  }
}

export function sameRequest({ method, url, headers }: IncomingMessage, body: unknown): IncomingMessage {
  const again = Readable.from([Buffer.from(JSON.stringify(body))], { objectMode: false });
  return Object.assign(again, { method, url, headers, complete: true }) as unknown as IncomingMessage;
}

function matches({ match }: FaultRule, method: string, path: string): boolean {
  if (match.method !== undefined && match.method !== method) return false;
  if (match.path === undefined) return true;
  return typeof match.path === 'string' ? path.endsWith(match.path) : match.path.test(path);
}

async function receive(request: IncomingMessage, bytes: number): Promise<void> {
  if (bytes === 0) return;
  let received = 0;
  await new Promise<void>((resolve) => {
    request.on('data', (chunk: Buffer) => {
      received += chunk.length;
      if (received < bytes) return;
      request.pause();
      resolve();
    });
    request.once('close', resolve);
  });
}

async function sendPadded(response: ServerResponse, reply: Reply, bytes: number): Promise<void> {
  const padding = Buffer.alloc(65_536, ' ');
  response.writeHead(reply.status, {
    ...reply.headers,
    'content-length': Math.max(bytes, reply.body.length),
  });
  response.write(reply.body);
  let left = bytes - reply.body.length;
  while (left > 0 && !response.destroyed) {
    const flowing = response.write(padding.subarray(0, Math.min(left, padding.length)));
    left -= padding.length;
    if (!flowing) await drained(response);
  }
  response.end();
}

async function drained(response: ServerResponse): Promise<void> {
  const waited = new AbortController();
  const { signal } = waited;
  await Promise.race(['drain', 'close'].map((event) => once(response, event, { signal }))).finally(() =>
    waited.abort(),
  );
}
