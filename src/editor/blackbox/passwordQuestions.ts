import * as vscode from 'vscode';
import { originOf } from '../../core/api/address.ts';
import { AssessmentError } from '../../core/errors.ts';
import { clip } from '../../core/findings/parse/prose.ts';
import { visibleLine } from '../../core/visibleText.ts';
import {
  type ApplicationInput,
  changesBetween,
  type InputParts,
  type PartChange,
  partsOf,
  type SentPart,
} from '../../core/workflows/application.ts';
import type { WorkflowId } from '../../core/workflows/workflow.ts';
import { formatNumber } from '../formats.ts';
import { readDestination } from '../settings.ts';
import { askInDialog } from '../showMessage.ts';
import { type KeptLogin, type Login, loginsOf, type PasswordRequest, type Passwords } from './passwords.ts';
import { isUsableTargetFile, requestsOf, type TargetFiles } from './targetFiles.ts';

/** Longer texts are cut in a dialog, which says so. */
const maxTextLength = 200;
const maxLines = 20;

/** What passwords are asked for. */
type SentRequest = PasswordRequest & { readonly workflow: WorkflowId };

/**
 * Asks for the passwords of a request that are not kept, and keeps them for it and for `other`, an input that a person sees with it. One that
 * was kept before the request changed is offered with the difference. False when the person cancels: then none is kept.
 */
export async function askForPasswords(
  request: SentRequest,
  passwords: Passwords,
  other?: ApplicationInput,
): Promise<boolean> {
  const known = await passwords.of(request);
  const missing = loginsOf(request).filter((_, index) => known[index] === undefined);
  const answers: [Login, string][] = [];
  for (const login of missing) {
    const password = await askForPassword(request, login, passwords);
    if (password === undefined) return false;
    answers.push([login, password]);
  }
  for (const [login, password] of answers) {
    await passwords.keep(request, login, password);
    if (other !== undefined) await passwords.keep({ ...request, input: other }, login, password);
  }
  return true;
}

async function askForPassword(
  request: SentRequest,
  login: Login,
  passwords: Passwords,
): Promise<string | undefined> {
  const earlier = request.input && (await passwords.earlier(request, login));
  if (earlier === undefined || request.input === undefined) return inputPassword(login);
  const t = vscode.l10n.t;
  const changes = changesBetween(
    earlier.parts,
    partsOf(request.input),
    request.workflow === 'blackbox-crawl',
  );
  if (changes.length === 0) return earlier.password;
  const shown = describeChanges(changes).join('\n');
  const whole = linesOf(changes).join('\n');
  const use = t('Use the Kept Password');
  const other = t('Enter a Password…');
  const showAll = t('Show All of It');
  const choice = await askInDialog(
    {
      question: t('What is sent with the password of {0} has changed.', nameOf(login)),
      detail: [
        t('Nothing has been sent. Since this password was kept, there was added (+) and removed (−):'),
        shown,
      ].join('\n\n'),
    },
    use,
    other,
    ...(shown === whole ? [] : [showAll]),
  );
  if (choice === use) return earlier.password;
  if (choice === showAll)
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ content: whole }));
  return choice === other ? inputPassword(login) : undefined;
}

/** The password that a person enters, which may be empty (API reference, section 2.6); undefined when they cancel. */
function inputPassword(login: Login): Thenable<string | undefined> {
  const t = vscode.l10n.t;
  return vscode.window.showInputBox({
    title: t('Password of {0}', nameOf(login)),
    prompt: t(
      'Use a test account: the service logs in with it. The password is kept in the secret storage, for this request only; it may be empty.',
    ),
    password: true,
    ignoreFocusOut: true,
    validateInput: (text) =>
      text.length > 5000 ? t('At most {0} characters may stand here.', formatNumber(5000)) : undefined,
  });
}

function nameOf({ id, role }: Login): string {
  return vscode.l10n.t('{0} ({1})', clip(visibleLine(id), 80), clip(visibleLine(role), 80));
}

/** What changed, a line each, in plain text; of very much, the list shows the start. */
export function describeChanges(changes: readonly PartChange[]): readonly string[] {
  const lines = linesOf(changes);
  return [
    ...lines
      .slice(0, maxLines)
      .map((line) => (line.length > maxTextLength ? `${clip(line, maxTextLength)}…` : line)),
    ...(lines.length > maxLines ? ['…'] : []),
  ];
}

function linesOf(changes: readonly PartChange[]): readonly string[] {
  return changes.flatMap(({ part, added, removed }) => [
    partLabel(part),
    ...added.map((text) => `  + ${visibleLine(text)}`),
    ...removed.map((text) => `  − ${visibleLine(text)}`),
  ]);
}

function partLabel(part: SentPart): string {
  const t = vscode.l10n.t;
  return {
    targets: t('Target URLs'),
    exclusions: t('Out-of-scope URLs'),
    loginInstructions: t('Instructions for logging in'),
    crawlInstructions: t('Instructions for crawling'),
    preferences: t('Preferences'),
    logins: t('Logins'),
    language: t('Language'),
    webhooks: t('Webhook endpoints'),
  }[part];
}

interface LoginItem extends vscode.QuickPickItem {
  readonly login?: Login;
  /** Where only instructions or the like differ, one row stands for several. */
  readonly kept?: readonly KeptLogin[];
}

/** Shows which passwords are kept, first those of a target file: the given one, or else the one in the active editor. Sets and forgets them. */
export async function managePasswords(
  given: vscode.Uri | undefined,
  { passwords, targetFiles }: { passwords: Passwords; targetFiles: TargetFiles },
): Promise<void> {
  const t = vscode.l10n.t;
  const active = vscode.window.activeTextEditor?.document.uri;
  const uri = given ?? (active && isUsableTargetFile(active) ? active : undefined);
  const destination = readDestination();
  if (uri !== undefined && destination === undefined) throw new AssessmentError('notSignedIn');
  const file = uri && (await targetFiles.read(uri));
  if (uri !== undefined && file === undefined) return;
  const requests = file && destination ? requestsOf(file, destination) : [];
  const forgetOne = t('Forget');
  for (;;) {
    const own = await loginsOfFile(requests, passwords);
    const kept = Map.groupBy(await passwords.kept(), (each) =>
      JSON.stringify([each.origin, each.organizationId, each.id, each.role, hostsOf(each.parts)]),
    );
    const items: LoginItem[] = [
      ...own.map(({ login, isKept }) => ({
        label: nameOf(login),
        description: isKept ? t('kept') : t('not kept'),
        login,
      })),
      { label: t('Kept passwords'), kind: vscode.QuickPickItemKind.Separator },
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
      title: t('Blackbox Passwords'),
      placeHolder:
        own.length + kept.size === 0
          ? t('No password is kept. A start asks for those that its target file needs.')
          : t('Choose a login of the file to set its password, or a kept password to forget it'),
      ignoreFocusOut: true,
    });
    if (picked?.login !== undefined) {
      const password = await inputPassword(picked.login);
      for (const request of password === undefined ? [] : requests)
        await passwords.keep(request, picked.login, password ?? '');
    } else if (picked?.kept !== undefined) {
      const question = t('Forget the password of {0}?', picked.label);
      const detail = t(
        'A run that logs in with it goes on, but the password is no longer taken out of what the service says about that run.',
      );
      if ((await askInDialog({ question, detail }, forgetOne)) === forgetOne)
        for (const each of picked.kept) await passwords.forget(each);
    } else return;
  }
}

/** The logins of a target file, and whether the password of each is kept for all its requests. */
export async function loginsOfFile(
  requests: readonly PasswordRequest[],
  passwords: Passwords,
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
