import type { ManifestEntry } from '../archive/packing.ts';
import type { SecretCheck } from '../secrets/checkSecrets.ts';
import type { Suspicion } from '../secrets/scanFile.ts';
import type { Reason, SelectedFile, Selection } from '../select/selection.ts';
import { type PathChoices, includedBy, excluding } from './choices.ts';

export type SecretDecision = 'send' | 'exclude';

export interface SecretRules {
  /** `block` excludes files with undecided suspicions. */
  readonly mode: 'block' | 'warn' | 'off';
  readonly decisionOf: (sha256: string) => SecretDecision | undefined;
}

export type NotUploadedReason =
  | Reason
  | { readonly kind: 'choice' }
  | { readonly kind: 'secret'; readonly suspicions: readonly Suspicion[] };

export interface NotUploaded {
  readonly path: string;
  readonly reason: NotUploadedReason;
}

/** A selection after choices and the secret checks so far. */
export interface UploadSelection extends Omit<Selection, 'excluded'> {
  readonly excluded: readonly NotUploaded[];
}

interface KnownFiles<F> {
  readonly folder: F;
  readonly selected: Selection;
  /** The result of `includedBy` with which `selected` was made. */
  readonly include: readonly string[];
  readonly checks: SecretCheck;
}

export interface PreparedFolder<F> extends KnownFiles<F> {
  readonly choices: PathChoices;
  readonly selection: UploadSelection;
  readonly undecided: readonly Suspicion[];
  readonly unchecked: readonly SelectedFile[];
}

export interface StepProgress {
  readonly signal: AbortSignal;
  readonly onStep: (message: string) => void;
}

/**
 * A preparation selects the files of each folder, checks them for secrets, and applies what a user
 * chose (`choices`). Only the first two steps read the disk, so `applyChoices` is fast enough for
 * each click.
 */
export interface PreparationSteps<F> {
  readonly choicesOf: (folder: F) => PathChoices;
  readonly rules: () => SecretRules;
  readonly select: (folder: F, include: readonly string[], progress: StepProgress) => Promise<Selection>;
  readonly check: (
    root: string,
    files: readonly SelectedFile[],
    progress: StepProgress,
  ) => Promise<SecretCheck>;
  /** Clears the results that save `check` from reading unchanged files again. */
  readonly forget: () => void;
}

export async function prepareFolders<F>(
  folders: readonly F[],
  steps: PreparationSteps<F>,
  progress: StepProgress,
): Promise<PreparedFolder<F>[]> {
  const prepared: PreparedFolder<F>[] = [];
  for (const each of await selectFolders(folders, steps, progress)) {
    const checked = await checkFiles(each, each.unchecked, steps, progress);
    prepared.push(applyChoices(checked, each.choices, steps.rules()));
  }
  return prepared;
}

export async function selectFolders<F>(
  folders: readonly F[],
  steps: PreparationSteps<F>,
  progress: StepProgress,
): Promise<PreparedFolder<F>[]> {
  const prepared: PreparedFolder<F>[] = [];
  for (const folder of folders) {
    const choices = steps.choicesOf(folder);
    const include = includedBy(choices);
    const selected = await steps.select(folder, include, progress);
    const known = { folder, selected, include, checks: new Map() };
    prepared.push(applyChoices(known, choices, steps.rules()));
  }
  return prepared;
}

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

/** Excludes files that could not be checked. */
export function applyChoices<F>(
  { folder, selected, include, checks }: KnownFiles<F>,
  choices: PathChoices,
  { mode, decisionOf }: SecretRules,
): PreparedFolder<F> {
  const isExcluded = excluding(choices);
  const files: SelectedFile[] = [];
  const chosen: NotUploaded[] = [];
  const suspected: NotUploaded[] = [];
  const undecided: Suspicion[] = [];
  const unchecked: SelectedFile[] = [];
  let bytes = 0;
  for (const file of selected.files) {
    const { path } = file;
    if (isExcluded(path)) {
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
      if (decision === 'exclude' || (decision === undefined && mode === 'block'))
        reason = { kind: 'secret', suspicions: check.suspicions };
    }
    if (reason === undefined) {
      files.push(file);
      bytes += file.bytes;
    } else suspected.push({ path, reason });
  }
  const excluded = [...selected.excluded, ...chosen, ...suspected];
  const selection = { ...selected, files, bytes, excluded };
  return { folder, selected, include, checks, choices, selection, undecided, unchecked };
}

/** After this many packings, files that change between check and packing are excluded. */
export const maxPackings = 3;

/**
 * Checks packed files again if they differ from the checked content. `isAsPacked` means that the
 * archives may be uploaded; otherwise `prepared` must be packed. Only the SHA-256 of packed content
 * counts, because files on disk may be swapped at any time.
 */
export async function checkPacked<F>(
  prepared: readonly PreparedFolder<F>[],
  archives: readonly Iterable<Pick<ManifestEntry, 'path' | 'sha256'>>[],
  steps: PreparationSteps<F>,
  { packings, ...progress }: StepProgress & { readonly packings: number },
): Promise<{ prepared: readonly PreparedFolder<F>[]; isAsPacked: boolean }> {
  if (steps.rules().mode === 'off') return { prepared, isAsPacked: true };
  const rechecked: PreparedFolder<F>[] = [];
  let isAsPacked = true;
  for (const [index, each] of prepared.entries()) {
    const packed = archives[index] ?? [];
    const checked = await checkFiles(each, packedUnchecked(each, packed), steps, progress);
    const changing = packedUnchecked(checked, packed);
    const omitted = packings < maxPackings ? [] : changing;
    const checks = new Map(checked.checks);
    for (const { path } of omitted) checks.set(path, { path, reason: 'changed' });
    const decided = applyChoices({ ...checked, checks }, each.choices, steps.rules());
    isAsPacked &&= changing.length === 0 && haveSamePaths(decided.selection.files, each.selection.files);
    rechecked.push(decided);
  }
  return { prepared: rechecked, isAsPacked };
}

function packedUnchecked<F>(
  { selection, checks }: PreparedFolder<F>,
  packed: Iterable<Pick<ManifestEntry, 'path' | 'sha256'>>,
): readonly SelectedFile[] {
  const unchecked = new Set<string>();
  for (const { path, sha256 } of packed) {
    const check = checks.get(path);
    if (check === undefined || 'reason' in check || check.sha256 !== sha256) unchecked.add(path);
  }
  return unchecked.size === 0 ? [] : selection.files.filter(({ path }) => unchecked.has(path));
}

function haveSamePaths(one: readonly SelectedFile[], other: readonly SelectedFile[]): boolean {
  return one.length === other.length && one.every(({ path }, at) => path === other[at]?.path);
}
