import { setImmediate } from 'node:timers/promises';
import type { Run } from '../../run/run.ts';
import { createFileIndex, findFile } from './fileIndex.ts';
import type { Finding, Place } from '../finding.ts';
import { namedBy, pathNamesOf } from './locateAmong.ts';
import type { SentFile } from './sentFiles.ts';
import { percentDecoded, toWorkspacePath } from './workspacePath.ts';

/**
 * What a finding is about, going by the findings file and by what was sent alone: whatever becomes of the files, it is the same on every
 * machine that knows what was sent. One that does not (the run was tracked by its ID, or came as SARIF or a table) takes paths as they were told.
 */
export interface Subject {
  /** As the run's target names it; undefined when nothing tells it, empty when it is none of the run's. */
  readonly folder: string | undefined;
  /** The path in it that was sent, else the one that was told, with `/`; empty for a finding without a place. */
  readonly path: string;
}

/** What was sent of each target of a run, by path; undefined where that is not known. */
export type SentOfRun = readonly (ReadonlyMap<string, SentFile> | undefined)[];

const chunk = 1_000;

/** What findings are about, one for each; other work goes on meanwhile. */
export async function subjectsOf(
  findings: readonly Finding[],
  subjectOf: (place: Place) => Subject,
): Promise<readonly Subject[]> {
  const subjects: Subject[] = [];
  for (let start = 0; start < findings.length; start += chunk) {
    const some = findings.slice(start, start + chunk);
    subjects.push(...some.map(({ places: [place] }) => subjectOf(place ?? { path: '' })));
    await setImmediate();
  }
  return subjects;
}

/** What alone counts of a place when it is looked up: its path, and which archive it is in. A path with a NUL leads nowhere. */
export function pathKey({ path, targetIndex }: Place): string {
  return targetIndex === undefined ? path : `${String(targetIndex)}\0${path}`;
}

/** Makes the function that tells what a place is about; what was sent is indexed once, and each path is looked up once. */
export function createSubjectOf({ targets }: Run, sent: SentOfRun): (place: Place) => Subject {
  const folders = targets.flatMap((target, index) => {
    const files = sent[index];
    const { folder } = target;
    const names = pathNamesOf(target, index);
    return files === undefined ? [] : [{ folder, names, find: createFind(files.keys()) }];
  });
  const originOf = ({ targetIndex }: Place): string | undefined => {
    const [first, ...others] = targets;
    if (others.length > 0) return targets[targetIndex ?? -1]?.folder;
    // Of one archive everything is; where nobody knows how many there were, another index means another one.
    return targetIndex === undefined || targetIndex === 0 || sent[0] !== undefined ? first?.folder : '';
  };
  /** Without the archive's number; its name would be another one where the folder is called otherwise, and may be that of a folder in it. */
  const withoutIndex = (segments: readonly string[], origin: string | undefined): readonly string[] => {
    const [first, ...rest] = segments;
    const index = targets.findIndex(({ folder }) => folder === origin);
    return rest.length > 0 && sent[index] === undefined && first === String(index) ? rest : segments;
  };
  const look = (place: Place): Subject => {
    const origin = originOf(place);
    const asked = origin === undefined ? folders : folders.filter(({ folder }) => folder === origin);
    const hits = asked.flatMap(({ folder, names, find }) => {
      const path = find(place.path);
      return path === undefined ? [] : [{ folder, names, path: path.normalize('NFC') }];
    });
    const found = hits.length > 1 ? namedBy(place.path, hits) : hits[0];
    if (found !== undefined) return { folder: found.folder, path: found.path };
    const path = withoutIndex(segmentsOf(place.path) ?? [place.path], origin).join('/');
    return { folder: origin, path: path.normalize('NFC') };
  };
  const known = new Map<string, Subject>();
  return (place) => {
    const key = pathKey(place);
    let subject = known.get(key);
    if (subject === undefined) known.set(key, (subject = look(place)));
    return subject;
  };
}

/** Makes the search for the file among these that a path text means. */
function createFind(files: Iterable<string>): (text: string) => string | undefined {
  const index = createFileIndex(files);
  const look = (text: string): string | undefined => {
    const match = findFile(index, segmentsOf(text) ?? []);
    return match?.kind === 'file' ? match.path : undefined;
  };
  return (text) => look(text) ?? look(percentDecoded(text) ?? '');
}

/** Without a folder of this machine: that would be another path elsewhere. */
function segmentsOf(text: string): readonly string[] | undefined {
  const written = toWorkspacePath(text, '');
  return written.kind === 'path' ? written.segments : undefined;
}
