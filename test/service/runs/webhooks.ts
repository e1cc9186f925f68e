import { Refusal } from '../replies.ts';

/** The event of section 6. */
export interface ExitedEvent {
  readonly type: 'api.workflow_run.exited';
  readonly timestamp: string;
  readonly data: { readonly workflow_id: string; readonly workflow_run_id: string };
}

/** One attempt to deliver an event; the reference tells of no retries. */
export interface Delivery {
  readonly endpointId: string;
  readonly event: ExitedEvent;
  readonly outcome: { status: number } | { error: string };
}

const DELIVERY_TIMEOUT_MS = 5_000;

/** Whether a URL leads to this machine: the service speaks to no other. */
export function isLoopback(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname } = new URL(url);
  return /^https?:$/.test(protocol) && ['127.0.0.1', '[::1]', 'localhost'].includes(hostname);
}

/** Tells the registered endpoints of a run's end (section 6). Only loopback endpoints can be registered. */
export class Webhooks {
  readonly deliveries: Delivery[] = [];
  readonly #endpoints: Readonly<Record<string, string>>;
  readonly #pending = new Set<Promise<void>>();

  constructor(endpoints: Readonly<Record<string, string>>) {
    for (const url of Object.values(endpoints)) {
      if (!isLoopback(url)) throw new Error(`not a loopback webhook endpoint: ${url}`);
    }
    this.#endpoints = endpoints;
  }

  /** Refuses a dispatch that names an endpoint nobody has registered. */
  requireKnown(endpointIds: readonly string[]): void {
    const unknown = endpointIds.find((id) => !Object.hasOwn(this.#endpoints, id));
    if (unknown !== undefined)
      throw new Refusal('unknown_webhook_endpoint', `No webhook endpoint ${unknown}.`);
  }

  /** Starts delivery; `idle` waits for it. */
  notify(endpointIds: readonly string[], event: ExitedEvent): void {
    for (const endpointId of new Set(endpointIds)) {
      const delivery = this.#deliver(endpointId, event).finally(() => this.#pending.delete(delivery));
      this.#pending.add(delivery);
    }
  }

  /** Resolves when no delivery is under way. */
  async idle(): Promise<void> {
    await Promise.all(this.#pending);
  }

  async #deliver(endpointId: string, event: ExitedEvent): Promise<void> {
    try {
      // Most services have no endpoints, and pass without it.
      const { request } = await import('undici');
      const { statusCode, body } = await request(this.#endpoints[endpointId] ?? '', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(event),
        signal: AbortSignal.timeout(DELIVERY_TIMEOUT_MS),
      });
      await body.dump();
      this.deliveries.push({ endpointId, event, outcome: { status: statusCode } });
    } catch (error) {
      this.deliveries.push({ endpointId, event, outcome: { error: String(error) } });
    }
  }
}
