import * as vscode from 'vscode';
import { originOf, toBaseUrl } from '../core/api/address.ts';
import { AssessmentClient } from '../core/api/client.ts';
import {
  runTokenCommand,
  storedToken,
  tokenKey,
  type TokenSource,
  toToken,
} from '../core/api/credentials.ts';
import { AssessmentError, isAbortError } from '../core/errors.ts';
import type { Clock, Logger } from '../core/ports.ts';
import { describeError } from './messages.ts';
import { withProgress } from './progress.ts';
import {
  type Destination,
  readDestination,
  readRawDestination,
  readTokenCommand,
  writeDestination,
} from './settings.ts';

/** Makes clients that carry the token of the destination they talk to, and of no other. */
export class Accounts {
  readonly #secrets: vscode.SecretStorage;
  readonly #client: { clock: Clock; log: Logger; random: () => number };

  constructor(secrets: vscode.SecretStorage, client: { clock: Clock; log: Logger; random: () => number }) {
    this.#secrets = secrets;
    this.#client = client;
  }

  /** A client for a run's own origin and organization. */
  clientFor(destination: Destination): AssessmentClient {
    return this.#clientWith(
      destination,
      storedToken(this.#secrets, keyOf(destination), tokenCommandFor(destination)),
    );
  }

  /** True when calls to the destination in the settings have a token, or a command that makes one. */
  async isSignedIn(): Promise<boolean> {
    const destination = currentDestination();
    if (destination === undefined) return false;
    return (
      tokenCommandFor(destination) !== undefined ||
      (await this.#secrets.get(keyOf(destination))) !== undefined
    );
  }

  /** Checks a token with the service, on the operation that an assessment needs first; the reservation it makes is given back at once. */
  async check(destination: Destination, token: string, signal?: AbortSignal): Promise<void> {
    const source: TokenSource = {
      get: () => Promise.resolve(token),
      refresh: () => Promise.resolve(undefined),
    };
    await reserveAndGiveBack(this.#clientWith(destination, source), signal);
  }

  /** Checks the kept token, as `check` does. */
  async checkSignedIn(destination: Destination, signal?: AbortSignal): Promise<void> {
    await reserveAndGiveBack(this.clientFor(destination), signal);
  }

  /** Keeps a token in the secret store, under its destination. */
  async keep(destination: Destination, token: string): Promise<void> {
    await this.#secrets.store(keyOf(destination), token);
  }

  /** Forgets the token of the destination in the settings; true when there was one. */
  async forget(): Promise<boolean> {
    const destination = currentDestination();
    if (destination === undefined || (await this.#secrets.get(keyOf(destination))) === undefined)
      return false;
    await this.#secrets.delete(keyOf(destination));
    return true;
  }

  #clientWith(destination: Destination, token: TokenSource): AssessmentClient {
    return new AssessmentClient({ ...this.#client, ...destination, token });
  }
}

async function reserveAndGiveBack(client: AssessmentClient, signal?: AbortSignal): Promise<void> {
  try {
    const { file_id: fileId } = await client.getUploadUrl(1, { signal });
    await client.cancelUpload(fileId, { signal });
  } catch (error) {
    // The service answers so only to a token and an organization that are right.
    if (!(error instanceof AssessmentError) || error.kind !== 'capacity') throw error;
  }
}

/** Asks for base URL, organization and token, one after another with what is known filled in, checks them with the service and keeps them; false when the person stops. */
export async function signIn(accounts: Accounts): Promise<boolean> {
  const known = readRawDestination();
  let destination: Destination = known;
  for (;;) {
    const asked = await askDestination(destination);
    if (asked === undefined) return false;
    destination = asked;
    const text = await askToken(destination);
    if (text === undefined) return false;
    const token = toToken(text);
    try {
      const title = vscode.l10n.t('Checking the sign-in with {0}…', originOf(destination.baseUrl));
      await withProgress(title, (_report, signal) => accounts.check(destination, token, signal));
    } catch (error) {
      if (isAbortError(error)) return false;
      const { message } = describeError(error);
      const again = vscode.l10n.t('Try Again');
      const choice = await vscode.window.showErrorMessage(
        vscode.l10n.t('Sign-in failed: {0}', message),
        again,
      );
      if (choice !== again) return false;
      continue;
    }
    await writeDestination(destination);
    await accounts.keep(destination, token);
    void vscode.window.showInformationMessage(
      vscode.l10n.t(
        'Signed in to {0}, organization {1}.',
        originOf(destination.baseUrl),
        destination.organizationId,
      ),
    );
    return true;
  }
}

async function askDestination(known: Destination): Promise<Destination | undefined> {
  const baseUrl = await ask({
    step: 1,
    prompt: vscode.l10n.t('Base URL of the assessment service, as your organization was given it'),
    placeholder: 'https://assessment.example.com/v1',
    value: known.baseUrl,
    validate: (text) => complaintAbout(() => toBaseUrl(text)),
  });
  if (baseUrl === undefined) return undefined;
  const organizationId = await ask({
    step: 2,
    prompt: vscode.l10n.t('Organization ID'),
    placeholder: '',
    value: known.organizationId,
    validate: (text) => (text.trim() === '' ? vscode.l10n.t('Enter the organization ID.') : undefined),
  });
  return organizationId === undefined
    ? undefined
    : { baseUrl: toBaseUrl(baseUrl), organizationId: organizationId.trim() };
}

function askToken(destination: Destination): Promise<string | undefined> {
  return ask({
    step: 3,
    prompt: vscode.l10n.t(
      'Access token or API key for {0}. It is kept in the editor’s secret storage and sent nowhere else.',
      originOf(destination.baseUrl),
    ),
    placeholder: '',
    value: '',
    password: true,
    validate: (text) => complaintAbout(() => toToken(text)),
  });
}

/** One step of the sign-in; undefined when the person stops. */
function ask(step: {
  step: number;
  prompt: string;
  placeholder: string;
  value: string;
  password?: boolean;
  validate: (text: string) => string | undefined;
}): Promise<string | undefined> {
  return new Promise((resolve) => {
    const input = vscode.window.createInputBox();
    input.title = vscode.l10n.t('Sign In to the Assessment Service');
    input.step = step.step;
    input.totalSteps = 3;
    input.prompt = step.prompt;
    input.placeholder = step.placeholder;
    input.value = step.value;
    input.password = step.password ?? false;
    input.ignoreFocusOut = true;
    input.onDidChangeValue(() => {
      input.validationMessage = undefined;
    });
    input.onDidAccept(() => {
      input.validationMessage = step.validate(input.value);
      if (input.validationMessage !== undefined) return;
      resolve(input.value);
      input.hide();
    });
    input.onDidHide(() => {
      resolve(undefined);
      input.dispose();
    });
    input.show();
  });
}

function complaintAbout(read: () => unknown): string | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    return describeError(error).message;
  }
}

/** The token command belongs to the destination in the settings: what it prints is never sent anywhere else. */
function tokenCommandFor(destination: Destination): ((signal?: AbortSignal) => Promise<string>) | undefined {
  const command = readTokenCommand();
  const current = currentDestination();
  if (command === undefined || current === undefined || keyOf(current) !== keyOf(destination))
    return undefined;
  return (signal) => runTokenCommand(command, signal);
}

/** The destination in the settings, or undefined when it is unset or unusable. */
function currentDestination(): Destination | undefined {
  try {
    return readDestination();
  } catch (error) {
    if (error instanceof AssessmentError) return undefined;
    throw error;
  }
}

function keyOf(destination: Destination): string {
  return tokenKey(originOf(destination.baseUrl), destination.organizationId);
}
