import * as vscode from 'vscode';
import { originOf } from '../../core/api/address.ts';
import { AssessmentClient } from '../../core/api/client.ts';
import {
  readTokenKey,
  runTokenCommand,
  storedToken,
  tokenKey,
  type TokenSource,
} from '../../core/api/credentials.ts';
import { AssessmentError } from '../../core/errors.ts';
import type { Clock, Disposable, Logger } from '../../core/ports.ts';
import type { RunTracker } from '../../core/run/runTracker.ts';
import { visibleLine } from '../../core/visibleText.ts';
import { inBackground } from '../../core/yieldingWork.ts';
import { type Destination, hasTokenCommand, readDestination, readTokenCommand } from '../settings.ts';

/** Tokens by destination, and clients that send only the token of their destination. */
export class Accounts {
  readonly #secrets: vscode.SecretStorage;
  readonly #client: { clock: Clock; log: Logger; random: () => number };

  constructor(secrets: vscode.SecretStorage, client: { clock: Clock; log: Logger; random: () => number }) {
    this.#secrets = secrets;
    this.#client = client;
  }

  /** A client for the account of a run. It redacts the run's passwords in messages of the service. */
  clientFor(
    { baseUrl, organizationId }: Destination,
    passwords?: () => Promise<readonly string[]>,
  ): AssessmentClient {
    const destination = { baseUrl, organizationId };
    const token = storedToken(this.#secrets, keyOf(destination), tokenCommandFor(destination));
    return new AssessmentClient({ ...this.#client, ...destination, token, passwords });
  }

  /** True if the account in the settings has a token or a token command; false if the secret storage fails. */
  async isSignedIn(): Promise<boolean> {
    const destination = currentDestination();
    if (destination === undefined) return false;
    if (tokenCommandFor(destination) !== undefined) return true;
    try {
      return (await this.#secrets.get(keyOf(destination))) !== undefined;
    } catch (error) {
      this.#client.log.error(`The secret storage could not be read: ${String(error)}`);
      return false;
    }
  }

  /** Checks a token (by default the stored one) by the first operation of an assessment: reserves an upload, and cancels it. */
  async check(
    destination: Destination,
    { token, signal }: { token?: string; signal?: AbortSignal },
  ): Promise<void> {
    const client =
      token === undefined
        ? this.clientFor(destination)
        : new AssessmentClient({ ...this.#client, ...destination, token: fixedToken(token) });
    let fileId: string;
    try {
      ({ file_id: fileId } = await client.getUploadUrl(1, { signal }));
    } catch (error) {
      // The service answers this only to a valid token and organization.
      if (error instanceof AssessmentError && error.kind === 'capacity') return;
      throw error;
    }
    try {
      // Not cancellable. Its failure does not fail the check.
      await client.cancelUpload(fileId);
    } catch (error) {
      if (!(error instanceof AssessmentError)) throw error;
      this.#client.log.warn(
        `The upload ${visibleLine(fileId)}, reserved by a check, was not cancelled: ${error.message}`,
      );
    }
    signal?.throwIfAborted();
  }

  async save(destination: Destination, token: string): Promise<void> {
    await this.#secrets.store(keyOf(destination), token);
  }

  /** `isCurrent`: the account in the settings has a stored token; `others` are the other accounts with one. */
  async saved(): Promise<{ isCurrent: boolean; others: readonly Destination[] }> {
    const destination = currentDestination();
    const current = destination && keyOf(destination);
    const keys = await this.#secrets.keys();
    return {
      isCurrent: keys.some((key) => key === current),
      others: keys.flatMap((key) => (key === current ? [] : (accountOf(key) ?? []))),
    };
  }

  async delete(): Promise<void> {
    const destination = currentDestination();
    if (destination !== undefined) await this.#secrets.delete(keyOf(destination));
  }

  /** Deletes all tokens, but not the passwords of applications, which are in the same storage. */
  async deleteAll(): Promise<void> {
    const tokens = (await this.#secrets.keys()).filter((key) => accountOf(key) !== undefined);
    for (const key of tokens) await this.#secrets.delete(key);
  }
}

function fixedToken(token: string): TokenSource {
  return { get: () => Promise.resolve(token), refresh: () => Promise.resolve(undefined) };
}

/** Keeps the context key `whitebox.signedIn` up to date, and resumes runs that wait for a token. Resolves when the key is set. */
export async function followSignIn(
  accounts: Accounts,
  { secrets, tracker, log }: { secrets: vscode.SecretStorage; tracker: RunTracker; log: Logger },
): Promise<Disposable> {
  let last: Promise<void> = Promise.resolve();
  const setContext = async (): Promise<void> => {
    await vscode.commands.executeCommand('setContext', 'whitebox.signedIn', await accounts.isSignedIn());
  };
  // One at a time: the latest value is set last.
  const refresh = (): Promise<void> => (last = last.then(setContext, setContext));
  const subscriptions = vscode.Disposable.from(
    secrets.onDidChange(({ key }) => {
      inBackground(refresh(), log);
      const isOfAccount = (run: Destination): boolean => key === keyOf(run);
      if (vscode.workspace.isTrusted) inBackground(tracker.tokenChanged(isOfAccount), log);
    }),
    vscode.workspace.onDidChangeConfiguration((change) => {
      const sources = ['whitebox.tokenCommand', 'whitebox.baseUrl', 'whitebox.organizationId'];
      if (!sources.some((setting) => change.affectsConfiguration(setting))) return;
      inBackground(refresh(), log);
      // A token command is the only setting that provides a token.
      if (hasTokenCommand()) inBackground(tracker.tokenChanged(undefined, { isNewSource: true }), log);
    }),
    // The token command is only used in trusted workspaces.
    vscode.workspace.onDidGrantWorkspaceTrust(() => inBackground(refresh(), log)),
  );
  await refresh();
  return subscriptions;
}

/** The token command belongs to the destination in the settings. Its token is never sent to another one. */
function tokenCommandFor(destination: Destination): ((signal?: AbortSignal) => Promise<string>) | undefined {
  const current = currentDestination();
  if (!hasTokenCommand() || current === undefined || keyOf(current) !== keyOf(destination)) return undefined;
  return async (signal) => runTokenCommand(readTokenCommand(), signal);
}

/** The destination in the settings; undefined if it is unset or unusable. */
export function currentDestination(): Destination | undefined {
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

function accountOf(key: string): Destination | undefined {
  const account = readTokenKey(key);
  return account && { baseUrl: account.origin, organizationId: account.organizationId };
}
