import * as vscode from 'vscode';
import type { SecretDecision } from '../../core/upload/choose/draft.ts';
import {
  choicesBelow,
  type FolderChoices,
  noChoices,
  replaceBelow,
} from '../../core/upload/choose/folderChoices.ts';
import type { Suspicion } from '../../core/upload/secrets/secretScan.ts';
import type { Folder } from '../folders.ts';

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
