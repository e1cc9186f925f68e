import { type Display, isDisplayed } from './display.ts';
import type { ShownFinding } from '../shownFinding.ts';

/** The Problems panel shows no more than so many problems of one file, the worst first. */
const maxPerFile = 1_000;

/** The findings that have a problem of their own, by the file of their main place: those with a place whose code is still there. */
export function problemsByFile(shown: Iterable<ShownFinding>): Map<string, ShownFinding[]> {
  const byFile = new Map<string, ShownFinding[]>();
  for (const each of shown) {
    const [place] = each.places;
    if (place === undefined || place.drift === 'gone') continue;
    const others = byFile.get(place.file);
    if (others === undefined) byFile.set(place.file, [each]);
    else others.push(each);
  }
  return byFile;
}

/** How many of these findings the Problems panel does not show: kept back by settings, without a place, with code that is gone, or too many in one file. */
export function hiddenFromProblems(shown: readonly ShownFinding[], display: Display): number {
  const displayed = shown.filter((each) => isDisplayed(each, display));
  let visible = 0;
  for (const { length } of problemsByFile(displayed).values()) visible += Math.min(length, maxPerFile);
  return shown.length - visible;
}

/** True when two findings make the same problem. */
function isSameProblem(one: ShownFinding, other: ShownFinding | undefined): boolean {
  if (one === other) return true;
  if (one.run.id !== other?.run.id || one.finding !== other.finding) return false;
  return (
    one.places.length === other.places.length &&
    one.places.every((place, at) => {
      const counterpart = other.places[at];
      return (
        place.file === counterpart?.file &&
        place.startLine === counterpart.startLine &&
        place.endLine === counterpart.endLine &&
        place.startColumn === counterpart.startColumn &&
        place.endColumn === counterpart.endColumn &&
        place.drift === counterpart.drift
      );
    })
  );
}

/** True when two files' findings make the same problems in the same order. */
export function areSameProblems(one: readonly ShownFinding[], other: readonly ShownFinding[]): boolean {
  return one.length === other.length && one.every((each, at) => isSameProblem(each, other[at]));
}
