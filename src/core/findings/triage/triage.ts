/** What a person can decide about a finding. */
export const TRIAGE_STATES = ['open', 'confirmed', 'falsePositive', 'acceptedRisk', 'fixed'] as const;

/** The name of such a decision. */
export type TriageState = (typeof TRIAGE_STATES)[number];

/** A decision about a finding, with its reason. */
export interface TriageDecision {
  readonly state: TriageState;
  /** Why, in the person's words; empty when they gave no reason. */
  readonly note: string;
  /** When, in wall-clock milliseconds. */
  readonly at: number;
}

/** The decision of a finding that nobody has decided about. */
export const undecided: TriageDecision = { state: 'open', note: '', at: 0 };

/** True where nobody has decided anything. */
export function isUndecided({ state, note }: TriageDecision): boolean {
  return state === 'open' && note === '';
}

/** True for a finding that nobody needs to look at any more. */
export function isSettled(state: TriageState): boolean {
  return state === 'falsePositive' || state === 'acceptedRisk' || state === 'fixed';
}

/** True for a decision that has to be explained. */
export function needsNote(state: TriageState): boolean {
  return state === 'falsePositive' || state === 'acceptedRisk';
}
