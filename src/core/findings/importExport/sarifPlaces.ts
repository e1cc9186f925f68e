import type { CodeFlow, Location, Region } from 'sarif';
import type { Run } from '../../run/state/run.ts';
import type { Place, PlaceRole } from '../finding.ts';
import type { ShownFinding } from '../shownFinding.ts';

/** The name under which a SARIF file speaks of the folder that a run assessed; of several, each has its own. */
export function sourceRoot({ targets }: Run, index: number): string {
  return targets.length === 1 ? '%SRCROOT%' : `%SRCROOT-${String(index + 1)}%`;
}

/** A finding's places as SARIF keeps them: where it is, how data flows to it, and what else belongs to it; folders are those of `run`, which may be a later one than the finding's own. */
export function sarifPlaces(
  shown: ShownFinding,
  run: Run,
): {
  locations: Location[];
  codeFlows?: CodeFlow[];
  relatedLocations?: Location[];
} {
  const { places } = shown.finding;
  const having = (...roles: (PlaceRole | undefined)[]): Place[] =>
    roles.flatMap((role) => places.filter((place) => place.role === role));
  const own = having(undefined);
  const flow = having('source', 'step', 'sink');
  const related = having('evidence', 'related');
  const main = own.length > 0 ? own : places.slice(0, 1);
  return {
    locations: main.map((place) => toLocation(place, shown, run)),
    ...(flow.length === 0
      ? {}
      : {
          codeFlows: [
            {
              threadFlows: [
                {
                  locations: flow.map((place) => ({
                    kinds: [place.role ?? 'step'],
                    location: toLocation(place, shown, run),
                  })),
                },
              ],
            },
          ],
        }),
    ...(related.length === 0
      ? {}
      : {
          relatedLocations: related.map((place, index) => ({
            id: index + 1,
            ...toLocation(place, shown, run),
          })),
        }),
  };
}

/** A place with the lines of the text that was assessed, and with its path in the workspace where it was found there. */
function toLocation(place: Place, { run: { targets }, places }: ShownFinding, run: Run): Location {
  const found = places.find(({ told }) => told === place);
  const told = targets[place.targetIndex ?? (targets.length === 1 ? 0 : -1)];
  const folders = [found?.folder, told?.folder];
  const index = folders
    .map((wanted) => run.targets.findIndex(({ folder }) => folder === wanted))
    .find((target) => target >= 0);
  const region = toRegion(place);
  return {
    physicalLocation: {
      artifactLocation: {
        uri: toRelativeUri(found?.path ?? place.path),
        ...(index === undefined ? {} : { uriBaseId: sourceRoot(run, index) }),
      },
      ...(region === undefined ? {} : { region }),
    },
    ...(place.label === undefined ? {} : { message: { text: place.label } }),
  };
}

function toRegion({ startLine, endLine, startColumn, endColumn, snippet }: Place): Region | undefined {
  if (startLine === undefined) return undefined;
  const known = {
    endLine,
    startColumn,
    endColumn,
    snippet: snippet === undefined ? undefined : { text: snippet },
  };
  return {
    startLine,
    ...Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined)),
  };
}

/** A path as a relative reference that stays below its base, percent-encoded part by part. */
function toRelativeUri(path: string): string {
  const parts = path.split(/[\\/]+/).filter((part) => part !== '' && part !== '.' && part !== '..');
  return parts.map((part) => encodeURIComponent(part.toWellFormed())).join('/');
}
