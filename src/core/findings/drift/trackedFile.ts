import { anchorIn } from './anchor.ts';
import { type Drift, followLines } from './drift.ts';
import type { Place } from '../finding.ts';

/** Where a place is in a file's present text; lines are absent when unknown, columns where its line is not as it was told. */
interface PlaceNow {
  readonly startLine?: number | undefined;
  readonly endLine?: number | undefined;
  readonly startColumn?: number | undefined;
  readonly endColumn?: number | undefined;
  readonly drift: Drift;
}

/** A text in which places can be looked up. */
export interface TextNow {
  /** True when the text is not the one that was scanned. */
  readonly isChanged: boolean;
  placeOf(told: Place): PlaceNow;
}

/** A file whose text is followed. */
export interface TrackedFile {
  /** True when it is followed from the text that was scanned. */
  readonly isScanned: boolean;
  look(now: readonly string[]): TextNow;
}

/**
 * Follows places from the text they were told about: what was scanned or, when that is not at hand, the first text that was seen here. From
 * that one, lines are followed as well, but what happened to them before is `unknown`.
 */
export function trackFile(lines: readonly string[], isScanned: boolean): TrackedFile {
  const follow = followLines(lines);
  const anchor = anchorIn(lines);
  const anchors = new WeakMap<Place, ReturnType<typeof anchor>>();
  const anchorOf = (told: Place): ReturnType<typeof anchor> => {
    if (!anchors.has(told)) anchors.set(told, anchor(told));
    return anchors.get(told);
  };
  const look = (now: readonly string[]): TextNow => {
    const map = follow(now);
    return {
      isChanged: isScanned && now !== lines && !isEqual(now, lines),
      placeOf: (told) => {
        // The first look at a text is mostly the only one.
        const anchored = now === lines ? anchor(told) : anchorOf(told);
        if (anchored === undefined) return { drift: 'unknown' };
        const { drift, startLine, endLine } = map(anchored);
        const found = { startLine, endLine, drift: isScanned ? drift : ('unknown' as const) };
        const isAsTold =
          !anchored.reanchored &&
          lines[anchored.startLine - 1] === now[startLine - 1] &&
          lines[anchored.endLine - 1] === now[endLine - 1];
        return isAsTold ? { ...found, startColumn: told.startColumn, endColumn: told.endColumn } : found;
      },
    };
  };
  return { isScanned, look };
}

function isEqual(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((line, at) => line === other[at]);
}
