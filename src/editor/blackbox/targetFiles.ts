import { readFile, stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import * as vscode from 'vscode';
import { AssessmentError } from '../../core/errors.ts';
import { realPath } from '../../core/paths.ts';
import { checkSecrets } from '../../core/upload/secrets/checkSecrets.ts';
import type { PasswordRequest } from '../../core/workflows/passwordStore.ts';
import {
  readTargetFile,
  type TargetFile,
  type TargetProblem,
  toInput,
} from '../../core/workflows/targetFile.ts';
import { targetFileSuffix } from '../../core/workflows/workflow.ts';
import { answerOf, maxTransferMs } from '../../core/yieldingWork.ts';
import { openDocument, saveDocument } from '../folders.ts';
import { type Destination, readSecretCheck } from '../settings.ts';
import { askInDialog, showInformation } from '../showMessage.ts';
import { describeSuspicions } from '../upload/checkAndPack.ts';

const t = vscode.l10n.t;

const everyTargetFile = `**/*${targetFileSuffix}`;

export const targetFileSelector: vscode.DocumentFilter = { scheme: 'file', pattern: everyTargetFile };

export function isUsableTargetFile(uri: vscode.Uri): boolean {
  const isOnDisk = uri.scheme === 'file' && uri.path.endsWith(targetFileSuffix);
  return isOnDisk && vscode.workspace.isTrusted && vscode.workspace.getWorkspaceFolder(uri) !== undefined;
}

export async function pickTargetFile(): Promise<vscode.Uri | undefined> {
  if (vscode.workspace.workspaceFolders === undefined) throw new AssessmentError('noFolder');
  const search = vscode.workspace.findFiles(everyTargetFile, searchExcludes());
  const found = await answerOf(search, t('VS Code’s file search'), { maxMs: maxTransferMs });
  const files = found.map(({ fsPath }) => fsPath);
  if (files.length === 0) {
    const message = t('This workspace has no blackbox target file. Create one first.');
    const create = { title: t('New Blackbox Target File…'), command: 'whitebox.newBlackboxTarget' };
    await showInformation(message, create);
    return undefined;
  }
  const options = { title: t('Choose a Blackbox Target File'), ignoreFocusOut: true };
  const picked = files.length === 1 ? files[0] : await vscode.window.showQuickPick(files.sort(), options);
  return picked === undefined ? undefined : vscode.Uri.file(picked);
}

function searchExcludes(): string {
  const settings = vscode.workspace.getConfiguration();
  const globs = ['files.exclude', 'search.exclude'].flatMap((key) =>
    Object.entries(settings.get<Record<string, unknown>>(key, {})).flatMap(([glob, isOn]) =>
      isOn === true && !/[{},]/.test(glob) ? [glob] : [],
    ),
  );
  return `{${globs.join(',')}}`;
}

/** Diagnostics, lenses, and quick fixes read the same document, so each version is parsed once. */
const readings = new WeakMap<
  vscode.TextDocument,
  { readonly version: number; readonly read: ReturnType<typeof readTargetFile> }
>();

export function readDocument(document: vscode.TextDocument): ReturnType<typeof readTargetFile> {
  const { version } = document;
  const known = readings.get(document);
  if (known?.version === version) return known.read;
  const read = readTargetFile(document.getText());
  readings.set(document, { version, read });
  return read;
}

export async function readSaved(
  uri: vscode.Uri,
  diagnostics: { refuse(document: vscode.TextDocument, problems: readonly TargetProblem[]): void },
): Promise<TargetFile | undefined> {
  // If the file is missing, the message is made from the code and path in the error of `stat`.
  await stat(uri.fsPath);
  const document = await openDocument(uri);
  if (document.isDirty && !(await saveDocument(document))) return undefined;
  // VS Code may not have noticed yet that another program changed the file.
  const text = await readFile(uri.fsPath, 'utf8');
  const read = readTargetFile(text);
  if ('file' in read) return read.file;
  diagnostics.refuse(document, read.problems);
  return undefined;
}

export async function passesSecretCheck(uri: vscode.Uri, workerFile: string): Promise<boolean> {
  if (readSecretCheck() === 'off') return true;
  const path = await realPath(uri.fsPath);
  const [root, name] = [dirname(path), basename(path)];
  const files = [{ path: name, bytes: (await stat(path)).size, mode: 0o644 as const }];
  const result = (await checkSecrets({ root, files, workerFile })).get(name);
  if (result === undefined || 'reason' in result)
    throw new AssessmentError('storage', { subject: uri.fsPath, detail: result?.reason ?? 'unreadable' });
  const suspicions = result.suspicions.filter(({ kind }) => kind === 'content');
  if (suspicions.length === 0) return true;
  const send = t('Send Anyway');
  const detail = [
    t('Nothing has been sent. These look like passwords, keys, or tokens. The values are masked:'),
    describeSuspicions(suspicions),
  ];
  return (await askInDialog({ question: t('Suspected secrets in the target file'), detail }, send)) === send;
}

export function requestsOf(
  file: TargetFile,
  targetFile: string,
  destination: Destination,
): readonly PasswordRequest[] {
  const workflows = ['blackbox-crawl', 'blackbox-assessment'] as const;
  return workflows.map((workflow) => ({
    ...destination,
    workflow,
    targetFile,
    input: toInput(file, workflow),
  }));
}
