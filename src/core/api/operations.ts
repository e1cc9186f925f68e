import type * as z from 'zod/mini';
import { AssessmentError, isAbortError } from '../errors.ts';
import type { Clock, Logger } from '../ports.ts';
import { originOf } from './address.ts';
import type { TokenSource } from './credentials.ts';
import { type IdleLimits, postJson, usualIdleLimits } from './http.ts';
import { type RetryPolicy, withRetry } from './retry.ts';
import { inBrief } from './serviceMessage.ts';

/** What a client needs: the place it talks to (a normalized base URL), whose token it sends, and its surroundings. */
export interface ClientOptions {
  readonly baseUrl: string;
  readonly organizationId: string;
  readonly token: TokenSource;
  readonly clock: Clock;
  readonly log: Logger;
  readonly random: () => number;
  /** How long an exchange may go without a byte; 30 s for a call and 2 min for a transfer when left out. */
  readonly idle?: IdleLimits;
}

/** For a single call. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called before each send of the call; what it throws keeps the call from being sent. */
  readonly beforeSend?: (() => Promise<void>) | undefined;
}

/** The authenticated operations of one organization (API reference, sections 4 and 5), without knowing any of them. */
export class Operations {
  readonly #options: ClientOptions;
  readonly #sent = new Set<string>();

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  /** The tokens sent so far, which must be in no message. */
  get secrets(): readonly string[] {
    return [...this.#sent];
  }

  /** One operation: checks the request, sends it as its policy allows, refreshes the token once on 401, checks the reply. */
  async call<Body, Reply>(
    operation: string,
    requestSchema: z.ZodMiniType<Body>,
    body: Body,
    replySchema: z.ZodMiniType<Reply>,
    policy: RetryPolicy,
    { signal, beforeSend }: CallOptions,
  ): Promise<Reply> {
    const { baseUrl, organizationId, idle, clock } = this.#options;
    const origin = originOf(baseUrl);
    const checked = requestSchema.safeParse(body);
    if (!checked.success) {
      const subject = checked.error.issues[0]?.path.join('.') ?? '';
      throw new AssessmentError('badSetting', { subject }, { cause: checked.error });
    }
    const url = new URL(`${baseUrl}/o/${encodeURIComponent(organizationId)}/${operation}`);
    const tornBy = policy.keepsSent === true ? undefined : signal;
    let token = await this.#token(signal);
    if (token === undefined) throw new AssessmentError('notSignedIn', { origin });
    const send = (): Promise<unknown> => {
      const current = token ?? '';
      this.#sent.add(current);
      return withRetry(
        policy,
        async () => {
          await beforeSend?.();
          signal?.throwIfAborted();
          const idleMs = (idle ?? usualIdleLimits).jsonMs;
          return this.logged('POST', operation, () =>
            postJson(url, checked.data, {
              token: current,
              secrets: this.secrets,
              signal: tornBy,
              idleMs,
              clock,
            }),
          );
        },
        { ...this.#options, signal },
      );
    };
    let reply: unknown;
    try {
      reply = await send();
    } catch (error) {
      if (!(error instanceof AssessmentError) || error.kind !== 'unauthorized') throw error;
      token = await this.#refresh(token, signal);
      if (token === undefined) throw error;
      reply = await send();
    }
    const parsed = replySchema.safeParse(reply);
    if (parsed.success) return parsed.data;
    const detail = inBrief(reply, this.secrets);
    throw new AssessmentError('badResponse', { status: 200, origin, subject: operation, detail });
  }

  async #token(signal: AbortSignal | undefined): Promise<string | undefined> {
    try {
      return await this.#options.token.get(signal);
    } catch (error) {
      if (error instanceof AssessmentError || isAbortError(error)) throw error;
      // A keyring that does not answer: nothing was sent, and a person has to act.
      throw new AssessmentError('notSignedIn', { origin: originOf(this.#options.baseUrl) }, { cause: error });
    }
  }

  /** Another token after a 401; undefined where none can be had, as from a keyring that does not answer. */
  async #refresh(rejected: string, signal: AbortSignal | undefined): Promise<string | undefined> {
    try {
      return await this.#options.token.refresh(rejected, signal);
    } catch (error) {
      if (error instanceof AssessmentError || isAbortError(error)) throw error;
      this.#options.log.warn(`No other token could be had: ${String(error)}`);
      return undefined;
    }
  }

  /** Runs one request and logs its method, its place, its outcome and its time. */
  async logged<T>(method: string, what: string, act: () => Promise<T>): Promise<T> {
    const { clock, log } = this.#options;
    const start = clock.monotonic();
    const took = (): string => `${String(Math.round(clock.monotonic() - start))} ms`;
    try {
      const result = await act();
      log.debug(`${method} ${what}: ok, ${took()}`);
      return result;
    } catch (error) {
      const outcome =
        error instanceof AssessmentError ? `${error.message} ${String(error.data.status ?? '')}` : 'stopped';
      log.debug(`${method} ${what}: ${outcome}, ${took()}`);
      throw error;
    }
  }
}
