import * as vscode from 'vscode';
import { AssessmentError } from '../../core/errors.ts';
import { pathInside, pathKey } from '../../core/paths.ts';
import { choicesBelow, type PathChoices, replaceBelow } from '../../core/upload/choose/choices.ts';
import {
  checkPacked,
  applyChoices,
  type PreparationSteps,
  prepareFolders,
  type PreparedFolder,
  type SecretDecision,
  type StepProgress,
} from '../../core/upload/choose/prepareUpload.ts';
import type { ManifestEntry } from '../../core/upload/archive/packing.ts';
import { gitHome } from '../../core/upload/ignore/repository.ts';
import { checkSecrets } from '../../core/upload/secrets/checkSecrets.ts';
import type { ScannedFile, Suspicion } from '../../core/upload/secrets/scanFile.ts';
import { selectFiles } from '../../core/upload/select/selectFiles.ts';
import { visibleLine, visibleName } from '../../core/visibleText.ts';
import type { FolderCalls } from '../../core/yieldingWork.ts';
import type { Folder } from '../folders.ts';
import { countFiles, firstLines, formatList } from '../formats.ts';
import { byteSteps } from '../progress.ts';
import { readAssessmentSettings, readSecretCheck } from '../settings.ts';
import { askInDialog } from '../showMessage.ts';

const t = vscode.l10n.t;

export type Prepared = PreparedFolder<Folder>;

export interface PreparationDeps {
  readonly choices: UploadChoices;
  readonly steps: PreparationSteps<Folder>;
}

export function createPreparation(
  memory: vscode.Memento,
  secretWorkerFile: string,
  calls: FolderCalls,
): PreparationDeps {
  const choices = new UploadChoices(memory);
  const scanned = new Map<string, ScannedFile>();
  const steps: PreparationSteps<Folder> = {
    choicesOf: (folder) => choices.of(folder),
    rules: () => ({ mode: readSecretCheck(), decisionOf: (sha256) => choices.decisionOf(sha256) }),
    select: async (folder, include, { signal, onStep }) => {
      onStep(t('selecting files…'));
      let reportedAt = performance.now();
      const { exclude, includeNestedRepositories } = readAssessmentSettings(folder.uri);
      return selectFiles(folder.uri.fsPath, {
        exclude,
        includeNestedRepositories,
        include,
        calls,
        within: vscode.workspace.getWorkspaceFolder(folder.uri)?.uri.fsPath,
        signal,
        onProgress: (files) => {
          // Five updates a second are enough to read.
          if (performance.now() - reportedAt < 200) return;
          reportedAt = performance.now();
          onStep(t('selecting files: {0} so far', countFiles(files)));
        },
        surroundings: { home: gitHome(), env: process.env },
      });
    },
    check: async (root, files, { signal, onStep }) => {
      onStep(t('looking for secrets…'));
      const onBytes = byteSteps(onStep, (done, total) => t('looking for secrets: {0} of {1}', done, total));
      return checkSecrets({ root, files, workerFile: secretWorkerFile, memory: scanned, signal, onBytes });
    },
    forget: () => scanned.clear(),
  };
  return { choices, steps };
}

interface Packed {
  readonly manifests: readonly Iterable<ManifestEntry>[];
  discard(): Promise<void>;
}

/**
 * Asks about secrets, then packs. Repeats this if packed files differ from the checked content. The
 * caller discards the returned archives. Returns undefined if the user cancels.
 */
export async function packChecked<P extends Packed>(
  folders: readonly Folder[],
  pack: (decided: readonly Prepared[]) => Promise<P | undefined>,
  deps: PreparationDeps,
  progress: StepProgress,
): Promise<{ readonly packed: P; readonly prepared: readonly Prepared[] } | undefined> {
  let prepared: readonly Prepared[] = await prepareFolders(folders, deps.steps, progress);
  for (let packings = 1; ; packings += 1) {
    progress.onStep(t('waiting for your confirmation'));
    const decided = await decideSecrets(prepared, deps);
    const packed = decided && (await pack(decided));
    if (decided === undefined || packed === undefined) return undefined;
    let isAsPacked = false;
    try {
      const options = { ...progress, packings };
      ({ prepared, isAsPacked } = await checkPacked(decided, packed.manifests, deps.steps, options));
      if (isAsPacked) return { packed, prepared };
    } finally {
      if (!isAsPacked) await packed.discard();
    }
  }
}

async function decideSecrets(
  prepared: readonly Prepared[],
  { choices, steps }: PreparationDeps,
): Promise<readonly Prepared[] | undefined> {
  if (!(await askAboutSecrets(prepared, choices))) return undefined;
  // Applies the choices of the preparation: files that were added in the preview since then haven't
  // been checked for secrets.
  const decided = prepared.map((folder) => applyChoices(folder, folder.choices, steps.rules()));
  for (const { selection, folder } of decided) {
    if (selection.files.length === 0) throw new AssessmentError('nothingToSend', { subject: folder.name });
  }
  return decided;
}

async function askAboutSecrets(prepared: readonly Prepared[], choices: UploadChoices): Promise<boolean> {
  const undecided = prepared.flatMap((folder) => folder.undecided);
  if (readSecretCheck() !== 'block' || undecided.length === 0) return true;
  const files = new Set(undecided.map(({ path }) => path));
  const exclude = t('Exclude These Files');
  const oneByOne = t('Decide One by One…');
  const choice = await askInDialog(
    {
      question: t('Suspected secrets in {0}', countFiles(files.size)),
      detail: [
        t('Nothing has been sent. These look like passwords, keys, or tokens. The values are masked:'),
        describeSuspicions(undecided),
        t(
          '“{0}” continues without these files. “{1}” lists them so that you can choose which to upload anyway. To stop, choose Cancel.',
          exclude,
          oneByOne,
        ),
      ],
    },
    exclude,
    oneByOne,
  );
  if (choice === exclude) await choices.decide(undecided, 'exclude');
  if (choice === oneByOne) return decideOneByOne(undecided, choices);
  return choice === exclude;
}

export function describeSuspicions(suspicions: readonly Suspicion[]): string {
  return firstLines(suspicions.slice(0, 10).map(describeSuspicion), suspicions.length);
}

export function describeSuspicion(suspicion: Suspicion): string {
  const { path, line } = suspicion;
  const name = visibleName(path);
  return `${line === undefined ? name : `${name}:${String(line)}`}  ${kindOf(suspicion)}`;
}

function kindOf({ kind, rule, masked }: Suspicion): string {
  if (kind === 'name') return t('a file name like {0}', rule);
  const what = rule === 'assignment' ? t('assigned value') : rule.replaceAll('-', ' ');
  return `${what}  ${visibleLine(masked)}`.trim();
}

async function decideOneByOne(undecided: readonly Suspicion[], choices: UploadChoices): Promise<boolean> {
  // Decisions are stored by content, so files with the same content share one entry.
  const byContent = Map.groupBy(undecided, ({ sha256 }) => sha256);
  const picked = await vscode.window.showQuickPick(
    [...byContent.values()].map((suspicions) => ({
      label: formatList(new Set(suspicions.map(({ path }) => visibleName(path)))),
      detail: suspicions.slice(0, 3).map(kindOf).join(' · '),
      suspicions,
    })),
    {
      canPickMany: true,
      ignoreFocusOut: true,
      title: t('Files That May Contain Secrets'),
      placeHolder: t('Select the files to upload anyway. The others are excluded.'),
    },
  );
  if (picked === undefined) return false;
  await choices.decide(undecided, 'exclude');
  await choices.decide(
    picked.flatMap(({ suspicions }) => suspicions),
    'send',
  );
  return true;
}

/** The choices are in the workspace state, where no repository can write. */
export class UploadChoices {
  readonly #memory: vscode.Memento;

  constructor(memory: vscode.Memento) {
    this.#memory = memory;
  }

  /** Folders in the same workspace folder share choices about the same paths. */
  of(folder: Folder): PathChoices {
    return choicesBelow(this.#stored(folder), prefixOf(folder));
  }

  async change(folder: Folder, change: (choices: PathChoices) => PathChoices): Promise<void> {
    const changed = replaceBelow(this.#stored(folder), prefixOf(folder), change(this.of(folder)));
    await this.#memory.update(keyOf(folder), changed);
  }

  decisionOf(sha256: string): SecretDecision | undefined {
    return this.#memory.get<Record<string, SecretDecision>>('secrets', {})[sha256];
  }

  async decide(suspicions: readonly Suspicion[], decision: SecretDecision): Promise<void> {
    const decided = Object.fromEntries(suspicions.map(({ sha256 }) => [sha256, decision]));
    await this.#memory.update('secrets', { ...this.#memory.get<object>('secrets'), ...decided });
  }

  #stored(folder: Folder): PathChoices {
    return this.#memory.get<PathChoices>(keyOf(folder), {});
  }
}

function keyOf({ uri }: Folder): string {
  return `upload:${pathKey((vscode.workspace.getWorkspaceFolder(uri)?.uri ?? uri).fsPath)}`;
}

function prefixOf({ uri }: Folder): string {
  const top = vscode.workspace.getWorkspaceFolder(uri)?.uri ?? uri;
  const path = pathInside(top.fsPath, uri.fsPath) ?? '';
  return path === '' ? '' : `${path}/`;
}
