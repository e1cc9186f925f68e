import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Clock } from '../../src/core/ports.ts';
import type { Scope } from '../unit/run/tempFolder.ts';

interface Moment {
  readonly wall: number;
  readonly monotonic: number;
}

export interface Sent extends Moment {
  readonly method: string;
  readonly path: string;
  /** The `Retry-After` of the reply ends then. */
  quiet?: Moment & { readonly ms: number };
}

/** Records every request of this process with its virtual time; `onSent` is called after each. */
export function watchWire(
  scope: Scope,
  clock: Clock,
  onSent: (sent: readonly Sent[]) => void,
): readonly Sent[] {
  const sent: Sent[] = [];
  const noted = new WeakMap<ClientRequest, Sent>();
  const moment = (): Moment => ({ wall: clock.now(), monotonic: clock.monotonic() });
  const onRequest = (message: unknown): void => {
    const { request } = message as { request: ClientRequest };
    const path = request.path.replace(/\?.*$/u, '');
    const entry = { ...moment(), method: request.method, path };
    noted.set(request, entry);
    sent.push(entry);
    onSent(sent);
  };
  const onResponse = (message: unknown): void => {
    const { request, response } = message as { request: ClientRequest; response: IncomingMessage };
    const seconds = Number(response.headers['retry-after']);
    const entry = noted.get(request);
    if (entry !== undefined && seconds > 0) entry.quiet = { ...moment(), ms: seconds * 1000 };
  };
  subscribe('http.client.request.created', onRequest);
  subscribe('http.client.response.finish', onResponse);
  scope.after(() => {
    unsubscribe('http.client.request.created', onRequest);
    unsubscribe('http.client.response.finish', onResponse);
  });
  return sent;
}

/** Forgets all waits, since a new window has not received these replies. */
export function forgetWaits(sent: readonly Sent[]): void {
  for (const each of sent) delete each.quiet;
}

/**
 * Finds requests sent before the Retry-After of an earlier reply to the same path, by either clock.
 */
export function tooEarly(sent: readonly Sent[]): string[] {
  return sent.flatMap((later, index) =>
    sent.slice(0, index).flatMap(({ path, quiet }) => {
      if (quiet === undefined || path !== later.path) return [];
      const waited = Math.max(later.wall - quiet.wall, later.monotonic - quiet.monotonic);
      return waited < quiet.ms
        ? [`${path} was sent ${String(waited)} ms after a reply that asked for ${String(quiet.ms)}`]
        : [];
    }),
  );
}
