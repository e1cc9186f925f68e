import type { AssessmentError } from '../../errors.ts';
import { backoffMs } from '../watch/pollSchedule.ts';
import { hasRemains, releaseUploads } from './removeUploads.ts';
import { type Run, waitsForToken } from '../state/run.ts';
import type { CheckDeps } from '../watch/poll.ts';

/** What tidying up works with. */
export interface TidyingDeps extends Pick<CheckDeps, 'store' | 'clientFor' | 'clock' | 'random' | 'log'> {
  /** Whether confirmed files are deleted from the service once nothing needs them any more. */
  readonly deleteSourceAfterRun: () => boolean;
}

/** A run whose files could not be taken off the service here. */
interface Untidied {
  /** How often in a row. */
  readonly times: number;
  /** When to try again, by the clock that only grows; Infinity while that waits for another token. */
  readonly notBefore: number;
  /** Tokens that have changed since one was refused first. */
  readonly tokens: number;
}

/** Takes files of ended runs off the service. What fails is due again after a growing wait, and after a refused token not before that has changed. */
export class Tidying {
  readonly #deps: TidyingDeps;
  readonly #untidied = new Map<string, Untidied>();

  constructor(deps: TidyingDeps) {
    this.#deps = deps;
  }

  /** True for an ended run that may still have files on the service, once it is time to try that again. */
  isDue(run: Run): boolean {
    const { clock, deleteSourceAfterRun } = this.#deps;
    return this.#isTime(run.id) && hasRemains(run, deleteSourceAfterRun(), clock.now());
  }

  /** True for an ended run that may still have files on the service, to be tried again when it is time to, without anybody's doing. */
  isWaiting(run: Run): boolean {
    const { clock, deleteSourceAfterRun } = this.#deps;
    const waitsForToken = this.#untidied.get(run.id)?.notBefore === Infinity;
    return !waitsForToken && hasRemains(run, deleteSourceAfterRun(), clock.now());
  }

  /** Takes what is left of a run's files off the service, when it is time to; a failure is logged. */
  async tidy(run: Run): Promise<void> {
    if (!this.#isTime(run.id)) return;
    const { clientFor, deleteSourceAfterRun, log } = this.#deps;
    try {
      const client = clientFor(run);
      const failure = await releaseUploads(run, deleteSourceAfterRun(), { ...this.#deps, client });
      if (failure === undefined) this.#untidied.delete(run.id);
      else this.#note(run.id, failure);
    } catch (error) {
      log.warn(`Run ${run.id}: not everything could be tidied up: ${String(error)}`);
      this.#note(run.id);
    }
  }

  /**
   * Makes what waits for another token due: at once after the first change, and ever later after each that was refused as well, since a token
   * command may make one at every try, and what it makes is a change, too.
   */
  tokenChanged(isTokenOf: (run: Run) => boolean): void {
    const { store, clock, random } = this.#deps;
    for (const [id, untidied] of this.#untidied) {
      const run = store.get(id);
      if (run === undefined || untidied.notBefore !== Infinity || !isTokenOf(run)) continue;
      const tokens = untidied.tokens + 1;
      const waitMs = tokens === 1 ? 0 : backoffMs(tokens, 0, random());
      this.#untidied.set(id, { ...untidied, tokens, notBefore: clock.monotonic() + waitMs });
    }
  }

  /** Makes what waits for another token due at once: a person has changed where tokens come from. */
  tokenSourceChanged(): void {
    for (const [id, { notBefore }] of this.#untidied) if (notBefore === Infinity) this.#untidied.delete(id);
  }

  #isTime(id: string): boolean {
    const { notBefore = -Infinity } = this.#untidied.get(id) ?? {};
    return this.#deps.clock.monotonic() >= notBefore;
  }

  #note(id: string, failure?: AssessmentError): void {
    const { clock, random } = this.#deps;
    const { times: before, tokens } = this.#untidied.get(id) ?? { times: 0, tokens: 0 };
    const times = before + 1;
    const waitMs =
      failure !== undefined && waitsForToken(failure)
        ? Infinity
        : backoffMs(times, failure?.data.retryAfterMs ?? 0, random());
    this.#untidied.set(id, { times, tokens, notBefore: clock.monotonic() + waitMs });
  }
}
