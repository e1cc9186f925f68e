import { AssessmentError, isAbortError } from '../errors.ts';
import { type Clock, type Disposable, Emitter, type Event, type Logger, type SecretStore } from '../ports.ts';
import { answerOf } from '../yieldingWork.ts';
import { excerptOf } from './replyBody.ts';

export interface HostSecrets extends SecretStore {
  keys(): PromiseLike<readonly string[]>;
  readonly onDidChange: Event<{ readonly key: string }>;
}

/**
 * Limits the time of each call, because a keyring may be locked or broken, or wait for a user.
 * Errors other than an abort become `secretStorage`, with the action as `subject`.
 */
export class BoundedSecrets implements HostSecrets, Disposable {
  readonly #secrets: HostSecrets;
  readonly #deps: { readonly clock: Clock; readonly log: Logger };
  readonly #changed: Emitter<{ readonly key: string }>;
  readonly #subscription: Disposable;
  /**
   * Reads whose value no caller has received yet. The next read of the key accepts that value, too.
   */
  readonly #pending = new Map<string, Promise<string | undefined>>();
  #isFailing = false;
  /** Fires when a secret changes, or when a read returns after it timed out or was aborted. */
  readonly onDidChange: Event<{ readonly key: string }>;

  constructor(secrets: HostSecrets, deps: { clock: Clock; log: Logger }) {
    this.#secrets = secrets;
    this.#deps = deps;
    this.#changed = new Emitter(deps.log);
    this.onDidChange = this.#changed.event;
    this.#subscription = secrets.onDidChange((change) => {
      this.#pending.delete(change.key);
      this.#changed.fire(change);
    });
  }

  async get(key: string, signal?: AbortSignal): Promise<string | undefined> {
    const asked = Promise.race([
      this.#secrets.get(key),
      ...(this.#pending.has(key) ? [this.#pending.get(key)] : []),
    ]);
    this.#pending.set(key, asked);
    const forget = (): void => {
      if (this.#pending.get(key) === asked) this.#pending.delete(key);
    };
    try {
      const value = await this.#inTime('read', asked, { signal });
      forget();
      return value;
    } catch (error) {
      asked.then(() => {
        if (this.#pending.get(key) === asked) this.#changed.fire({ key });
      }, forget);
      throw error;
    }
  }

  keys(): Promise<readonly string[]> {
    return this.#inTime('read', this.#secrets.keys());
  }

  async store(key: string, value: string): Promise<void> {
    this.#pending.delete(key);
    await this.#inTime('save', this.#secrets.store(key, value), { written: [value] });
  }

  async delete(key: string): Promise<void> {
    this.#pending.delete(key);
    await this.#inTime('delete', this.#secrets.delete(key));
  }

  dispose(): void {
    this.#subscription.dispose();
  }

  async #inTime<T>(
    subject: 'read' | 'save' | 'delete',
    work: PromiseLike<T>,
    { signal, written = [] }: { signal?: AbortSignal | undefined; written?: readonly string[] } = {},
  ): Promise<T> {
    const { clock, log } = this.#deps;
    try {
      const answer = await answerOf(work, 'secret storage', { clock, signal });
      this.#isFailing = false;
      return answer;
    } catch (cause) {
      if (isAbortError(cause)) throw cause;
      const detail = cause instanceof AssessmentError ? undefined : excerptOf(String(cause), written);
      // Secret storage may fail for days, so only the first of successive failures is a warning.
      log[this.#isFailing ? 'debug' : 'warn'](`Secret storage, ${subject}: ${detail ?? 'no answer'}`);
      this.#isFailing = true;
      throw new AssessmentError('secretStorage', { subject, detail }, { cause });
    }
  }
}
