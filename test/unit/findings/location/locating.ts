import { rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { PathMapping } from '../../../../src/core/findings/location/mappings.ts';
import { createLocator, findUploaded } from '../../../../src/core/findings/location/resolver.ts';
import type { UploadedFiles } from '../../../../src/core/findings/location/uploadedFiles.ts';
import type { Run } from '../../../../src/core/run/state/run.ts';
import type { ArchiveFormat } from '../../../../src/core/upload/archive/packing.ts';
import { writeArchive } from '../../../../src/core/upload/archive/writeArchive.ts';
import type { FindingFixture } from '../findingFixture.ts';

export const files = [
  'app.py',
  'src/orders.py',
  'src/views.py',
  'web/views.py',
  'web/my page.ts',
  'web/100%25.ts',
  'src/注文.py',
  'pkg/src/deep/only.py',
];

/**
 * Finds the files of reported paths in a run of one folder: the path in it, or in parentheses why
 * there is none.
 */
export function locatorIn(
  root: string,
  { files: uploaded, reported, mapping = [] }: Facts = {},
): (text: string) => Promise<string> {
  const more = { reported, mappingsOf: () => mapping };
  const find = findIn([{ folder: root, name: basename(root) }], uploaded && [uploaded], more);
  return async (path) => (await find(path)).replace(/^0 /, '');
}

/**
 * Does what `locatorIn` does for a run of several folders: returns the position of the target, and
 * the path in it.
 */
export function findIn(
  targets: Parameters<typeof findUploaded>[0],
  uploaded: readonly (readonly string[])[] | undefined,
  {
    reported,
    mappingsOf,
  }: Pick<Facts, 'reported'> & { mappingsOf?: Parameters<typeof createLocator>[2] } = {},
): (path: string, targetIndex?: number) => Promise<string> {
  const isKnown = targets.map(() => uploaded !== undefined);
  const locate = createLocator(targets, isKnown, mappingsOf);
  const files = targets.map((_, at) => uploaded && asUploaded(uploaded[at] ?? [], at));
  const uploadedIn = (texts: readonly string[]) => {
    const locations = texts.map((path) => ({ path }));
    return findUploaded(targets, files, locations);
  };
  const known = reported && uploadedIn(reported);
  return async (path, targetIndex) => {
    const file = (known ?? uploadedIn([path])).uploadedFile({ path, targetIndex });
    const found = await locate({ path, targetIndex }, typeof file === 'object' ? file : undefined);
    if (found !== undefined) return `${String(found.target)} ${found.path}`;
    return file === 'ambiguous' ? '(ambiguous)' : '(none)';
  };
}

interface Facts {
  /** Is undefined if the uploaded files are unknown. */
  readonly files?: readonly string[] | undefined;
  /** All reported paths are here, if there are others than the one that is looked up. */
  readonly reported?: readonly string[] | undefined;
  readonly mapping?: readonly PathMapping[];
}

export function asUploaded(paths: readonly string[], target = 0): NonNullable<UploadedFiles[number]> {
  return new Map(paths.map((path) => [path, { target, folder: '', path, bytes: 1, sha256: '' }]));
}

const workerFile = new URL('../../../../src/core/upload/archive/archiveWorker.ts', import.meta.url);

/**
 * Gives a run of `shop` the archive of these files, and removes its result and the texts that it
 * keeps.
 */
export async function packRun(
  { root, runs }: FindingFixture,
  run: Run,
  files: Readonly<Record<string, string>>,
  type: ArchiveFormat,
): Promise<Run> {
  const runFolder = runs.folderOf(run.id);
  const { bytes, sha256 } = await writeArchive({
    root: join(root, 'shop'),
    files: Object.entries(files).map(([path, text]) => ({ path, bytes: text.length, mode: 0o644 })),
    format: type,
    to: join(runFolder, 'archive'),
    maxBytes: 1e9,
    workerFile,
  });
  for (const name of ['result.json', 'source']) await rm(join(runFolder, name), { recursive: true });
  const archive = { file: 'archive', type, bytes, sha256, sourceBytes: 1 };
  return runs.create({ ...run, targets: run.targets.map((target) => ({ ...target, archive })) });
}
