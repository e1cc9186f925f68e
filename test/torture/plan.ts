import fc from 'fast-check';
import type { FaultRule } from '../service/faults.ts';
import type { RunOutcome } from '../service/runs/run.ts';
import { valueOf } from './seededValues.ts';

/** A kind that occurs twice is drawn twice as often. */
const actKinds = [
  ...(['openWindow', 'openWindow', 'closeOwner', 'closeOwner', 'stopStart', 'cancel', 'cancel'] as const),
  ...(['checkNow', 'expireToken', 'sleep', 'clockForward', 'clockBack'] as const),
];

export interface Act {
  readonly afterRequests: number;
  readonly kind: (typeof actKinds)[number];
}

/** A plan is the life of one run with all its faults. */
export interface Plan {
  readonly seed: number;
  readonly faults: readonly FaultRule[];
  readonly acts: readonly Act[];
  /** The service ends the run after so many polls. */
  readonly describesBeforeExit: number;
  readonly outcome: RunOutcome;
  readonly deleteSource: boolean;
  /** If this is true, a rejected token is replaced automatically. */
  readonly hasTokenCommand: boolean;
  /** The faults last so many virtual milliseconds after the start. */
  readonly troubledMs: number;
  /** If this is true, the user polls manually after the faults; otherwise the user waits. */
  readonly checksByHand: boolean;
  /** The user decides this about a lost dispatch. */
  readonly onUnknown: 'giveRunId' | 'resend' | 'resendAndLose' | 'resendRefused' | 'abandon' | 'leave';
}

const locations: readonly FaultRule['match'][] = [
  { path: '/get-upload-url' },
  { method: 'PUT' },
  { path: '/confirm-upload' },
  { path: '/dispatch' },
  { path: '/dispatch' },
  { path: '/describe' },
  { path: '/describe' },
  { path: '/cancel' },
  { path: '/get-artifact-download-url' },
  { method: 'GET' },
  { path: '/delete' },
  { path: '/cancel-upload' },
  {},
];
const page = '<!doctype html><html><head><title>Please sign in</title></head><body>A portal</body></html>';

/** No plan has a longer Retry-After. */
export const longestRetryAfterMs = 600_000;

const oneIn = (times: number): fc.Arbitrary<boolean> => fc.nat({ max: times - 1 }).map((side) => side === 0);
const between = (min: number, max: number): fc.Arbitrary<number> => fc.integer({ min, max });
const severalOf = <T>(each: fc.Arbitrary<T>, ...counts: readonly number[]): fc.Arbitrary<T[]> =>
  fc.constantFrom(...counts).chain((count) => fc.array(each, { minLength: count, maxLength: count }));

const retryAfter = fc
  .constantFrom('0', '1', '7', '45', '130', `${longestRetryAfterMs / 1000}`, 'soon', '-5', new Date(0).toUTCString())
  .map((value) => ({ 'retry-after': value })); // prettier-ignore

const reset = fc.constant({ kind: 'reset' } as const);
const reply = <S extends number>(statuses: readonly S[], bodies: readonly string[]) =>
  fc.record({
    kind: fc.constant('reply' as const),
    status: fc.constantFrom(...statuses),
    body: fc.constantFrom(...bodies),
  });

/** These faults replace the operation. */
const instead: fc.Arbitrary<NonNullable<FaultRule['before']>> = fc.oneof(
  { weight: 30, arbitrary: reset },
  { weight: 3, arbitrary: fc.constant({ kind: 'stall' } as const) },
  { weight: 7, arbitrary: fc.record({ kind: fc.constant('delay' as const), ms: between(1, 20) }) },
  { weight: 14, arbitrary: fc.record({ kind: fc.constant('reply' as const), status: fc.constantFrom(429, 503), headers: retryAfter }) },
  { weight: 10, arbitrary: reply([200, 502], [page]) },
  { weight: 36, arbitrary: reply([301, 307, 400, 401, 403, 404, 407, 408, 409, 413, 422, 429, 500, 502, 504], ['', page, '{"error":{"code":"no"}}']) },
); // prettier-ignore

/** These faults disturb the reply after the operation. */
const late: fc.Arbitrary<NonNullable<FaultRule['after']>> = fc.oneof(
  { weight: 40, arbitrary: reset },
  { weight: 10, arbitrary: fc.record({ kind: fc.constant('truncate' as const), bytes: between(0, 40) }) },
  { weight: 9, arbitrary: fc.constant({ kind: 'oversize', bytes: 70_000 } as const) },
  { weight: 1, arbitrary: fc.constant({ kind: 'oversize', bytes: 5_000_000 } as const) },
  { weight: 10, arbitrary: fc.constant({ kind: 'duplicate' } as const) },
  { weight: 10, arbitrary: reply([200], ['', '\uFEFF{}', '[]', 'null', page]) },
  { weight: 20, arbitrary: reply([500, 502, 503], ['', page]) },
);

const often = fc.oneof(fc.record({ nth: between(1, 3) }), fc.record({ times: between(1, 6) }), fc.constant({})); // prettier-ignore

const fault: fc.Arbitrary<FaultRule> = fc
  .record({ location: fc.constantFrom(...locations), often, isLate: oneIn(2), instead, late })
  .map(({ location, often: times, isLate, instead: before, late: after }) => {
    const match = { ...location, ...times };
    if (!isLate) return { match, before };
    // No client can prevent a service from performing one dispatch twice.
    const mayBeDispatch = location.path === undefined || location.path === '/dispatch';
    return { match, after: mayBeDispatch && after.kind === 'duplicate' ? { kind: 'reset' } : after };
  });

const act: fc.Arbitrary<Act> = fc.record({
  kind: fc.constantFrom(...actKinds),
  afterRequests: between(1, 12),
});

const plan: fc.Arbitrary<Omit<Plan, 'seed'>> = fc.record({
  faults: severalOf(fault, 0, 1, 1, 2, 2, 3, 4),
  acts: severalOf(act, 0, 0, 1, 1, 2, 3),
  describesBeforeExit: between(0, 5),
  outcome: fc.constantFrom<RunOutcome[]>(
    { kind: 'aborted', code: 'too_hot', detail: [1, null] },
    { kind: 'bare' },
    ...Array<RunOutcome>(4).fill({ kind: 'success' }),
  ),
  deleteSource: oneIn(5).map((isKept) => !isKept),
  hasTokenCommand: oneIn(2),
  troubledMs: fc.oneof(
    { weight: 1, arbitrary: fc.constant(3_600_000) },
    { weight: 199, arbitrary: between(0, 40).map((seconds) => seconds * 1_000) },
  ),
  checksByHand: oneIn(10).map((waits) => !waits),
  onUnknown: fc.constantFrom('giveRunId', 'resend', 'resendAndLose', 'resendRefused', 'abandon', 'leave'),
});

export function planOf(seed: number): Plan {
  return { seed, ...valueOf(plan, seed) };
}
