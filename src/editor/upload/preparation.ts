import * as vscode from 'vscode';
import { AssessmentError } from '../../core/errors.ts';
import { visibleLine, visibleName } from '../../core/visibleText.ts';
import {
  checkPacked,
  decide,
  type PreparationSteps,
  type Prepared as PreparedFolder,
  prepareFolders,
  type SecretDecision,
  type SecretRules,
  type StepProgress,
} from '../../core/upload/choose/prepare.ts';
import { gitHome } from '../../core/upload/ignore/repository.ts';
import { checkSecrets, SecretMemory } from '../../core/upload/secrets/checkSecrets.ts';
import type { Suspicion } from '../../core/upload/secrets/scanFile.ts';
import { selectFiles } from '../../core/upload/select/selectFiles.ts';
import type { Folder } from '../folders.ts';
import { countFiles, firstLines } from '../formats.ts';
import { byteSteps } from '../progress.ts';
import { readAssessmentSettings, readSecretCheck } from '../settings.ts';
import { askInDialog } from '../showMessage.ts';
import {
  choicesBelow,
  type FolderChoices,
  noChoices,
  replaceBelow,
} from '../../core/upload/choose/choices.ts';

/** A folder's files as they would be sent, with what the credential check found. */
export type Prepared = PreparedFolder<Folder>;

/** What preparing an upload works with. */
export interface PreparationDeps {
  readonly choices: UploadChoices;
  readonly secretMemory: SecretMemory;
  /** The credential check's worker. */
  readonly secretWorkerFile: string;
}

export function createPreparation(memory: vscode.Memento, secretWorkerFile: string): PreparationDeps {
  return { choices: new UploadChoices(memory), secretMemory: new SecretMemory(), secretWorkerFile };
}

/** The steps of a preparation, with a word about each. */
export function preparationSteps(deps: PreparationDeps): PreparationSteps<Folder> {
  const t = vscode.l10n.t;
  const { choices, secretMemory: memory } = deps;
  return {
    choicesOf: (folder) => choices.of(folder),
    rules: () => rulesOf(deps),
    select: async (folder, include, { signal, onStep }) => {
      onStep(t('selecting files…'));
      let saidAt = performance.now();
      const { exclude, includeNestedRepositories } = readAssessmentSettings(folder.uri);
      return selectFiles(folder.uri.fsPath, {
        exclude,
        includeNestedRepositories,
        include,
        within: vscode.workspace.getWorkspaceFolder(folder.uri)?.uri.fsPath,
        signal,
        onProgress: (files) => {
          // Called far more often than anybody can read.
          if (performance.now() - saidAt < 200) return;
          saidAt = performance.now();
          onStep(t('selecting files: {0} so far', countFiles(files)));
        },
        surroundings: { home: gitHome(), env: process.env },
      });
    },
    check: async (root, files, { signal, onStep }) => {
      onStep(t('looking for secrets…'));
      const onBytes = byteSteps(onStep, (done, total) => t('looking for secrets: {0} of {1}', done, total));
      return checkSecrets({ root, files, workerFile: deps.secretWorkerFile, memory, signal, onBytes });
    },
  };
}

function rulesOf({ choices }: PreparationDeps): SecretRules {
  return { mode: readSecretCheck(), decisionOf: (sha256) => choices.decisionOf(sha256) };
}

/** Selects the files of each folder, applies the person's choices and looks for credentials, with a word to `onStep` for each step. */
export async function prepare(
  folders: readonly Folder[],
  deps: PreparationDeps,
  progress: StepProgress,
): Promise<readonly Prepared[]> {
  return prepareFolders(folders, preparationSteps(deps), progress);
}

/** Whether what was packed, an archive for each folder, may go as it is, and what is to be packed again if not; `packings` counts how often it was packed. */
export async function prepareAgain(
  prepared: readonly Prepared[],
  packed: Parameters<typeof checkPacked>[1],
  deps: PreparationDeps,
  progress: StepProgress & { readonly packings: number },
): Promise<{ prepared: readonly Prepared[]; isAsPacked: boolean }> {
  return checkPacked(prepared, packed, preparationSteps(deps), progress);
}

/** Asks about files that look like they hold credentials, when the setting says so, and gives what is to be sent then; undefined when the person stops. Throws `nothingToSend` for a folder of which nothing is left. */
export async function settle(
  prepared: readonly Prepared[],
  deps: PreparationDeps,
): Promise<readonly Prepared[] | undefined> {
  if (!(await settleSecrets(prepared, deps.choices))) return undefined;
  const rules = rulesOf(deps);
  // Only the decisions count anew: what a person chose in the preview meanwhile was not looked into.
  const settled = prepared.map((each) => decide(each, each.choices, rules));
  for (const { selection, folder } of settled) {
    if (selection.files.length === 0) throw new AssessmentError('nothingToSend', { subject: folder.name });
  }
  return settled;
}

async function settleSecrets(prepared: readonly Prepared[], choices: UploadChoices): Promise<boolean> {
  const undecided = prepared.flatMap((each) => each.undecided);
  if (readSecretCheck() !== 'block' || undecided.length === 0) return true;
  const t = vscode.l10n.t;
  const files = new Set(undecided.map(({ path }) => path));
  const leave = t('Leave Them Out');
  const each = t('Decide One by One…');
  const choice = await askInDialog(
    {
      question: t('Suspected secrets in {0}', countFiles(files.size)),
      detail: [
        t(
          'Nothing has been sent. These look like passwords, keys or tokens; what was found is shown masked:',
        ),
        describeSuspicions(undecided),
        t(
          '“{0}” goes on without these files. “{1}” lists them, and you choose which are uploaded all the same. Cancel stops here.',
          leave,
          each,
        ),
      ].join('\n\n'),
    },
    leave,
    each,
  );
  if (choice === leave) await choices.decide(undecided, 'leaveOut');
  if (choice === each) return decideOneByOne(undecided, choices);
  return choice === leave;
}

/** The first suspicions, a line each, and how many more there are. */
export function describeSuspicions(suspicions: readonly Suspicion[]): string {
  return firstLines(suspicions.slice(0, 10).map(describeSuspicion), suspicions.length);
}

/** Where and what a suspicion is, masked, on one line. */
export function describeSuspicion(suspicion: Suspicion): string {
  const { path, line } = suspicion;
  const name = visibleName(path);
  return `${line === undefined ? name : `${name}:${String(line)}`}  ${kindOf(suspicion)}`;
}

/** What was found: a name that tells of credentials, or the kind of one and the little of it that is shown. */
function kindOf({ kind, rule, masked }: Suspicion): string {
  const t = vscode.l10n.t;
  if (kind === 'name') return t('a file name like {0}', rule);
  const what =
    rule === 'assignment' ? t('assigned value') : rule.replace(/^secretlint\//, '').replaceAll('-', ' ');
  return `${what}  ${visibleLine(masked)}`.trim();
}

async function decideOneByOne(undecided: readonly Suspicion[], choices: UploadChoices): Promise<boolean> {
  // Equal content is one decision.
  const byContent = Map.groupBy(undecided, ({ sha256 }) => sha256);
  const picked = await vscode.window.showQuickPick(
    [...byContent.values()].map((suspicions) => ({
      label: [...new Set(suspicions.map(({ path }) => visibleName(path)))].join(', '),
      detail: suspicions.slice(0, 3).map(kindOf).join(' · '),
      suspicions,
    })),
    {
      canPickMany: true,
      ignoreFocusOut: true,
      title: vscode.l10n.t('Files That Look Like They Hold Secrets'),
      placeHolder: vscode.l10n.t('Check those that are to be uploaded all the same; the others are left out'),
    },
  );
  if (picked === undefined) return false;
  await choices.decide(undecided, 'leaveOut');
  await choices.decide(
    picked.flatMap(({ suspicions }) => suspicions),
    'send',
  );
  return true;
}

/** What a person chose to leave out, to send, or to send in spite of a suspicion; remembered for this workspace, where no repository can make it. */
export class UploadChoices {
  readonly #memory: vscode.Memento;

  constructor(memory: vscode.Memento) {
    this.#memory = memory;
  }

  /** The choices below a folder, wherever in the workspace folder that holds it they were made. */
  of(folder: Folder): FolderChoices {
    return choicesBelow(this.#stored(folder), prefixOf(folder));
  }

  /** Changes the choices below a folder. */
  async change(folder: Folder, change: (choices: FolderChoices) => FolderChoices): Promise<void> {
    const changed = replaceBelow(this.#stored(folder), prefixOf(folder), change(this.of(folder)));
    await this.#memory.update(keyOf(folder), changed);
  }

  decisionOf(sha256: string): SecretDecision | undefined {
    return this.#memory.get<Record<string, SecretDecision>>('secrets', {})[sha256];
  }

  async decide(suspicions: readonly Suspicion[], decision: SecretDecision): Promise<void> {
    const decided = Object.fromEntries(suspicions.map(({ sha256 }) => [sha256, decision]));
    await this.#memory.update('secrets', {
      ...this.#memory.get<Record<string, SecretDecision>>('secrets', {}),
      ...decided,
    });
  }

  #stored(folder: Folder): FolderChoices {
    // Those that an earlier version stored do not have all of it.
    return { ...noChoices, ...this.#memory.get<Partial<FolderChoices>>(keyOf(folder)) };
  }
}

function keyOf({ uri }: Folder): string {
  return `upload:${(vscode.workspace.getWorkspaceFolder(uri)?.uri ?? uri).toString()}`;
}

/** The path of a folder in the workspace folder that holds it: empty for that folder itself, else ending in `/`. */
function prefixOf({ uri }: Folder): string {
  const top = vscode.workspace.getWorkspaceFolder(uri)?.uri ?? uri;
  return uri.path === top.path ? '' : `${uri.path.slice(top.path.length).replace(/^\//, '')}/`;
}
