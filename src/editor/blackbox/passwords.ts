import * as vscode from 'vscode';
import { originOf } from '../../core/api/address.ts';
import { AssessmentError } from '../../core/errors.ts';
import { clip, visibleLine } from '../../core/visibleText.ts';
import { maxPasswordLength } from '../../core/workflows/application.ts';
import {
  type KeptLogin,
  type Login,
  loginsOf,
  type PasswordRequest,
  type PasswordStore,
} from '../../core/workflows/passwordStore.ts';
import { changesBetween, type InputParts, partsOf } from '../../core/workflows/requestChanges.ts';
import { readTargetFile, takePasswords } from '../../core/workflows/targetFile.ts';
import { formatNumber } from '../formats.ts';
import { readDestination } from '../settings.ts';
import { askInDialog, showWarning } from '../showMessage.ts';
import { reopenAfterReading, type RequestDocuments } from './exactRequest.ts';
import type { TargetDiagnostics } from './targetDiagnostics.ts';
import { isUsableTargetFile, readSaved, requestsOf } from './targetFiles.ts';
import { describeChanges, documentOfChanges } from './whatChanged.ts';
import { doErrorAction, openFile } from '../errors/errorActions.ts';

const maxTextLength = 200;

/** Where asking for passwords ended: all are there, the person cancelled, or a document with all changes was opened to be read first. */
type PasswordsOutcome = 'complete' | 'cancelled' | 'reading';

/**
 * Asks for the passwords of a request that are not kept, and keeps them for it and for `also`, another request that a person sees with it. One
 * that was kept before the request changed is offered with the difference. When the person cancels or reads, none is kept.
 */
export async function askForPasswords(
  request: PasswordRequest,
  { passwords, requests }: { readonly passwords: PasswordStore; readonly requests: ChangesDocument },
  also?: PasswordRequest,
): Promise<PasswordsOutcome> {
  const known = await passwords.of(request);
  const logins = loginsOf(request);
  const answers: [Login, string][] = [];
  for (const login of logins.filter((_, index) => known[index] === undefined)) {
    const answer = await askForPassword(request, login, passwords, requests);
    if (typeof answer === 'string') return answer;
    answers.push([login, answer.password]);
  }
  await passwords.approve(request, logins);
  for (const [login, password] of answers) {
    await passwords.keep(request, login, password);
    if (also !== undefined) await passwords.keep(also, login, password);
  }
  return 'complete';
}

type ChangesDocument = Pick<RequestDocuments, 'showChanges' | 'hasShown'>;
type PasswordAnswer = { readonly password: string } | 'cancelled' | 'reading';

async function askForPassword(
  request: PasswordRequest,
  login: Login,
  passwords: PasswordStore,
  requests: ChangesDocument,
): Promise<PasswordAnswer> {
  const earlier = await passwords.earlier(request, login);
  if (earlier === undefined) return inputAnswer(login);
  const t = vscode.l10n.t;
  // First, because Enter presses it, and it sends nothing.
  const enter = t('Enter a Password…');
  if (earlier.from === 'otherFile') {
    const question = t('The saved password of {0} belongs to another target file.', nameOf(login));
    const detail = t('Nothing has been sent. VS Code can’t show what changed. Enter the password again.');
    const choice = await askInDialog({ question, detail }, enter);
    return choice === enter ? inputAnswer(login) : 'cancelled';
  }
  const after = partsOf(request.input ?? { target_urls: [] });
  const changes = changesBetween(earlier.parts, after, request.workflow === 'blackbox-crawl');
  if (changes.length === 0) return { password: earlier.password };
  const { text, isWhole } = describeChanges(changes);
  const whole = documentOfChanges(changes);
  const use = t('Use Saved Password');
  const showAll = t('Show All Changes');
  const mayUse = isWhole || requests.hasShown(whole);
  const choice = await askInDialog(
    {
      question: t('The request that uses the password of {0} has changed.', nameOf(login)),
      detail: [
        t('Nothing has been sent. Added (+) and removed (−) since this password was saved:'),
        text,
        ...(isWhole ? [] : [t('To use the saved password, read all changes first: “{0}”.', showAll)]),
      ].join('\n\n'),
    },
    enter,
    ...(mayUse ? [use] : []),
    ...(isWhole ? [] : [showAll]),
  );
  if (choice === use) return { password: earlier.password };
  if (choice === showAll) {
    await requests.showChanges(whole);
    return 'reading';
  }
  return choice === enter ? inputAnswer(login) : 'cancelled';
}

/** What to do after all changes were opened as a document: the confirmation comes again when the person wants it. */
export function reopenAfterChanges<T>(reopen: () => Promise<T | undefined>): Promise<T | undefined> {
  const message = vscode.l10n.t(
    'Nothing has been sent. After you’ve read the changes, reopen the confirmation to continue.',
  );
  return reopenAfterReading(message, reopen);
}

async function inputAnswer(login: Login): Promise<PasswordAnswer> {
  const password = await inputPassword(login);
  return password === undefined ? 'cancelled' : { password };
}

/** The password that a person enters, which may be empty (docs/api.md, section 2.6); undefined when they cancel. */
function inputPassword(login: Login): Thenable<string | undefined> {
  const t = vscode.l10n.t;
  return vscode.window.showInputBox({
    title: t('Password of {0}', nameOf(login)),
    prompt: t(
      'Use a test account, because the service logs in with it. The password is saved in VS Code’s secret storage, for this request only. It can be empty.',
    ),
    password: true,
    ignoreFocusOut: true,
    validateInput: (text) =>
      text.length > maxPasswordLength
        ? t('At most {0} characters are allowed here.', formatNumber(maxPasswordLength))
        : undefined,
  });
}

function nameOf({ id, role }: Login): string {
  return vscode.l10n.t('{0} ({1})', clip(visibleLine(id), 80), clip(visibleLine(role), 80));
}

/** Moves the passwords in a target file to the secret storage, and saves the file without them. */
export async function movePasswords(
  uri: vscode.Uri,
  {
    passwords: store,
    diagnostics,
  }: { readonly passwords: PasswordStore; readonly diagnostics: TargetDiagnostics },
): Promise<void> {
  const t = vscode.l10n.t;
  const destination = readDestination();
  if (destination === undefined) throw new AssessmentError('notSignedIn');
  const document = await vscode.workspace.openTextDocument(uri);
  const { text, passwords } = takePasswords(document.getText());
  const read = readTargetFile(text);
  if (!('file' in read)) {
    // A password is kept for a request, and there is none as long as something else is wrong.
    diagnostics.refuse(document, read.problems);
    return;
  }
  for (const [index, login] of (read.file.authentication?.credentials ?? []).entries()) {
    const password = passwords.get(index);
    if (password === undefined) continue;
    for (const request of requestsOf(read.file, uri.fsPath, destination))
      await store.keep(request, login, password);
  }
  const open = { ...openFile(uri.fsPath), title: t('Show') };
  const edit = new vscode.WorkspaceEdit();
  edit.replace(uri, new vscode.Range(0, 0, document.lineCount, 0), text);
  if (!(await vscode.workspace.applyEdit(edit)) || !(await document.save())) {
    const message = t(
      'The passwords are now in VS Code’s secret storage. {0} wasn’t saved, so the file on disk still contains them. Save the file. If it was synced or committed with the passwords, change them in the application.',
      visibleLine(uri.fsPath),
    );
    await doErrorAction(await showWarning(message, open));
    return;
  }
  const message = t(
    'The passwords are now in VS Code’s secret storage and no longer in the file. If the file was saved, synced, or committed with them, change them in the application.',
  );
  await doErrorAction(await showWarning(message, open));
}

interface LoginItem extends vscode.QuickPickItem {
  readonly login?: Login;
  /** Where only instructions or the like differ, one row stands for several. */
  readonly kept?: readonly KeptLogin[];
}

/** Shows which passwords are kept, first those of a target file: the given one, or else the one in the active editor. Sets and forgets them. */
export async function managePasswords(
  given: vscode.Uri | undefined,
  { passwords, diagnostics }: { passwords: PasswordStore; diagnostics: TargetDiagnostics },
): Promise<void> {
  const t = vscode.l10n.t;
  const active = vscode.window.activeTextEditor?.document.uri;
  const uri = given ?? (active && isUsableTargetFile(active) ? active : undefined);
  const destination = readDestination();
  if (uri !== undefined && destination === undefined) throw new AssessmentError('notSignedIn');
  const file = uri && (await readSaved(uri, diagnostics));
  if (uri !== undefined && file === undefined) return;
  const requests = uri && file && destination ? requestsOf(file, uri.fsPath, destination) : [];
  const deleteOne = t('Delete');
  for (;;) {
    const own = await loginsOfFile(requests, passwords);
    const kept = Map.groupBy(await passwords.kept(), (each) =>
      JSON.stringify([each.origin, each.organizationId, each.id, each.role, hostsOf(each.parts)]),
    );
    const items: LoginItem[] = [
      ...own.map(({ login, isKept }) => ({
        label: nameOf(login),
        description: isKept ? t('saved') : t('not saved'),
        login,
      })),
      { label: t('Saved passwords'), kind: vscode.QuickPickItemKind.Separator },
      ...[...kept.values()].flatMap((all) =>
        all.slice(0, 1).map((each) => ({
          label: nameOf(each),
          description: t('{0}, organization {1}', each.origin, each.organizationId),
          detail: clip(visibleLine(hostsOf(each.parts)), maxTextLength),
          kept: all,
        })),
      ),
    ];
    const picked = await vscode.window.showQuickPick(items, {
      title: t('Manage Blackbox Passwords'),
      placeHolder:
        own.length + kept.size === 0
          ? t(
              'No passwords are saved. When you start a run, you’re asked for the passwords that its target file needs.',
            )
          : t('Choose a login from the file to set its password, or a saved password to delete it'),
      ignoreFocusOut: true,
    });
    if (picked?.login !== undefined) {
      const password = await inputPassword(picked.login);
      for (const request of password === undefined ? [] : requests)
        await passwords.keep(request, picked.login, password ?? '');
    } else if (picked?.kept !== undefined) {
      const question = t('Delete the saved password of {0}?', picked.label);
      const detail = t(
        'Runs that log in with it continue. VS Code can no longer remove this password from what the service says about those runs.',
      );
      if ((await askInDialog({ question, detail }, deleteOne)) === deleteOne)
        for (const each of picked.kept) await passwords.forget(each);
    } else return;
  }
}

/** The logins of a target file, and whether the password of each is kept for all its requests. */
export async function loginsOfFile(
  requests: readonly PasswordRequest[],
  passwords: PasswordStore,
): Promise<readonly { readonly login: Login; readonly isKept: boolean }[]> {
  const known = await Promise.all(requests.map((request) => passwords.of(request)));
  return loginsOf(requests[0]).map((login, index) => ({
    login,
    isKept: known.every((each) => each[index] !== undefined),
  }));
}

function hostsOf({ targets }: InputParts): string {
  return [...new Set(targets.map(originOf))].join(', ');
}
