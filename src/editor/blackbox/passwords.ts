import * as vscode from 'vscode';
import { originOf } from '../../core/api/address.ts';
import { AssessmentError } from '../../core/errors.ts';
import { clip, visibleLine } from '../../core/visibleText.ts';
import { maxPasswordLength } from '../../core/workflows/blackboxInput.ts';
import {
  type EnteredPasswords,
  type Login,
  loginsOf,
  type PasswordRequest,
  type PasswordStore,
} from '../../core/workflows/passwordStore.ts';
import {
  changesBetween,
  type InputParts,
  partsOf,
  type PartChange,
} from '../../core/workflows/requestChanges.ts';
import { readTargetFile, takePasswords } from '../../core/workflows/targetFile.ts';
import { openFile } from '../errors/errorActions.ts';
import { answerAbout, openDocument, saveDocument } from '../folders.ts';
import { formatNumber } from '../formats.ts';
import { readDestination } from '../settings.ts';
import { askInDialog, showWarning } from '../showMessage.ts';
import type { TargetDiagnostics } from './targetDiagnostics.ts';
import { isUsableTargetFile, readSaved, requestsOf } from './targetFiles.ts';
import type { RequestDocuments } from './exactRequest.ts';
import { describeChanges, documentOfChanges } from './whatChanged.ts';

const t = vscode.l10n.t;

/**
 * Adds to `entered` the passwords that aren't saved for `request`. The saved password of an earlier
 * request from the same target file is used, but the user must agree if the request has changed.
 */
export async function askForPasswords(
  request: PasswordRequest,
  entered: EnteredPasswords,
  deps: PasswordDeps,
): Promise<'complete' | 'cancelled' | 'readingChanges'> {
  const saved = await deps.passwords.get(request);
  const keys = deps.passwords.keysOf(request);
  for (const [index, login] of loginsOf(request).entries()) {
    const key = keys[index] ?? '';
    if (saved[index] !== undefined || entered.has(key)) continue;
    const answer = await askForPassword(request, login, deps);
    if (typeof answer === 'string') return answer;
    entered.set(key, answer.password);
  }
  return 'complete';
}

export interface PasswordDeps {
  readonly passwords: PasswordStore;
  readonly requests: Pick<RequestDocuments, 'showChanges' | 'hasShown'>;
}

type PasswordAnswer = { readonly password: string } | 'cancelled' | 'readingChanges';

async function askForPassword(
  request: PasswordRequest,
  login: Login,
  { passwords, requests }: PasswordDeps,
): Promise<PasswordAnswer> {
  const earlier = await passwords.findEarlier(request, login);
  if (earlier === undefined) return inputPassword(login);
  if (earlier.from === 'otherFile') return replacePassword(login);
  const parts = partsOf(request.input ?? { target_urls: [] });
  const changes = changesBetween(earlier.parts, parts, request.workflow === 'blackbox-crawl');
  return changes.length === 0
    ? { password: earlier.password }
    : offerPassword(login, earlier.password, changes, requests);
}

async function replacePassword(login: Login): Promise<PasswordAnswer> {
  const enter = t('Enter a Password…');
  const question = t('The saved password for {0} belongs to another target file.', nameOf(login));
  const detail = t('Nothing has been sent. VS Code can’t show what changed. Enter the password again.');
  return (await askInDialog({ question, detail }, enter)) === enter ? inputPassword(login) : 'cancelled';
}

/** If the dialog can't show all changes, it offers the password only after they were opened. */
async function offerPassword(
  login: Login,
  password: string,
  changes: readonly PartChange[],
  requests: PasswordDeps['requests'],
): Promise<PasswordAnswer> {
  const { text, isWhole } = describeChanges(changes);
  const whole = documentOfChanges(changes);
  // The Enter key presses the first button, so that button sends nothing.
  const enter = t('Enter a Password…');
  const use = t('Use Saved Password');
  const showAll = t('Show All Changes');
  const choice = await askInDialog(
    {
      question: t('The request that uses the password for {0} has changed.', nameOf(login)),
      detail: [
        t('Nothing has been sent. Added (+) and removed (−) since this password was saved:'),
        text,
        !isWhole && t('To use the saved password, first choose “{0}” and read the changes.', showAll),
      ],
    },
    enter,
    (isWhole || requests.hasShown(whole)) && use,
    !isWhole && showAll,
  );
  switch (choice) {
    case enter:
      return inputPassword(login);
    case use:
      return { password };
    case showAll:
      await requests.showChanges(whole);
      return 'readingChanges';
    default:
      return 'cancelled';
  }
}

async function inputPassword(login: Login): Promise<{ readonly password: string } | 'cancelled'> {
  const password = await vscode.window.showInputBox({
    title: t('Password for {0}', nameOf(login)),
    prompt: t(
      'Use a test account, because the service logs in with it. VS Code saves the password in its secret storage, for this request only. The password can be empty.',
    ),
    password: true,
    ignoreFocusOut: true,
    validateInput: (text) =>
      text.length > maxPasswordLength
        ? t('At most {0} characters are allowed here.', formatNumber(maxPasswordLength))
        : undefined,
  });
  return password === undefined ? 'cancelled' : { password };
}

function nameOf({ id, role }: Login): string {
  return t('{0} ({1})', clip(visibleLine(id), 80), clip(visibleLine(role), 80));
}

/** Keeps the user's edits: if the document changes meanwhile, it is read again, at most twice. */
export async function movePasswords(uri: vscode.Uri, deps: ManageDeps): Promise<void> {
  const destination = readDestination();
  if (destination === undefined) throw new AssessmentError('notSignedIn');
  const document = await openDocument(uri);
  const moved = new Map<string, string>();
  for (let tries = 1; tries <= 3; tries += 1) {
    const { version } = document;
    const { text, passwords } = takePasswords(document.getText());
    const read = readTargetFile(text);
    if (!('file' in read)) {
      // A password is saved for a request, and a file with other problems has no request.
      deps.diagnostics.refuse(document, read.problems);
      return;
    }
    const requests = requestsOf(read.file, uri.fsPath, destination);
    await saveNew(requests, passwords, moved, deps);
    if (document.version !== version) continue;
    const edit = new vscode.WorkspaceEdit();
    edit.replace(uri, new vscode.Range(0, 0, document.lineCount, 0), text);
    const isEdited = await answerAbout(uri, vscode.workspace.applyEdit(edit));
    // VS Code refuses an edit of a document that has changed.
    if (!isEdited && document.version !== version) continue;
    const isSaved = isEdited && (await saveDocument(document));
    const message = isSaved
      ? t(
          'The passwords are now in VS Code’s secret storage and no longer in the file. If the file was saved, synced, or committed with the passwords, change the passwords in the application.',
        )
      : t(
          'The passwords are now in VS Code’s secret storage. {0} wasn’t saved, so the file on disk still contains them. Save the file. If the file was synced or committed, change the passwords in the application.',
          visibleLine(uri.fsPath),
        );
    await showWarning(message, { ...openFile(uri.fsPath), title: t('Show') });
    return;
  }
  const message = t(
    'The passwords are still in {0}, because the file changed while they were saved. Try again.',
    visibleLine(uri.fsPath),
  );
  await showWarning(message);
}

/** A login has one password per request. `moved` has the passwords that earlier tries saved. */
async function saveNew(
  requests: readonly PasswordRequest[],
  taken: ReadonlyMap<number, string>,
  moved: Map<string, string>,
  { passwords }: Pick<ManageDeps, 'passwords'>,
): Promise<void> {
  for (const request of requests) {
    const keys = passwords.keysOf(request);
    for (const [index, login] of loginsOf(request).entries()) {
      const password = taken.get(index);
      const key = `${request.workflow} ${keys[index] ?? ''}`;
      if (password === undefined || moved.get(key) === password) continue;
      await passwords.save(request, login, password);
      moved.set(key, password);
    }
  }
}

interface ManageDeps {
  readonly passwords: PasswordStore;
  readonly diagnostics: Pick<TargetDiagnostics, 'refuse'>;
}

export async function managePasswords(
  targetFile: vscode.Uri | undefined,
  { passwords, diagnostics }: ManageDeps,
): Promise<void> {
  const active = vscode.window.activeTextEditor?.document.uri;
  const uri = targetFile ?? (active && isUsableTargetFile(active) ? active : undefined);
  const destination = readDestination();
  if (uri !== undefined && destination === undefined) throw new AssessmentError('notSignedIn');
  const file = uri && (await readSaved(uri, diagnostics));
  if (uri !== undefined && file === undefined) return;
  const requests = uri && file && destination ? requestsOf(file, uri.fsPath, destination) : [];
  for (;;) {
    const rows = [
      ...(await rowsOfFile(requests, passwords)),
      { label: t('Saved passwords'), kind: vscode.QuickPickItemKind.Separator },
      ...(await savedRows(passwords)),
    ];
    const picked = await vscode.window.showQuickPick<PasswordRow>(rows, {
      title: t('Manage Blackbox Passwords'),
      placeHolder:
        rows.length === 1
          ? t(
              'No passwords are saved. When you start a run, VS Code asks for the passwords that its target file needs.',
            )
          : t('Choose a login from the file to set its password, or a saved password to delete it'),
      ignoreFocusOut: true,
    });
    if (picked === undefined) return;
    await picked.act?.();
  }
}

interface PasswordRow extends vscode.QuickPickItem {
  readonly act?: () => Promise<void>;
}

async function rowsOfFile(
  requests: readonly PasswordRequest[],
  passwords: PasswordStore,
): Promise<PasswordRow[]> {
  return (await loginsOfFile(requests, passwords)).map(({ login, isKept }) => ({
    label: nameOf(login),
    description: isKept ? t('saved') : t('not saved'),
    act: async () => {
      const answer = await inputPassword(login);
      if (answer === 'cancelled') return;
      for (const request of requests) await passwords.save(request, login, answer.password);
    },
  }));
}

async function savedRows(passwords: PasswordStore): Promise<PasswordRow[]> {
  const groups = Map.groupBy(await passwords.savedLogins(), ({ origin, organizationId, id, role, parts }) =>
    JSON.stringify([origin, organizationId, id, role, hostsOf(parts)]),
  );
  return [...groups.values()].flatMap((logins) => {
    const [login] = logins;
    if (login === undefined) return [];
    const label = nameOf(login);
    return {
      label,
      description: t('{0}, organization {1}', login.origin, login.organizationId),
      detail: clip(visibleLine(hostsOf(login.parts)), 200),
      act: async () => {
        const question = t('Delete the saved password for {0}?', label);
        const detail = t(
          'Runs that log in with this password continue. After you delete the password, VS Code can’t hide it in the service’s messages about these runs.',
        );
        const yes = t('Delete');
        if ((await askInDialog({ question, detail }, yes)) !== yes) return;
        for (const saved of logins) await passwords.delete(saved);
      },
    };
  });
}

function hostsOf({ targets }: InputParts): string {
  return [...new Set(targets.map(originOf))].join(', ');
}

/** `isKept` is true if any request has a saved password: another request can use it. */
export async function loginsOfFile(
  requests: readonly PasswordRequest[],
  passwords: PasswordStore,
): Promise<readonly { readonly login: Login; readonly isKept: boolean }[]> {
  const saved = await Promise.all(requests.map((request) => passwords.get(request)));
  return loginsOf(requests[0]).map((login, index) => ({
    login,
    isKept: saved.some((passwordsOfRequest) => passwordsOfRequest[index] !== undefined),
  }));
}
