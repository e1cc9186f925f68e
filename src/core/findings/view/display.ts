import { isAtLeast, type Severity } from '../finding.ts';
import type { ShownFinding } from '../shownFinding.ts';
import { isSettled } from '../triage/triage.ts';

/** What the settings want to see of the findings. */
export interface Display {
  readonly minimumSeverity: Severity;
  /** Leaves out what a person has settled: false positives, accepted risks, fixed findings. */
  readonly hideTriaged: boolean;
}

/** True when the settings let a finding be seen, in Problems and in the Findings view. */
export function isDisplayed({ finding, triage }: ShownFinding, display: Display): boolean {
  return (
    isAtLeast(finding.severity, display.minimumSeverity) && !(display.hideTriaged && isSettled(triage.state))
  );
}
