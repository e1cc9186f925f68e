import * as z from 'zod/mini';
import type { NotUploadedReason, UploadSelection } from './prepareUpload.ts';
import { countLfsPointers } from '../select/selection.ts';

const count = z.int().check(z.minimum(0));

/** The counts are saved with the run, because its manifest doesn't have the excluded paths. */
export const coverageSchema = z.object({
  uploaded: count,
  /** The keys are kinds of `NotUploadedReason`. A folder counts once. */
  excluded: z
    .record(z.string().check(z.maxLength(32)), count)
    .check(z.refine((reasons) => Object.keys(reasons).length <= 32)),
  excludedFolders: count,
  notPackaged: count,
  /** True if a Git index could not be read. Then `ignoredButTracked` doesn't count its files. */
  trackedUnknown: z.optional(z.boolean()),
  lfsPointers: z.optional(count),
});
export type Coverage = z.infer<typeof coverageSchema>;

export function isUnread({ kind }: NotUploadedReason): boolean {
  return kind === 'unreadable' || kind === 'outsideRoot';
}

export function toCoverage(
  { files, excluded, unreadIndexes }: Pick<UploadSelection, 'files' | 'excluded' | 'unreadIndexes'>,
  uploaded: number,
  notPackaged: number,
): Coverage {
  const coverage = { uploaded, excluded: {} as Record<string, number>, excludedFolders: 0, notPackaged };
  const lfsPointers = countLfsPointers(files);
  for (const { path, reason } of excluded) {
    if (isUnread(reason)) coverage.notPackaged += 1;
    else {
      coverage.excluded[reason.kind] = (coverage.excluded[reason.kind] ?? 0) + 1;
      if (path.endsWith('/')) coverage.excludedFolders += 1;
    }
  }
  return {
    ...coverage,
    ...(unreadIndexes.length > 0 && { trackedUnknown: true }),
    ...(lfsPointers > 0 && { lfsPointers }),
  };
}

export function coverageOf({ targets }: { targets: readonly { coverage?: Coverage | undefined }[] }) {
  const known = targets.flatMap(({ coverage }) => coverage ?? []);
  return known.length < targets.length ? undefined : known.reduce<Coverage | undefined>(add, undefined);
}

function add(
  sum: Coverage | undefined,
  { uploaded, excluded, excludedFolders, notPackaged, trackedUnknown, lfsPointers = 0 }: Coverage,
): Coverage {
  const all = { ...sum?.excluded };
  for (const [reason, paths] of Object.entries(excluded)) all[reason] = (all[reason] ?? 0) + paths;
  const allPointers = (sum?.lfsPointers ?? 0) + lfsPointers;
  return {
    uploaded: (sum?.uploaded ?? 0) + uploaded,
    excluded: all,
    excludedFolders: (sum?.excludedFolders ?? 0) + excludedFolders,
    notPackaged: (sum?.notPackaged ?? 0) + notPackaged,
    ...((sum?.trackedUnknown ?? trackedUnknown) && { trackedUnknown: true }),
    ...(allPointers > 0 && { lfsPointers: allPointers }),
  };
}

export function excludedIn({ excluded }: Coverage): number {
  return Object.values(excluded).reduce((sum, paths) => sum + paths, 0);
}
