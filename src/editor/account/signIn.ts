import * as vscode from 'vscode';
import { originOf, toBaseUrl } from '../../core/api/address.ts';
import { toToken } from '../../core/api/credentials.ts';
import { isAbortError } from '../../core/errors.ts';
import type { Run } from '../../core/run/state/run.ts';
import { extensionId } from '../runs/runLink.ts';
import { describeError } from '../errors/errorMessages.ts';
import { openSetting } from '../errors/errorActions.ts';
import { firstLines, formatAccount } from '../formats.ts';
import { withProgress } from '../progress.ts';
import { type Destination, hasTokenCommand, readRawDestination, writeDestination } from '../settings.ts';
import { askInDialog, showError, showInformation } from '../showMessage.ts';
import type { Accounts } from './accounts.ts';

const t = vscode.l10n.t;

export async function signIn(accounts: Accounts, account?: Destination): Promise<boolean> {
  let entered: Destination = readRawDestination();
  for (;;) {
    const answers = await (account === undefined ? askAll(entered) : askToken(account));
    if (answers === undefined) return false;
    const { destination, token } = answers;
    const origin = originOf(destination.baseUrl);
    entered = destination;
    try {
      const title = t('Checking the sign-in with {0}…', origin);
      await withProgress(title, async (_report, signal) => {
        await accounts.check(destination, { token, signal });
        // The token is saved first, so that an error in the settings file doesn't lose it.
        await accounts.save(destination, token);
      });
    } catch (error) {
      if (isAbortError(error)) return false;
      const { message } = describeError(error);
      const retry = t('Retry');
      if ((await showError(t('Sign-in failed: {0}', message), retry)) !== retry) return false;
      continue;
    }
    if (account === undefined) await writeDestination(destination);
    void showInformation(t('Signed in to {0}.', formatAccount(destination)));
    return true;
  }
}

export async function signInForRun(accounts: Accounts, run: Run | undefined): Promise<boolean> {
  return signIn(accounts, run?.state === 'imported' ? undefined : run);
}

interface Answers {
  readonly destination: Destination;
  readonly token: string;
}

interface Question {
  readonly prompt: string;
  readonly placeholder: string;
  readonly isSecret?: boolean;
  readonly problemIn: (text: string) => string | undefined;
}

async function askAll(entered: Destination): Promise<Answers | undefined> {
  let { baseUrl, organizationId } = entered;
  let step = 1;
  for (;;) {
    const question =
      step === 1
        ? addressQuestion()
        : step === 2
          ? organizationQuestion()
          : tokenQuestion({ baseUrl, organizationId });
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

async function askToken({ baseUrl, organizationId }: Destination): Promise<Answers | undefined> {
  const destination = { baseUrl, organizationId };
  const answer = await ask(tokenQuestion(destination));
  return typeof answer === 'string' ? { destination, token: toToken(answer) } : undefined;
}

function addressQuestion(): Question {
  return {
    prompt: t(
      'Base URL of the assessment service, from your service provider’s documentation or your administrator. The ending /v1 is optional.',
    ),
    placeholder: 'https://assessment.example.com/v1',
    problemIn: (text) => messageOf(() => toBaseUrl(text)),
  };
}

function organizationQuestion(): Question {
  return {
    prompt: t(
      'ID of your organization on the service (“orgID” in the service’s API). Ask the person who set up the service for you.',
    ),
    placeholder: t('Organization ID'),
    problemIn: (text) => (text.trim() === '' ? t('Enter the organization ID.') : undefined),
  };
}

function tokenQuestion(account: Destination): Question {
  return {
    prompt: t(
      'Access token or API key for {0}. Sign in to the service provider’s command-line tool. The tool prints a token. A long-lived API key also works. The token or key is saved in VS Code’s secret storage and sent only to the service.',
      formatAccount(account),
    ),
    placeholder: t('Access token or API key'),
    isSecret: true,
    problemIn: (text) => messageOf(() => toToken(text)),
  };
}

const back = Symbol('back');

function ask(
  question: Question,
  { value, step, totalSteps }: { value: string; step?: number; totalSteps?: number } = { value: '' },
): Promise<string | typeof back | undefined> {
  return new Promise((resolve) => {
    const input = vscode.window.createInputBox();
    const help = { iconPath: new vscode.ThemeIcon('question'), tooltip: t('Where Do I Get This?') };
    input.title = t('Sign In to the Assessment Service');
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
      input.validationMessage = question.problemIn(input.value);
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

/** If a step is named, VS Code 1.108 opens a different walkthrough. */
async function showHelp(): Promise<void> {
  const walkthrough = `${extensionId}#whitebox.gettingStarted`;
  await vscode.commands.executeCommand('workbench.action.openWalkthrough', walkthrough);
}

function messageOf(read: () => unknown): string | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    return describeError(error).message;
  }
}

export async function signOut(accounts: Accounts): Promise<void> {
  const others = await accounts.others();
  if (others.length > 0) {
    const yes = t('Sign Out of All Accounts');
    const detail = `${t('Tokens for these other accounts are saved on this machine:')}\n${firstLines(others.map(formatAccount))}`;
    if ((await askInDialog({ question: t('Sign out of all accounts?'), detail }, yes)) !== yes) return;
  }
  const wasSignedIn = await accounts.deleteAll();
  if (hasTokenCommand()) {
    const message = t(
      'The token command in your settings still signs you in. To stay signed out, remove the command from the settings.',
    );
    await showInformation(message, openSetting('whitebox.tokenCommand'));
    return;
  }
  void showInformation(
    wasSignedIn
      ? t('Signed out. All tokens were deleted from this machine. Runs that have already started continue.')
      : t('You weren’t signed in.'),
  );
}
