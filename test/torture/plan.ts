import type { FaultRule } from '../service/faults.ts';
import type { RunOutcome } from '../service/run.ts';
import { type Dice, diceOf } from './dice.ts';

/** What happens in and around the windows once so many requests have been sent. */
export interface Act {
  readonly afterRequests: number;
  readonly kind:
    | 'openWindow'
    | 'closeOwner'
    | 'stopStart'
    | 'cancel'
    | 'checkNow'
    | 'expireToken'
    | 'sleep'
    | 'clockForward'
    | 'clockBack';
}

/** One run's life, from beginning to end, with all that goes wrong in it. */
export interface Plan {
  readonly seed: number;
  readonly faults: readonly FaultRule[];
  readonly acts: readonly Act[];
  /** The service ends the run once it was described so often. */
  readonly describesBeforeExit: number;
  readonly outcome: RunOutcome;
  readonly deleteSource: boolean;
  /** Whether a refused token is replaced by itself. */
  readonly hasTokenCommand: boolean;
  /** How long the faults last after the start has had its outcome, in virtual milliseconds. */
  readonly troubledMs: number;
  /** Whether the person asks for the run's status once all is well again, or waits. */
  readonly checksByHand: boolean;
  /** What the person does about a run whose dispatch was lost. */
  readonly onUnknown: 'giveRunId' | 'resend' | 'resendAndLose' | 'resendRefused' | 'abandon' | 'leave';
}

const places: readonly FaultRule['match'][] = [
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

/** The plan of a seed. */
export function planOf(seed: number): Plan {
  const dice = diceOf(seed);
  const count = dice.pick([0, 1, 1, 2, 2, 3, 4]);
  return {
    seed,
    faults: Array.from({ length: count }, () => faultOf(dice)),
    acts: Array.from({ length: dice.pick([0, 0, 1, 1, 2, 3]) }, () => actOf(dice)),
    describesBeforeExit: dice.between(0, 5),
    outcome: outcomeOf(dice),
    deleteSource: dice.falls(0.8),
    hasTokenCommand: dice.falls(0.5),
    troubledMs: dice.falls(0.005) ? 3_600_000 : dice.between(0, 40) * 1_000,
    checksByHand: dice.falls(0.9),
    onUnknown: dice.pick(['giveRunId', 'resend', 'resendAndLose', 'resendRefused', 'abandon', 'leave']),
  };
}

function faultOf(dice: Dice): FaultRule {
  const place = dice.pick(places);
  const often = dice.pick([{ nth: dice.between(1, 3) }, { times: dice.between(1, 6) }, {}]);
  const match = { ...place, ...often };
  if (dice.falls(0.5)) return { match, before: instead(dice) };
  // A service that takes a dispatch and says that it refused it breaks its word; nothing can be held against that.
  return { match, after: lateFault(dice, place.path === undefined || place.path === '/dispatch') };
}

function instead(dice: Dice): NonNullable<FaultRule['before']> {
  switch (dice.between(0, 9)) {
    case 0:
    case 1:
    case 2:
      return { kind: 'reset' };
    case 3:
      return dice.falls(0.3) ? { kind: 'stall' } : { kind: 'delay', ms: dice.between(1, 20) };
    case 4:
      return { kind: 'reply', status: 429, headers: { 'retry-after': retryAfterOf(dice) } };
    case 5:
      return { kind: 'reply', status: dice.pick([200, 502]), body: page };
    default: {
      const status = dice.pick([301, 307, 400, 401, 403, 404, 409, 413, 422, 500, 502, 503, 504]);
      const headers = status === 503 ? { 'retry-after': retryAfterOf(dice) } : {};
      return { kind: 'reply', status, headers, body: dice.pick(['', page, '{"error":{"code":"no"}}']) };
    }
  }
}

function lateFault(dice: Dice, mayBeDispatch: boolean): NonNullable<FaultRule['after']> {
  switch (dice.between(0, 9)) {
    case 0:
    case 1:
    case 2:
    case 3:
      return { kind: 'reset' };
    case 4:
      return { kind: 'truncate', bytes: dice.between(0, 40) };
    case 5:
      return { kind: 'oversize', bytes: dice.falls(0.1) ? 5_000_000 : 70_000 };
    case 6:
      return mayBeDispatch ? { kind: 'reset' } : { kind: 'duplicate' };
    case 7:
      return { kind: 'reply', status: 200, body: dice.pick(['', '\uFEFF{}', '[]', 'null', page]) };
    default:
      return { kind: 'reply', status: dice.pick([500, 502, 503]), body: dice.pick(['', page]) };
  }
}

/** No plan has the service ask for a longer wait. */
export const longestRetryAfterMs = 600_000;

function retryAfterOf(dice: Dice): string {
  return dice.pick([
    '0',
    '1',
    '7',
    '45',
    '130',
    String(longestRetryAfterMs / 1000),
    'soon',
    '-5',
    new Date(0).toUTCString(),
  ]);
}

function actOf(dice: Dice): Act {
  const kind = dice.pick([
    'openWindow',
    'openWindow',
    'closeOwner',
    'closeOwner',
    'stopStart',
    'cancel',
    'cancel',
    'checkNow',
    'expireToken',
    'sleep',
    'clockForward',
    'clockBack',
  ] as const);
  return { kind, afterRequests: dice.between(1, 12) };
}

function outcomeOf(dice: Dice): RunOutcome {
  switch (dice.between(0, 5)) {
    case 0:
      return { kind: 'aborted', code: 'too_hot', detail: [1, null] };
    case 1:
      return { kind: 'bare' };
    default:
      return { kind: 'success' };
  }
}
