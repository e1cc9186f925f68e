import type { ManifestEntry } from '../archive/archiveEntries.ts';
import {
  type Decided,
  decide,
  type Draft,
  newDraft,
  type SecretRules,
  withCheck,
  withUnsteady,
} from './draft.ts';
import type { FolderChoices } from './folderChoices.ts';
import type { SecretCheck } from '../secrets/secrets.ts';
import type { SelectedFile, Selection } from '../select/selection.ts';

/** A folder's files as they would be sent, and all it takes to decide anew. */
export interface Prepared<F> extends Decided {
  readonly folder: F;
  readonly draft: Draft;
  /** The person's choices that were applied. */
  readonly choices: FolderChoices;
}

/** Who waits for the work, and may stop it. */
export interface Waiting {
  readonly signal: AbortSignal;
  readonly onStep: (message: string) => void;
}

/** What preparing the upload of folders is made of. */
export interface PreparationSteps<F> {
  readonly choicesOf: (folder: F) => FolderChoices;
  readonly rules: () => SecretRules;
  readonly select: (folder: F, include: readonly string[], waiting: Waiting) => Promise<Selection>;
  readonly check: (root: string, files: readonly SelectedFile[], waiting: Waiting) => Promise<SecretCheck>;
}

/** Selects the files of each folder; for credentials they have yet to be looked through. */
export async function selectFolders<F>(
  folders: readonly F[],
  steps: PreparationSteps<F>,
  waiting: Waiting,
): Promise<Prepared<F>[]> {
  const prepared: Prepared<F>[] = [];
  for (const folder of folders) {
    const choices = steps.choicesOf(folder);
    const all = await steps.select(folder, choices.include, waiting);
    prepared.push(decideFor({ folder, draft: newDraft(all, choices.include) }, choices, steps));
  }
  return prepared;
}

/** A draft of which every file that would be sent was looked into. */
export async function checkDraft<F>(
  { draft, unchecked }: Prepared<F>,
  steps: PreparationSteps<F>,
  waiting: Waiting,
): Promise<Draft> {
  if (unchecked.length === 0) return draft;
  return withCheck(draft, unchecked, await steps.check(draft.all.root, unchecked, waiting));
}

/** Applies choices to a folder's draft, with what is decided about secrets now. */
export function decideFor<F>(
  { folder, draft }: { folder: F; draft: Draft },
  choices: FolderChoices,
  { rules }: Pick<PreparationSteps<F>, 'rules'>,
): Prepared<F> {
  return { folder, draft, choices, ...decide(draft, choices, rules()) };
}

/** What stands in an archive. */
type Packed = Iterable<Pick<ManifestEntry, 'path' | 'sha256'>>;

/** So many times files are packed anew that changed between the check and the packing; those that go on changing stay out then. */
export const packings = 3;

/**
 * Compares what was packed, an archive for each folder, with what was looked into, and looks into the rest anew. `isAsPacked` is true when all
 * that was packed was looked into, and may be sent as it is decided upon now; else `prepared` is to be packed, for the `next` time. What files
 * hold on the disk before and after says nothing about what was packed between, nor do their times, since whole folders can change places.
 */
export async function checkPacked<F>(
  prepared: readonly Prepared<F>[],
  packed: readonly Packed[],
  steps: PreparationSteps<F>,
  { next, ...waiting }: Waiting & { readonly next: number },
): Promise<{ prepared: readonly Prepared<F>[]; isAsPacked: boolean }> {
  if (steps.rules().mode === 'off') return { prepared, isAsPacked: true };
  const now: Prepared<F>[] = [];
  let isChecked = true;
  for (const [index, { folder, draft, choices, selection }] of prepared.entries()) {
    const entries = packed[index] ?? [];
    const suspect = packedOtherwise(selection, entries, draft);
    const checked =
      suspect.length === 0
        ? draft
        : withCheck(draft, suspect, await steps.check(draft.all.root, suspect, waiting));
    const unsteady = packedOtherwise(selection, entries, checked);
    isChecked &&= unsteady.length === 0;
    const decided = next > packings ? withUnsteady(checked, unsteady) : checked;
    now.push(decideFor({ folder, draft: decided }, choices, steps));
  }
  return { prepared: now, isAsPacked: isChecked && sendsSame(now, prepared) };
}

/** The files that were packed with another content than the one that was looked into. */
function packedOtherwise({ files }: Selection, entries: Packed, { hashes }: Draft): readonly SelectedFile[] {
  const other = new Set<string>();
  for (const { path, sha256 } of entries) if (hashes.get(path) !== sha256) other.add(path);
  return other.size === 0 ? [] : files.filter(({ path }) => other.has(path));
}

/** True when exactly these files of the same folders would be sent, which is what was packed. */
function sendsSame(
  one: readonly Pick<Decided, 'selection'>[],
  other: readonly Pick<Decided, 'selection'>[],
): boolean {
  return one.every(({ selection: { files } }, index) => {
    const others = other[index]?.selection.files ?? [];
    return files.length === others.length && files.every(({ path }, at) => path === others[at]?.path);
  });
}

/** Selects the files of each folder and looks for credentials in all that would be sent. */
export async function prepareFolders<F>(
  folders: readonly F[],
  steps: PreparationSteps<F>,
  waiting: Waiting,
): Promise<Prepared<F>[]> {
  const prepared: Prepared<F>[] = [];
  for (const each of await selectFolders(folders, steps, waiting)) {
    const draft = await checkDraft(each, steps, waiting);
    prepared.push(decideFor({ folder: each.folder, draft }, each.choices, steps));
  }
  return prepared;
}
