import { isDeepStrictEqual } from 'node:util';
import type { Run } from '../run/state/run.ts';
import type { LoadedRun, RenewedFiles } from './loadedRun.ts';
import type { FindingsChange, ShownFinding, ShownRun } from './shownFinding.ts';
import { folderOf } from './triage/findingFolder.ts';

/** True when nothing was downloaded for a run since it was this one. */
export function hasSameFiles(one: Run, other: Run): boolean {
  const artifactsOf = (run: Run): unknown => ('artifacts' in run ? run.artifacts : undefined);
  return one === other || isDeepStrictEqual(artifactsOf(one), artifactsOf(other));
}

/** True for the same run with the same files, and for none twice. */
export function isSameRun(one: Run | undefined, other: Run | undefined): boolean {
  return one?.id === other?.id && (one === undefined || other === undefined || hasSameFiles(one, other));
}

/** True when two answers of `decideRuns` show the same runs, with the same files. */
export function showSameRuns(
  one: ReadonlyMap<string, Run | undefined>,
  other: ReadonlyMap<string, Run | undefined>,
): boolean {
  return (
    one.size === other.size &&
    [...one].every(([folder, run]) => other.has(folder) && isSameRun(run, other.get(folder)))
  );
}

/** The findings of a run that its folders show: those of folders that show another run are left out. */
export function visibleIn(byFolder: ReadonlyMap<string, Run | undefined>, loaded: LoadedRun): ShownRun {
  const { run } = loaded;
  const showsIt = (folder: string): boolean => !byFolder.has(folder) || byFolder.get(folder)?.id === run.id;
  if (run.targets.every(({ folder }) => showsIt(folder))) return toShownRun(loaded);
  return toShownRun(loaded, (shown) => {
    const folder = folderOf(shown);
    return folder === undefined || showsIt(folder);
  });
}

/** A run as it was read, with the findings that are visible. */
export function toShownRun(loaded: LoadedRun, isVisible?: (shown: ShownFinding) => boolean): ShownRun {
  const { run, cut, failure } = loaded;
  const shown = isVisible === undefined ? loaded.shown : loaded.shown.filter(isVisible);
  return { run, shown, cut, failure };
}

/** What findings that were renewed are told of as; undefined when none were. */
export function toChange(renewed: readonly RenewedFiles[]): FindingsChange | undefined {
  const files = new Set(renewed.flatMap((each) => [...each]));
  if (files.size === 0) return undefined;
  const known = new Set([...files].filter((file) => file !== undefined));
  return known.size < files.size ? { kind: 'all' } : { kind: 'files', files: known };
}
