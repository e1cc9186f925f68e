import * as vscode from 'vscode';
import { originOf, toBaseUrl } from '../../core/api/address.ts';
import { toToken } from '../../core/api/credentials.ts';
import { connectionParts, type ConnectionPart, failedPart } from '../../core/api/connection.ts';
import { AssessmentError, isAbortError } from '../../core/errors.ts';
import type { Logger } from '../../core/ports.ts';
import type { Run } from '../../core/run/state/run.ts';
import { describeError } from '../errors/messages.ts';
import { doErrorAction, offerErrorActions, openSetting } from '../errors/errorActions.ts';
import { firstLines, formatAccount } from '../formats.ts';
import { withProgress } from '../progress.ts';
import {
  type Destination,
  hasTokenCommand,
  readDestination,
  readRawDestination,
  writeDestination,
} from '../settings.ts';
import { askInDialog, showError, showInformation } from '../showMessage.ts';
import type { Accounts } from './accounts.ts';

/**
 * Asks for base URL, organization and token, checks them with the service and stores them. For the `account` of an existing run, which may no
 * longer be the one in the settings, asks for the token only. False when the person cancels.
 */
export async function signIn(accounts: Accounts, account?: Destination): Promise<boolean> {
  let known: Destination = readRawDestination();
  for (;;) {
    const answers = await (account === undefined ? askAll(known) : askToken(account));
    if (answers === undefined) return false;
    const { destination, token } = answers;
    const origin = originOf(destination.baseUrl);
    known = destination;
    try {
      const title = vscode.l10n.t('Checking the sign-in with {0}…', origin);
      await withProgress(title, (_report, signal) => accounts.check(destination, { token, signal }));
    } catch (error) {
      if (isAbortError(error)) return false;
      const { message } = describeError(error);
      const again = vscode.l10n.t('Try Again');
      const choice = await showError(vscode.l10n.t('Sign-in failed: {0}', message), again);
      if (choice !== again) return false;
      continue;
    }
    // The token first: an error in the settings file must not lose it.
    await accounts.keep(destination, token);
    if (account === undefined) await writeDestination(destination);
    void showInformation(
      vscode.l10n.t('Signed in to {0}, organization {1}.', origin, destination.organizationId),
    );
    return true;
  }
}

/** Signs in to the account of a run; for an imported run, which has none, to the one in the settings. */
export async function signInForRun(accounts: Accounts, run: Run | undefined): Promise<boolean> {
  return signIn(accounts, run?.state === 'imported' ? undefined : run);
}

interface Question {
  readonly prompt: string;
  readonly placeholder: string;
  readonly isSecret?: boolean;
  readonly complaint: (text: string) => string | undefined;
}

/** Asks the three questions, each with a Back button; undefined when the person cancels. */
async function askAll(known: Destination): Promise<{ destination: Destination; token: string } | undefined> {
  let { baseUrl, organizationId } = known;
  let step = 1;
  for (;;) {
    const question =
      step === 1
        ? aboutAddress()
        : step === 2
          ? aboutOrganization()
          : aboutToken({ baseUrl, organizationId });
    const value = ['', baseUrl, organizationId][step] ?? '';
    const answer = await ask(question, { value, step, totalSteps: 3 });
    if (answer === undefined) return undefined;
    if (answer === back) {
      step -= 1;
      continue;
    }
    if (step === 1) baseUrl = toBaseUrl(answer);
    if (step === 2) organizationId = answer.trim();
    if (step === 3) return { destination: { baseUrl, organizationId }, token: toToken(answer) };
    step += 1;
  }
}

async function askToken({
  baseUrl,
  organizationId,
}: Destination): Promise<{ destination: Destination; token: string } | undefined> {
  const destination = { baseUrl, organizationId };
  const answer = await ask(aboutToken(destination));
  return typeof answer === 'string' ? { destination, token: toToken(answer) } : undefined;
}

function aboutAddress(): Question {
  return {
    prompt: vscode.l10n.t(
      'Base URL of the assessment service, from your service provider’s documentation or your administrator. The ending /v1 is optional.',
    ),
    placeholder: 'https://assessment.example.com/v1',
    complaint: (text) => complaintAbout(() => toBaseUrl(text)),
  };
}

function aboutOrganization(): Question {
  return {
    prompt: vscode.l10n.t(
      'ID of your organization on the service (orgID in its API). Ask the person who set up the service for you.',
    ),
    placeholder: vscode.l10n.t('Organization ID'),
    complaint: (text) => (text.trim() === '' ? vscode.l10n.t('Enter the organization ID.') : undefined),
  };
}

function aboutToken(account: Destination): Question {
  return {
    prompt: vscode.l10n.t(
      'Access token or API key for {0}. After you sign in to the service provider’s command-line tool, it prints a token. A long-lived API key also works. It is saved in VS Code’s secret storage and sent nowhere else.',
      formatAccount(account),
    ),
    placeholder: vscode.l10n.t('Access token or API key'),
    isSecret: true,
    complaint: (text) => complaintAbout(() => toToken(text)),
  };
}

const back = Symbol('back');

/** One step of the sign-in; undefined when the person cancels. */
function ask(
  question: Question,
  { value, step, totalSteps }: { value: string; step?: number; totalSteps?: number } = { value: '' },
): Promise<string | typeof back | undefined> {
  return new Promise((resolve) => {
    const input = vscode.window.createInputBox();
    const help = {
      iconPath: new vscode.ThemeIcon('question'),
      tooltip: vscode.l10n.t('Where Do I Get This?'),
    };
    input.title = vscode.l10n.t('Sign In to the Assessment Service');
    input.step = step;
    input.totalSteps = totalSteps;
    input.prompt = question.prompt;
    input.placeholder = question.placeholder;
    input.value = value;
    input.password = question.isSecret ?? false;
    input.ignoreFocusOut = true;
    input.buttons = [...(step !== undefined && step > 1 ? [vscode.QuickInputButtons.Back] : []), help];
    input.onDidTriggerButton((button) => {
      if (button === help) void showHelp();
      else end(back);
    });
    input.onDidChangeValue(() => {
      input.validationMessage = undefined;
    });
    input.onDidAccept(() => {
      input.validationMessage = question.complaint(input.value);
      if (input.validationMessage === undefined) end(input.value);
    });
    input.onDidHide(() => {
      resolve(undefined);
      input.dispose();
    });
    const end = (answer: string | typeof back): void => {
      resolve(answer);
      input.hide();
    };
    input.show();
  });
}

/** Opens the walkthrough, whose first step says where to get each answer; the question stays open. VS Code 1.108 opens another one when a step is named. */
async function showHelp(): Promise<void> {
  const walkthrough = 'whitebox.whitebox-assessment#whitebox.gettingStarted';
  await vscode.commands.executeCommand('workbench.action.openWalkthrough', walkthrough);
}

function complaintAbout(read: () => unknown): string | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    return describeError(error).message;
  }
}

/** Deletes the token of the account in the settings; where there are tokens of other accounts, asks which to delete. */
export async function signOut(accounts: Accounts): Promise<void> {
  const t = vscode.l10n.t;
  const { isCurrent, others } = await accounts.kept();
  const every = t('All Accounts');
  let choice: string | undefined;
  if (others.length > 0) {
    const detail = `${t('Tokens for these other accounts are saved on this machine:')}\n${firstLines(others.map(formatAccount))}`;
    const answers = isCurrent ? [t('This Account'), every] : [every];
    choice = await askInDialog({ question: t('Sign out of which account?'), detail }, ...answers);
    if (choice === undefined) return;
  }
  if (choice === every) await accounts.forgetAll();
  else await accounts.forget();
  if (hasTokenCommand()) {
    const message = t(
      'The token command in your settings still signs you in. To stay signed out, remove it from the settings.',
    );
    await doErrorAction(await showInformation(message, openSetting('whitebox.tokenCommand')));
    return;
  }
  void showInformation(
    choice === every
      ? t('Signed out. All tokens were removed from this machine. Runs that have already started continue.')
      : isCurrent
        ? t('Signed out. The token was removed from this machine. Runs that have already started continue.')
        : t('You weren’t signed in.'),
  );
}

/** Calls the service as an assessment would, and says which part of the connection fails, and which work. */
export async function testConnection({ accounts, log }: { accounts: Accounts; log: Logger }): Promise<void> {
  const t = vscode.l10n.t;
  try {
    const destination = readDestination();
    if (destination === undefined) throw new AssessmentError('notSignedIn');
    await withProgress(t('Testing the connection…'), (_report, signal) =>
      accounts.check(destination, { signal }),
    );
  } catch (error) {
    const part = error instanceof AssessmentError ? failedPart(error.kind) : undefined;
    if (part === undefined) throw error;
    const { message, actions } = describeError(error);
    const text = t('Connection test, {0}: {1}', connectionLabel(part), message);
    const before = connectionParts.slice(0, connectionParts.indexOf(part)).map(connectionLabel);
    // Without a sign-in nothing was called.
    const isCalled = before.length > 0 && (error as AssessmentError).kind !== 'notSignedIn';
    const sentences = [text, ...(isCalled ? [t('These work: {0}.', before.join(', '))] : [])];
    offerErrorActions(showError(sentences.join(' '), ...actions), log);
    return;
  }
  void showInformation(t('The connection works. The base URL, the token, and the organization are correct.'));
}

function connectionLabel(part: ConnectionPart): string {
  const t = vscode.l10n.t;
  return {
    address: t('base URL'),
    network: t('network'),
    proxy: t('proxy'),
    certificate: t('certificate'),
    service: t('service'),
    token: t('token'),
    organization: t('organization'),
  }[part];
}
