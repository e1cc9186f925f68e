import { type Display, isDisplayed } from './display.ts';
import { isAtLeast } from '../finding.ts';
import type { ShownFinding } from '../shownFinding.ts';

/** Findings in the order they came, after the settings and after a person's filter, and how many each setting keeps back. */
export interface Sifted {
  /** What the settings let through. */
  readonly displayed: readonly ShownFinding[];
  /** Of these, what the filter lets through. */
  readonly passing: readonly ShownFinding[];
  /** How many the minimum severity keeps back. */
  readonly mild: number;
  /** How many more are kept back because a person has settled them. */
  readonly settled: number;
}

/** Applies the settings, then the filter. */
export function sift(
  all: readonly ShownFinding[],
  display: Display,
  passes: (shown: ShownFinding) => boolean,
): Sifted {
  const displayed = all.filter((shown) => isDisplayed(shown, display));
  const mild = all.filter(({ finding }) => !isAtLeast(finding.severity, display.minimumSeverity)).length;
  return {
    displayed,
    passing: displayed.filter(passes),
    mild,
    settled: all.length - displayed.length - mild,
  };
}
