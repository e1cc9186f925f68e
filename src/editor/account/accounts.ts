import * as vscode from 'vscode';
import { originOf } from '../../core/api/address.ts';
import { AssessmentClient } from '../../core/api/client.ts';
import {
  readTokenKey,
  type Renewals,
  runTokenCommand,
  storedToken,
  tokenKey,
  type TokenSource,
} from '../../core/api/credentials.ts';
import type { HostSecrets } from '../../core/api/boundedSecrets.ts';
import { AssessmentError, knownError } from '../../core/errors.ts';
import type { Clock, Disposable, Logger } from '../../core/ports.ts';
import type { RunTracker } from '../../core/run/runTracker.ts';
import { backoff } from '../../core/run/state/delays.ts';
import { visibleLine } from '../../core/visibleText.ts';
import { inBackground } from '../../core/yieldingWork.ts';
import { type Destination, hasTokenCommand, readDestination, readTokenCommand } from '../settings.ts';

/** `unavailable` means that the secret storage fails. */
export type SignInState = 'signedIn' | 'signedOut' | 'unavailable';

interface ClientDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly random: () => number;
}

/**
 * A client sends only the token of its destination. Methods that read or write tokens may throw
 * `secretStorage`, except `findState`.
 */
export class Accounts {
  readonly #secrets: HostSecrets;
  readonly #client: ClientDeps;
  readonly #changed = new vscode.EventEmitter<void>();
  readonly #renewals: Renewals = new Map();
  #state: SignInState | undefined;

  constructor(secrets: HostSecrets, client: ClientDeps) {
    this.#secrets = secrets;
    this.#client = client;
  }

  readonly onDidChangeState = this.#changed.event;

  get state(): SignInState | undefined {
    return this.#state;
  }

  clientFor(
    { baseUrl, organizationId }: Destination,
    passwords?: () => Promise<readonly string[]>,
  ): AssessmentClient {
    const destination = { baseUrl, organizationId };
    const key = keyOf(destination);
    const token = storedToken(this.#secrets, key, tokenCommandFor(destination), this.#renewals);
    return new AssessmentClient({ ...this.#client, ...destination, token, passwords });
  }

  async isSignedIn(): Promise<boolean> {
    const destination = currentDestination();
    if (destination === undefined) return false;
    if (tokenCommandFor(destination) !== undefined) return true;
    return (await this.#secrets.get(keyOf(destination))) !== undefined;
  }

  async findState(): Promise<SignInState> {
    try {
      this.#state = (await this.isSignedIn()) ? 'signedIn' : 'signedOut';
    } catch (error) {
      if (!(error instanceof AssessmentError)) throw error;
      this.#state = 'unavailable';
    }
    this.#changed.fire();
    return this.#state;
  }

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
      // The service reports `capacity` only to a valid account. A proxy's page proves nothing.
      const { kind, data } = knownError(error);
      if (kind === 'capacity' && data.isPage !== true) return;
      throw error;
    }
    try {
      // The check has passed, even if the upload can't be canceled.
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

  async others(): Promise<readonly Destination[]> {
    const destination = currentDestination();
    const current = destination && keyOf(destination);
    return (await this.#secrets.keys()).flatMap((key) => {
      const account = key === current ? undefined : readTokenKey(key);
      return account === undefined ? [] : { baseUrl: account.origin, organizationId: account.organizationId };
    });
  }

  /** Keeps the passwords of applications, which are in the same storage. */
  async deleteAll(): Promise<boolean> {
    const tokens = (await this.#secrets.keys()).filter((key) => readTokenKey(key) !== undefined);
    for (const key of tokens) await this.#secrets.delete(key);
    return tokens.length > 0;
  }
}

function fixedToken(token: string): TokenSource {
  return { get: () => Promise.resolve(token), refresh: () => Promise.resolve(undefined) };
}

/** Keeps the context key `whitebox.account` up to date, and resumes runs that wait for a token. */
export function followSignIn(
  accounts: Accounts,
  deps: ClientDeps & { secrets: HostSecrets; tracker: RunTracker },
): Disposable {
  const { secrets, tracker, log, random } = deps;
  let last: Promise<void> = Promise.resolve();
  let failures = 0;
  let retry: NodeJS.Timeout | undefined;
  const setContext = async (): Promise<void> => {
    clearTimeout(retry);
    const state = await accounts.findState();
    void vscode.commands.executeCommand('setContext', 'whitebox.account', state);
    failures = state === 'unavailable' ? failures + 1 : 0;
    // No event says that a keyring was unlocked, so the state is read again after a delay.
    if (failures > 0) retry = setTimeout(refresh, backoff(failures, random()));
  };
  const refresh = (): void => {
    // The calls run one at a time, so the latest state is set last.
    last = last.then(setContext, setContext);
    inBackground(last, log);
  };
  refresh();
  return vscode.Disposable.from(
    { dispose: () => clearTimeout(retry) },
    secrets.onDidChange(({ key }) => {
      refresh();
      const isOfAccount = (run: Destination): boolean => key === keyOf(run);
      if (vscode.workspace.isTrusted) inBackground(tracker.tokenChanged(isOfAccount), log);
    }),
    vscode.workspace.onDidChangeConfiguration((change) => {
      const sources = ['whitebox.tokenCommand', 'whitebox.baseUrl', 'whitebox.organizationId'];
      if (!sources.some((setting) => change.affectsConfiguration(setting))) return;
      refresh();
      // A token command is the only setting that provides a token.
      if (hasTokenCommand()) inBackground(tracker.tokenChanged(undefined, { isNewSource: true }), log);
    }),
    // The token command is only used in trusted workspaces.
    vscode.workspace.onDidGrantWorkspaceTrust(refresh),
  );
}

/** The command's token is sent only to the destination in the settings. */
function tokenCommandFor(destination: Destination): (() => Promise<string>) | undefined {
  const current = currentDestination();
  if (!hasTokenCommand() || current === undefined || keyOf(current) !== keyOf(destination)) return undefined;
  return async () => runTokenCommand(readTokenCommand());
}

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
