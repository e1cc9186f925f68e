import type * as vscode from 'vscode';
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
import type { Clock, Logger } from '../../core/ports.ts';
import { visibleLine } from '../../core/visibleText.ts';
import { type Destination, hasTokenCommand, readDestination, readTokenCommand } from '../settings.ts';

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

  /** True when calls to the destination in the settings have a token, or a command that makes one; a secret storage that fails has none. */
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

  /** True when what is kept under this key of the secret storage is the token of this destination. */
  isTokenOf(key: string, destination: Destination): boolean {
    return key === keyOf(destination);
  }

  /** Checks a token with the service, on the operation that an assessment needs first; the reservation it makes is given back at once. */
  async check(destination: Destination, token: string, signal?: AbortSignal): Promise<void> {
    const source: TokenSource = {
      get: () => Promise.resolve(token),
      refresh: () => Promise.resolve(undefined),
    };
    await this.#reserveAndGiveBack(this.#clientWith(destination, source), signal);
  }

  /** Checks the kept token, as `check` does. */
  async checkSignedIn(destination: Destination, signal?: AbortSignal): Promise<void> {
    await this.#reserveAndGiveBack(this.clientFor(destination), signal);
  }

  /** Keeps a token in the secret store, under its destination. */
  async keep(destination: Destination, token: string): Promise<void> {
    await this.#secrets.store(keyOf(destination), token);
  }

  /** Whether a token of the destination in the settings is kept, and the other accounts that one is kept of. */
  async kept(): Promise<{ isCurrent: boolean; others: readonly Destination[] }> {
    const destination = currentDestination();
    const current = destination && keyOf(destination);
    const keys = await this.#secrets.keys();
    return {
      isCurrent: keys.some((key) => key === current),
      others: keys.flatMap((key) => (key === current ? [] : (accountOf(key) ?? []))),
    };
  }

  /** Forgets the token of the destination in the settings. */
  async forget(): Promise<void> {
    const destination = currentDestination();
    if (destination !== undefined) await this.#secrets.delete(keyOf(destination));
  }

  /** Forgets every token. */
  async forgetAll(): Promise<void> {
    for (const key of await this.#secrets.keys()) await this.#secrets.delete(key);
  }

  async #reserveAndGiveBack(client: AssessmentClient, signal?: AbortSignal): Promise<void> {
    let fileId: string;
    try {
      ({ file_id: fileId } = await client.getUploadUrl(1, { signal }));
    } catch (error) {
      // The service answers so only to a token and an organization that are right.
      if (error instanceof AssessmentError && error.kind === 'capacity') return;
      throw error;
    }
    try {
      // Also once the person has cancelled, and whatever comes of it: the check itself has passed.
      await client.cancelUpload(fileId);
    } catch (error) {
      if (!(error instanceof AssessmentError)) throw error;
      this.#client.log.warn(
        `The reservation ${visibleLine(fileId)} of a check was not given back: ${error.message}`,
      );
    }
    signal?.throwIfAborted();
  }

  #clientWith(destination: Destination, token: TokenSource): AssessmentClient {
    return new AssessmentClient({ ...this.#client, ...destination, token });
  }
}

/** The token command belongs to the destination in the settings: what it prints is never sent anywhere else. */
function tokenCommandFor(destination: Destination): ((signal?: AbortSignal) => Promise<string>) | undefined {
  const current = currentDestination();
  if (!hasTokenCommand() || current === undefined || keyOf(current) !== keyOf(destination)) return undefined;
  return async (signal) => runTokenCommand(readTokenCommand(), signal);
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

function accountOf(key: string): Destination | undefined {
  const account = readTokenKey(key);
  return account && { baseUrl: account.origin, organizationId: account.organizationId };
}
