import { setImmediate } from 'node:timers/promises';
import type { Run } from '../../run/state/run.ts';
import type { Finding, Place } from '../finding.ts';
import { pathKey, type Resolver, type SentOfRun } from './resolver.ts';
import type { SentFile } from './sentFiles.ts';

/** A file here that a place is in. */
export interface Spot {
  /** Absolute. */
  readonly file: string;
  /** The folder it lies in, as the run's target names it, and that target's position. */
  readonly folder: string;
  readonly target: number;
  /** Relative to its folder, with `/`. */
  readonly path: string;
  /** What was sent of it; undefined when that is not known. */
  readonly sent: SentFile | undefined;
}

/** Where the places of findings are. */
export interface Located {
  /** The files here, each with places in it; a file that is told in several ways is there several times. */
  readonly spots: readonly { readonly spot: Spot; readonly places: readonly Place[] }[];
  /** The names of files that are not here, and of the folders on the way to them: either may come back. */
  readonly missing: ReadonlySet<string>;
}

const chunk = 100;

/** Looks the places of a run's findings up; other work goes on meanwhile. */
export async function locateFindings(
  { targets }: Run,
  findings: readonly Finding[],
  { sent, resolver }: { sent: SentOfRun; resolver: Resolver },
): Promise<Located> {
  const spots: { spot: Spot; places: readonly Place[] }[] = [];
  const missing = new Set<string>();
  const find = async (places: readonly [Place, ...Place[]]): Promise<void> => {
    const [place] = places;
    const found = await resolver.locate(place);
    if (found.kind === 'file') {
      const { absolute: file, target, path } = found;
      const folder = targets[target]?.folder ?? '';
      spots.push({ spot: { file, folder, target, path, sent: sent[target]?.get(path) }, places });
      return;
    }
    const meant = await resolver.sentFile(place);
    const paths = [place.path, ...(meant.kind === 'file' ? [meant.path] : [])];
    for (const name of paths.flatMap((path) => path.split(/[\\/]/))) missing.add(name);
  };
  const waiting = byPath(findings);
  for (let start = 0; start < waiting.length; start += chunk) {
    await Promise.all(waiting.slice(start, start + chunk).map(find));
    await setImmediate();
  }
  return { spots, missing };
}

/** The places of findings, those together that tell the same path of the same archive: they are looked up once. */
function byPath(findings: readonly Finding[]): readonly (readonly [Place, ...Place[]])[] {
  const groups = new Map<string, [Place, ...Place[]]>();
  for (const { places } of findings) {
    for (const place of places) {
      const key = pathKey(place);
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [place]);
      else group.push(place);
    }
  }
  return [...groups.values()];
}
