import { type Display, isDisplayed } from './display.ts';
import type { ShownFinding } from '../shownFinding.ts';

/** The Problems panel shows no more than so many problems of one file, the worst first. */
const maxPerFile = 1_000;

/** Findings by the absolute path of the file that has their main place. */
export type FindingsOfFiles = ReadonlyMap<string, readonly ShownFinding[]>;

/** The findings that have a problem of their own, by the file of their main place: those with a place whose code is still there. */
export function problemsByFile(shown: Iterable<ShownFinding>): FindingsOfFiles {
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
