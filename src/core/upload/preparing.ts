import { type Decided, decide, type Draft, newDraft, type SecretRules, withCheck } from './draft.ts';
import type { FolderChoices } from './folderChoices.ts';
import type { SecretCheck } from './secrets.ts';
import type { SelectedFile, Selection } from './selection.ts';

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

/** Looks for credentials anew in what is to be sent; files that have not changed since they were looked into are not read again. */
export async function checkAgain<F>(
  prepared: readonly Prepared<F>[],
  steps: PreparationSteps<F>,
  waiting: Waiting,
): Promise<Prepared<F>[]> {
  if (steps.rules().mode === 'off') return [...prepared];
  const checked: Prepared<F>[] = [];
  for (const { folder, draft, choices, selection } of prepared) {
    const found = await steps.check(draft.all.root, selection.files, waiting);
    checked.push(decideFor({ folder, draft: withCheck(draft, selection.files, found) }, choices, steps));
  }
  return checked;
}

/** True when exactly these files of the same folders would be sent, which is what was packed. */
export function sendsSame(
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
