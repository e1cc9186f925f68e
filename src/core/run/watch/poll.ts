import type { AssessmentClient } from '../../api/client.ts';
import type { Network } from '../../api/connection.ts';
import { isAbortError, knownError } from '../../errors.ts';
import type { Clock, Logger } from '../../ports.ts';
import type { DrivenRuns } from './schedule.ts';
import { type KeepSource, look } from './look.ts';
import { NetworkReturn } from './networkReturn.ts';
import { backoffMs, pollIntervalMs } from './pollSchedule.ts';
import { isFinal, isLive, type Run, toFailure, type Trouble, waitsForToken } from '../state/run.ts';
import type { RunStore } from '../disk/runStore.ts';
import { WakingTime } from '../finish/wakingTime.ts';

/** What asking about runs works with. */
export interface CheckDeps {
  readonly store: RunStore;
  /** A client for a run's own origin and organization. */
  readonly clientFor: (place: { baseUrl: string; organizationId: string }) => AssessmentClient;
  readonly clock: Clock;
  /** 0 to 1, for jitter. */
  readonly random: () => number;
  readonly log: Logger;
  /** Awaited once a run's artifacts are in its folder, before its archives go; a failure is logged and holds nothing up. */
  readonly keepSource?: KeepSource | undefined;
  /** What tells that the network is back; without it a run that could not be reached is asked about when its time comes. */
  readonly network?: Network | undefined;
}

/** What asking about runs needs of the window that drives them. */
export interface CheckWindow {
  readonly driven: DrivenRuns;
  readonly stopped: AbortSignal;
  /** Called with the state that a look has found. */
  readonly onAnswer: (run: Run) => Promise<unknown>;
}

/** Asks about the runs that this window drives: at their time, at once when wanted, and when the network or a token has come back. */
export class RunChecks {
  readonly #deps: CheckDeps;
  readonly #window: CheckWindow;
  readonly #networkReturn: NetworkReturn;
  readonly #waking: WakingTime;
  #looksForNetwork = false;

  constructor(deps: CheckDeps, window: CheckWindow) {
    this.#deps = deps;
    this.#window = window;
    this.#networkReturn = new NetworkReturn(deps.network);
    this.#waking = new WakingTime(deps.clock);
  }

  /** Looks at a run now, one look at a time; the service's own `Retry-After` still counts. Failures are noted on the run. */
  check(id: string): Promise<void> {
    return this.#window.driven.oneAtATime(id, () => this.#look(id));
  }

  /**
   * Looks at a run that waited for a token, now that there is another one. Each that is refused as well makes the next wait longer: a token
   * command may make one at every look, and what it makes is a change, too.
   */
  async checkWithNewToken(id: string): Promise<void> {
    const { driven } = this.#window;
    if (!driven.has(id)) return;
    // A look under way began with the old token.
    await driven.whenIdle(id);
    const times = driven.countToken(id);
    if (times === 1) await this.check(id);
    else if (driven.nextCheckAt(id) === undefined)
      driven.schedule(id, backoffMs(times, 0, this.#deps.random()));
  }

  /** Looks at a run that waited for a token, now that a person has changed where tokens come from: how often one was refused before does not count. */
  async checkWithNewSource(id: string): Promise<void> {
    const { driven } = this.#window;
    if (!driven.has(id)) return;
    // A look under way began with the old source.
    await driven.whenIdle(id);
    await this.check(id);
  }

  /** Looks at every run whose time has come, and after a jump of the clocks at all; none is waited for. */
  checkDue(jumped: boolean): void {
    for (const id of this.#window.driven.due(jumped))
      this.check(id).catch((error: unknown) => this.#deps.log.error(`Run ${id}: ${String(error)}`));
  }

  /** Looks at once at the runs that could not be reached and can be again; not waited for, since a dead network answers late. */
  checkReachable(): void {
    const { store, log } = this.#deps;
    if (this.#looksForNetwork) return;
    this.#looksForNetwork = true;
    const mine = this.#window.driven.ids().flatMap((id) => store.get(id) ?? []);
    this.#networkReturn
      .returned(mine)
      .then(async (runs) => {
        if (runs.length > 0) log.info('The network is back: asking about its runs');
        await Promise.all(runs.map(({ id }) => this.check(id)));
      })
      .catch((error: unknown) => log.error(`The network could not be looked at: ${String(error)}`))
      .finally(() => {
        this.#looksForNetwork = false;
      });
  }

  async #look(id: string): Promise<void> {
    const { store, clientFor } = this.#deps;
    const { driven, stopped, onAnswer } = this.#window;
    const run = store.get(id);
    if (run === undefined || !isLive(run)) {
      if (run === undefined || isFinal(run)) await driven.letGo(id);
      return;
    }
    if (!driven.mayAsk(id, run.trouble?.notBefore)) return;
    try {
      const next = await look(run, {
        ...this.#deps,
        client: clientFor(run),
        signal: stopped,
        isDriven: () => driven.has(id),
      });
      driven.clearFailures(id);
      this.#waking.step(id);
      if (isLive(next)) this.#planNext(next);
      await onAnswer(next);
    } catch (error) {
      if (!isAbortError(error)) await this.#noteTrouble(id, error);
    }
  }

  #planNext(run: Run & { readonly dispatchedAt: number }): void {
    const { clock, random } = this.#deps;
    const { driven } = this.#window;
    // The clock by which it was dispatched may have been wrong.
    const ageMs = Math.max(clock.now() - run.dispatchedAt, driven.drivenForMs(run.id));
    driven.schedule(run.id, pollIntervalMs(ageMs, random()));
  }

  async #noteTrouble(id: string, error: unknown): Promise<void> {
    const { store, clock, random, log } = this.#deps;
    const { driven } = this.#window;
    const known = knownError(error);
    const failure = toFailure(known);
    const retryAfterMs = known.data.retryAfterMs ?? 0;
    const times = driven.countFailure(id);
    const trouble = troubleOf(store.get(id));
    const isNew = trouble?.kind !== failure.kind || trouble.status !== failure.status;
    // Each distinct trouble is told once: the same one may come back for days.
    log[isNew ? 'warn' : 'debug'](`Run ${id}: asking failed (${String(times)}): ${known.message}`);
    // Planned before it is noted: a disk that takes no note must not make the next heartbeat ask again.
    driven.schedule(id, waitsForToken(failure) ? Infinity : backoffMs(times, retryAfterMs, random()));
    const wakingMs = this.#waking.step(id);
    const noted = await store.apply(id, {
      type: 'askFailed',
      failure,
      retryAfterMs,
      wakingMs,
      at: clock.now(),
    });
    driven.noteQuiet(id, troubleOf(noted)?.notBefore);
  }
}

function troubleOf(run: Run | undefined): Trouble | undefined {
  return run !== undefined && isLive(run) ? run.trouble : undefined;
}
