import type { ManifestEntry } from '../archive/packing.ts';
import type { SecretCheck } from '../secrets/checkSecrets.ts';
import type { Suspicion } from '../secrets/scanFile.ts';
import type { Reason, SelectedFile, Selection } from '../select/selection.ts';
import { type FolderChoices, includedBy, leavingOut } from './choices.ts';

/** What a person decided about content that looks like a credential, by the content's SHA-256. */
export type SecretDecision = 'send' | 'leaveOut';

export interface SecretRules {
  /** `block`: files with undecided suspicions are left out. */
  readonly mode: 'block' | 'warn' | 'off';
  readonly decisionOf: (sha256: string) => SecretDecision | undefined;
}

export type NotUploadedReason =
  | Reason
  /** A person left it out. */
  | { readonly kind: 'choice' }
  /** It looks like it holds a credential, and nobody has decided to send it. */
  | { readonly kind: 'secret'; readonly suspicions: readonly Suspicion[] };

/** A path that is not uploaded (as `LeftOut`). */
export interface NotUploaded {
  readonly path: string;
  readonly reason: NotUploadedReason;
}

/** A selection after choices and the credential check: what these leave out is at the end of `leftOut`. */
export interface UploadSelection extends Omit<Selection, 'leftOut'> {
  readonly leftOut: readonly NotUploaded[];
}

/** What is known of a folder's files, whatever a person leaves out of them. */
interface KnownFiles<F> {
  readonly folder: F;
  /** What ignore files and settings let through, and what `include` adds. */
  readonly selected: Selection;
  /** `includedBy` the choices when the files were selected: with another, they have to be selected again. */
  readonly include: readonly string[];
  readonly checks: SecretCheck;
}

export interface Prepared<F> extends KnownFiles<F> {
  readonly choices: FolderChoices;
  readonly selection: UploadSelection;
  /** Suspicions about which nobody has decided. */
  readonly undecided: readonly Suspicion[];
  /** Files of the selection that were not checked for credentials yet. */
  readonly unchecked: readonly SelectedFile[];
}

/** Cancels a long step, and hears of its progress. */
export interface StepProgress {
  readonly signal: AbortSignal;
  readonly onStep: (message: string) => void;
}

/** How folders are prepared: by the editor's settings and the person's choices. */
export interface PreparationSteps<F> {
  readonly choicesOf: (folder: F) => FolderChoices;
  readonly rules: () => SecretRules;
  readonly select: (folder: F, include: readonly string[], progress: StepProgress) => Promise<Selection>;
  readonly check: (
    root: string,
    files: readonly SelectedFile[],
    progress: StepProgress,
  ) => Promise<SecretCheck>;
}

/** Selects the files of each folder and checks them for credentials. */
export async function prepareFolders<F>(
  folders: readonly F[],
  steps: PreparationSteps<F>,
  progress: StepProgress,
): Promise<Prepared<F>[]> {
  const prepared: Prepared<F>[] = [];
  for (const each of await selectFolders(folders, steps, progress)) {
    const checked = await checkFiles(each, each.unchecked, steps, progress);
    prepared.push(decide(checked, each.choices, steps.rules()));
  }
  return prepared;
}

/** Selects the files of each folder, none of them checked for credentials yet. */
export async function selectFolders<F>(
  folders: readonly F[],
  steps: PreparationSteps<F>,
  progress: StepProgress,
): Promise<Prepared<F>[]> {
  const prepared: Prepared<F>[] = [];
  for (const folder of folders) {
    const choices = steps.choicesOf(folder);
    const include = includedBy(choices);
    const selected = await steps.select(folder, include, progress);
    const known = { folder, selected, include, checks: new Map() };
    prepared.push(decide(known, choices, steps.rules()));
  }
  return prepared;
}

/** The same folder with the results of the check of these files. */
export async function checkFiles<K extends KnownFiles<unknown>>(
  known: K,
  files: readonly SelectedFile[],
  { check }: Pick<PreparationSteps<unknown>, 'check'>,
  progress: StepProgress,
): Promise<K> {
  if (files.length === 0) return known;
  const checks = new Map(known.checks);
  for (const [path, result] of await check(known.selected.root, files, progress)) checks.set(path, result);
  return { ...known, checks };
}

/** Applies choices and decisions without reading the disk. What could not be checked is left out. */
export function decide<F>(
  { folder, selected, include, checks }: KnownFiles<F>,
  choices: FolderChoices,
  { mode, decisionOf }: SecretRules,
): Prepared<F> {
  const isLeftOut = leavingOut(choices);
  const files: SelectedFile[] = [];
  const chosen: NotUploaded[] = [];
  const suspected: NotUploaded[] = [];
  const undecided: Suspicion[] = [];
  const unchecked: SelectedFile[] = [];
  let bytes = 0;
  // A single pass: with very many files, a person waits for it.
  for (const file of selected.files) {
    const { path } = file;
    if (isLeftOut(path)) {
      chosen.push({ path, reason: { kind: 'choice' } });
      continue;
    }
    const check = mode === 'off' ? undefined : checks.get(path);
    let reason: NotUploadedReason | undefined;
    if (check === undefined) {
      if (mode !== 'off') unchecked.push(file);
    } else if ('reason' in check) {
      reason = { kind: 'unreadable', code: check.code ?? check.reason };
    } else if (check.suspicions.length > 0) {
      const decision = decisionOf(check.sha256);
      if (decision === undefined) undecided.push(...check.suspicions);
      if (decision === 'leaveOut' || (decision === undefined && mode === 'block'))
        reason = { kind: 'secret', suspicions: check.suspicions };
    }
    if (reason === undefined) {
      files.push(file);
      bytes += file.bytes;
    } else suspected.push({ path, reason });
  }
  const leftOut = [...selected.leftOut, ...chosen, ...suspected];
  const selection = { ...selected, files, bytes, leftOut };
  return { folder, selected, include, checks, choices, selection, undecided, unchecked };
}

/** After this many packings, files that change again and again between check and packing are left out. */
export const maxPackings = 3;

/**
 * Compares the content that was packed, an archive for each folder, with the content that was checked, and checks files that differ again.
 * `isAsPacked` is true if everything that was packed was checked and may be uploaded by the decisions there are now; otherwise `prepared` is to
 * be packed. Only the SHA-256 of what was packed counts: contents and times on disk before and after prove nothing, since whole folders can be
 * swapped in between.
 */
export async function checkPacked<F>(
  prepared: readonly Prepared<F>[],
  archives: readonly Iterable<Pick<ManifestEntry, 'path' | 'sha256'>>[],
  steps: PreparationSteps<F>,
  { packings, ...progress }: StepProgress & { readonly packings: number },
): Promise<{ prepared: readonly Prepared<F>[]; isAsPacked: boolean }> {
  if (steps.rules().mode === 'off') return { prepared, isAsPacked: true };
  const again: Prepared<F>[] = [];
  let isAsPacked = true;
  for (const [index, each] of prepared.entries()) {
    const packed = archives[index] ?? [];
    const checked = await checkFiles(each, packedOtherwise(each, packed), steps, progress);
    const changing = packedOtherwise(checked, packed);
    const omitted = packings < maxPackings ? [] : changing;
    const checks = new Map(checked.checks);
    for (const { path } of omitted) checks.set(path, { path, reason: 'changed' });
    const now = decide({ ...checked, checks }, each.choices, steps.rules());
    isAsPacked &&= changing.length === 0 && haveSamePaths(now.selection.files, each.selection.files);
    again.push(now);
  }
  return { prepared: again, isAsPacked };
}

/** The files that were packed with another content than the one that was checked. */
function packedOtherwise<F>(
  { selection, checks }: Prepared<F>,
  packed: Iterable<Pick<ManifestEntry, 'path' | 'sha256'>>,
): readonly SelectedFile[] {
  const other = new Set<string>();
  for (const { path, sha256 } of packed) {
    const check = checks.get(path);
    if (check === undefined || 'reason' in check || check.sha256 !== sha256) other.add(path);
  }
  return other.size === 0 ? [] : selection.files.filter(({ path }) => other.has(path));
}

function haveSamePaths(one: readonly SelectedFile[], other: readonly SelectedFile[]): boolean {
  return one.length === other.length && one.every(({ path }, at) => path === other[at]?.path);
}

/** How many files are in one of two selections only, or differ in size. */
export function countDifferences(
  one: Pick<UploadSelection, 'files'>,
  other: Pick<UploadSelection, 'files'>,
): number {
  const sizes = new Map(one.files.map(({ path, bytes }) => [path, bytes]));
  const same = other.files.filter(({ path, bytes }) => sizes.get(path) === bytes).length;
  const inBoth = other.files.filter(({ path }) => sizes.has(path)).length;
  return one.files.length + other.files.length - inBoth - same;
}
