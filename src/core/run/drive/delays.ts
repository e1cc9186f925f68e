import type { AssessmentError } from '../../errors.ts';
import type { Clock } from '../../ports.ts';
import {
  backoff,
  emptyExitDelay,
  pause,
  pollInterval,
  retryAfterMs,
  takeOverDelay,
  tokenGap,
} from '../state/delays.ts';
import type { RunEvent } from '../state/event.ts';
import type { Next } from '../state/next.ts';
import { isLive, type Run } from '../state/run.ts';
import { mayNeedOtherToken, waitsForToken } from '../state/trouble.ts';

/** Who ends a delay: a person who asks, clocks that jumped, a window that got the focus, another token. */
export type Waker = 'person' | 'clock' | 'focus' | 'token';

/** But for a person, so long after a poll none comes out of turn. */
const minGapMs = 60_000;

type Step = Next['step'];

/** How long a drive waits before each step: memory of this window, by its monotonic clock. The journal has facts only. */
export class Delays {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #began: number;
  readonly #dueAt = new Map<Step, number>();
  /** In a row. */
  readonly #failures = new Map<Step, number>();
  /** The latest poll or download, by both clocks: the machine may have slept. */
  #checked: { readonly wall: number; readonly monotonic: number } | undefined;
  /** From when on a poll out of turn is wanted. */
  #wantedAt = Infinity;
  /** It never shrinks: a clock that is set back makes no storm. */
  #intervalMs = 0;
  #emptyExits = 0;
  /** How often the token has changed since the last good answer. */
  #tokens = 0;
  /** Until when the service asked to wait: a wrong wall clock cannot extend it. */
  #quiet = { retryAt: 0, until: -Infinity };

  constructor(run: Run | undefined, clock: Clock, random: () => number) {
    this.#clock = clock;
    this.#random = random;
    this.#began = clock.monotonic();
    if (run !== undefined) this.#dueAt.set('poll', this.#began + takeOverDelay(run, clock.now()));
  }

  isOver({ step, run }: Next): boolean {
    const now = this.#clock.monotonic();
    if (isOfService(step) && this.#isQuiet(run)) return false;
    return now >= Math.min(this.#dueAt.get(step) ?? -Infinity, isCheck(step) ? this.#wantedAt : Infinity);
  }

  /** When the next poll is due (wall clock, ms); undefined while it waits for a token. */
  nextCheckAt(run: Run): number | undefined {
    const dueAt = this.#dueAt.get(run.state === 'collecting' ? 'download' : 'poll');
    if (dueAt === undefined || dueAt === Infinity) return undefined;
    const leftMs = Math.max(dueAt - this.#clock.monotonic(), retryAfterMs(run, this.#clock.now()));
    return Math.round(this.#clock.now() + leftMs);
  }

  /** Ends a backoff; for a person and a jump of the clocks, a regular interval, too. */
  wake(waker: Waker, run: Run): void {
    const failure = isLive(run) ? run.trouble : undefined;
    if (waker === 'token') {
      if (!isLive(run)) this.#removeWithToken();
      if (failure === undefined || !mayNeedOtherToken(failure)) return;
      // One more change before the next poll does not delay it.
      if (this.#wantedAt !== Infinity) return;
      this.#tokens += 1;
    }
    if (waker === 'person') this.#dueAt.delete('removeUploads');
    if (waker === 'focus' && (failure === undefined || waitsForToken(failure))) return;
    if (waker === 'clock' && failure !== undefined && waitsForToken(failure)) return;
    const now = this.#clock.monotonic();
    const leftMs = this.#gapMs(waker) - this.#sinceCheckMs();
    // Another token waits its turn; the others come again.
    if (leftMs <= 0 || waker === 'token')
      this.#wantedAt = Math.min(this.#wantedAt, now + Math.max(0, leftMs));
  }

  #removeWithToken(): void {
    const dueAt = this.#dueAt.get('removeUploads');
    if (dueAt === undefined) return;
    this.#tokens += 1;
    this.#dueAt.set('removeUploads', Math.min(dueAt, this.#clock.monotonic() + tokenGap(this.#tokens)));
  }

  /** After a step that did what it was for, whether or not the disk takes its event. */
  succeeded(step: Step, event: RunEvent | undefined, run: Run): void {
    this.#failures.delete(step);
    this.#dueAt.delete(step);
    if (isOfService(step)) this.#tokens = 0;
    if (!isCheck(step)) return;
    this.#noteCheck();
    if (event?.type !== 'answered' || event.exit !== undefined || !('dispatchedAt' in run)) return;
    this.#emptyExits = event.status === 'EXITED' ? this.#emptyExits + 1 : 0;
    const now = this.#clock.monotonic();
    // The clock at the dispatch may have been ahead.
    const ageMs = Math.max(this.#clock.now() - (run.dispatchedAt ?? 0), now - this.#began);
    this.#intervalMs = Math.max(this.#intervalMs, pollInterval(ageMs, this.#random()));
    this.#dueAt.set(step, now + (this.#emptyExits > 0 ? emptyExitDelay(this.#emptyExits) : this.#intervalMs));
  }

  /** After a failure of the service or of the way to it. */
  failed(step: Step, { kind, data }: AssessmentError): void {
    const waitMs = data.retryAfterMs ?? 0;
    if (isCheck(step)) this.#noteCheck();
    if (waitMs > 0) this.#hush(this.#clock.now() + waitMs);
    this.#fail(step, (failures) =>
      isCheck(step) && waitsForToken({ kind }) ? Infinity : waitMs + backoff(failures, this.#random()),
    );
  }

  /** After a local failure, such as a write on a full disk. Returns how many there were in a row. */
  paused(step: Step): number {
    return this.#fail(step, pause);
  }

  #fail(step: Step, delayMs: (failures: number) => number): number {
    const now = this.#clock.monotonic();
    const dueAt = this.#dueAt.get(step) ?? -Infinity;
    const failures = (this.#failures.get(step) ?? 0) + 1;
    const ms = delayMs(failures);
    // One that came out of turn moves nothing.
    if (dueAt > now && dueAt !== Infinity && ms !== Infinity) return failures;
    this.#failures.set(step, failures);
    this.#dueAt.set(step, now + ms);
    return failures;
  }

  #noteCheck(): void {
    this.#wantedAt = Infinity;
    this.#checked = { wall: this.#clock.now(), monotonic: this.#clock.monotonic() };
  }

  #sinceCheckMs(): number {
    const { wall = -Infinity, monotonic = -Infinity } = this.#checked ?? {};
    return Math.max(this.#clock.now() - wall, this.#clock.monotonic() - monotonic);
  }

  #gapMs(waker: Waker): number {
    if (waker === 'person') return 0;
    return waker === 'token' ? tokenGap(this.#tokens) : minGapMs;
  }

  #isQuiet(run: Run): boolean {
    if (run.retryAt !== undefined && run.retryAt !== this.#quiet.retryAt) this.#hush(run.retryAt);
    const { retryAt, until } = this.#quiet;
    return this.#clock.monotonic() < until && this.#clock.now() < retryAt;
  }

  #hush(retryAt: number): void {
    const leftMs = retryAfterMs({ retryAt }, this.#clock.now());
    this.#quiet = { retryAt, until: this.#clock.monotonic() + leftMs };
  }
}

function isCheck(step: Step): boolean {
  return step === 'poll' || step === 'download';
}

function isOfService(step: Step): boolean {
  return isCheck(step) || step === 'removeUploads';
}
