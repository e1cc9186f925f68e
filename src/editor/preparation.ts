import { homedir } from 'node:os';
import * as vscode from 'vscode';
import { AssessmentError } from '../core/errors.ts';
import { among, leaveOut, type SecretDecision, withoutSecrets } from '../core/upload/choices.ts';
import type { Suspicion } from '../core/upload/secretScan.ts';
import { checkSecrets, type SecretCheck } from '../core/upload/secrets.ts';
import { type Selection, selectFiles } from '../core/upload/selection.ts';
import type { Folder } from './folders.ts';
import { countFiles, formatNumber } from './formats.ts';
import { readAssessmentSettings, readSecretCheck } from './settings.ts';

/** A person's choices for one folder, by path; a folder's path ends in `/`. */
interface FolderChoices {
  readonly include: readonly string[];
  readonly leaveOut: readonly string[];
}

/** What a person chose to leave out, to send, or to send in spite of a suspicion; remembered for this workspace, where no repository can make it. */
export class UploadChoices {
  readonly #memory: vscode.Memento;

  constructor(memory: vscode.Memento) {
    this.#memory = memory;
  }

  /** The choices below a folder, by paths relative to it, wherever in the workspace folder that holds it they were made. */
  of(folder: Folder): FolderChoices {
    const { include, leaveOut: left } = this.#stored(folder);
    const prefix = prefixOf(folder);
    const below = (paths: readonly string[]): string[] =>
      paths
        .filter((path) => path.startsWith(prefix) && path !== prefix)
        .map((path) => path.slice(prefix.length));
    return { include: below(include), leaveOut: below(left) };
  }

  /** Notes that a path is to be sent or left out; `isIgnored` where ignore files or settings leave it out otherwise. */
  async choose(folder: Folder, path: string, isSent: boolean, isIgnored: boolean): Promise<void> {
    const { include, leaveOut: left } = this.#stored(folder);
    const chosen = prefixOf(folder) + path;
    const isIncluded = include.includes(chosen);
    await this.#memory.update(keyOf(folder), {
      include: isSent && isIgnored ? including(include, chosen) : without(include, chosen),
      leaveOut: isSent || isIncluded ? without(left, chosen) : including(left, chosen),
    });
  }

  /** Takes back that a person left a path out; `others`, all that choices leave out, stay out where a folder above the path was chosen. */
  async restore(folder: Folder, path: string, others: readonly string[]): Promise<void> {
    const { include, leaveOut: left } = this.#stored(folder);
    const prefix = prefixOf(folder);
    const restored = prefix + path;
    const above = left.filter((each) => each.endsWith('/') && restored.startsWith(each));
    const kept = left.filter((each) => each !== restored && !above.includes(each));
    const still = others
      .map((each) => prefix + each)
      .filter((each) => each !== restored && above.some((up) => each.startsWith(up)));
    await this.#memory.update(keyOf(folder), { include, leaveOut: [...new Set([...kept, ...still])] });
  }

  #stored(folder: Folder): FolderChoices {
    return this.#memory.get<FolderChoices>(keyOf(folder), { include: [], leaveOut: [] });
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
}

/** A folder's files as they would be sent, with what the credential check found. */
export interface Prepared {
  readonly folder: Folder;
  readonly selection: Selection;
  readonly undecided: readonly Suspicion[];
}

/** What preparing an upload works with. */
export interface PreparationDeps {
  readonly choices: UploadChoices;
  /** The worker that asks about files when there are many. */
  readonly factsWorkerFile: string;
  /** The credential check's worker. */
  readonly secretWorkerFile: string;
}

/** Selects the files of each folder, applies the person's choices and looks for credentials, with a word to `onStep` for each step. */
export async function prepare(
  folders: readonly Folder[],
  deps: PreparationDeps,
  options: { signal: AbortSignal; onStep: (message: string) => void },
): Promise<{ prepared: readonly Prepared[]; again: () => readonly Prepared[] }> {
  const checked: { folder: Folder; base: Selection; check: SecretCheck }[] = [];
  for (const folder of folders) {
    options.onStep(vscode.l10n.t('selecting files…'));
    const { exclude, includeNestedRepositories } = readAssessmentSettings(folder.uri);
    const { include, leaveOut: left } = deps.choices.of(folder);
    const all = await selectFiles(folder.uri.fsPath, {
      exclude,
      includeNestedRepositories,
      include,
      within: vscode.workspace.getWorkspaceFolder(folder.uri)?.uri.fsPath,
      workerFile: deps.factsWorkerFile,
      signal: options.signal,
      surroundings: { home: homedir(), env: process.env },
    });
    const isLeftOut = among(left);
    const base = leaveOut(all, (path) => (isLeftOut(path) ? { kind: 'choice' } : undefined));
    options.onStep(vscode.l10n.t('looking for secrets…'));
    checked.push({ folder, base, check: await lookForSecrets(base, deps, options.signal) });
  }
  const decide = (): readonly Prepared[] =>
    checked.map(({ folder, base, check }) => ({
      folder,
      ...withoutSecrets(
        base,
        check,
        (sha256) => deps.choices.decisionOf(sha256),
        readSecretCheck() === 'block',
      ),
    }));
  return { prepared: decide(), again: decide };
}

async function lookForSecrets(
  selection: Selection,
  deps: PreparationDeps,
  signal: AbortSignal,
): Promise<SecretCheck> {
  if (readSecretCheck() === 'off') return { suspicions: [], unchecked: [] };
  const { root, files } = selection;
  return checkSecrets({ root, files, workerFile: deps.secretWorkerFile, signal });
}

/** Asks about files that look like they hold credentials, when the setting says so; false when the person stops. Throws `nothingToSend` for a folder of which nothing is left. */
export async function settleSecrets(prepared: readonly Prepared[], choices: UploadChoices): Promise<boolean> {
  const undecided = prepared.flatMap((each) => each.undecided);
  if (readSecretCheck() !== 'block' || undecided.length === 0) return true;
  const t = vscode.l10n.t;
  const files = new Set(undecided.map(({ path }) => path));
  const leave = t('Leave Them Out');
  const each = t('Decide One by One…');
  const choice = await vscode.window.showWarningMessage(
    t('Suspected secrets in {0}', countFiles(files.size)),
    { modal: true, detail: describeSuspicions(undecided) },
    leave,
    each,
  );
  if (choice === leave) await choices.decide(undecided, 'leaveOut');
  if (choice === each) return decideOneByOne(undecided, choices);
  return choice === leave;
}

/** The first suspicions, a line each, and how many more there are. */
export function describeSuspicions(suspicions: readonly Suspicion[]): string {
  const most = 10;
  const lines = suspicions.slice(0, most).map(describeSuspicion);
  const more = suspicions.length - lines.length;
  return [...lines, ...(more > 0 ? [vscode.l10n.t('… and {0} more', formatNumber(more))] : [])].join('\n');
}

/** Where and what a suspicion is, masked, on one line. */
export function describeSuspicion({ path, line, rule, masked }: Suspicion): string {
  const place = line === undefined ? path : `${path}:${String(line)}`;
  return [place, rule.replace(/^secretlint\//, ''), masked].filter((part) => part !== '').join('  ');
}

/** Makes sure that every folder has something to send. */
export function requireFiles(prepared: readonly Prepared[]): void {
  for (const { selection, folder } of prepared) {
    if (selection.files.length === 0) throw new AssessmentError('nothingToSend', { subject: folder.name });
  }
}

async function decideOneByOne(undecided: readonly Suspicion[], choices: UploadChoices): Promise<boolean> {
  // Equal content is one decision.
  const byContent = Map.groupBy(undecided, ({ sha256 }) => sha256);
  const picked = await vscode.window.showQuickPick(
    [...byContent.values()].map((suspicions) => ({
      label: [...new Set(suspicions.map(({ path }) => path))].join(', '),
      detail: suspicions
        .slice(0, 3)
        .map(({ rule, masked }) => `${rule.replace(/^secretlint\//, '')} ${masked}`.trim())
        .join(' · '),
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

function including(paths: readonly string[], path: string): string[] {
  return [...without(paths, path), path];
}

function without(paths: readonly string[], path: string): string[] {
  return paths.filter((each) => each !== path);
}

function keyOf({ uri }: Folder): string {
  return `upload:${(vscode.workspace.getWorkspaceFolder(uri)?.uri ?? uri).toString()}`;
}

/** The path of a folder in the workspace folder that holds it: empty for that folder itself, else ending in `/`. */
function prefixOf({ uri }: Folder): string {
  const top = vscode.workspace.getWorkspaceFolder(uri)?.uri ?? uri;
  return uri.path === top.path ? '' : `${uri.path.slice(top.path.length).replace(/^\//, '')}/`;
}
