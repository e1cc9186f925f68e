import { hash } from 'node:crypto';
import { originOf } from '../../core/api/address.ts';
import { AssessmentError } from '../../core/errors.ts';
import type { KeyValueStore, SecretStore } from '../../core/ports.ts';
import { type ApplicationInput, type InputParts, partsOf } from '../../core/workflows/application.ts';

/** What a password is sent with: a run, or the request of one that may be started. */
export interface PasswordRequest {
  readonly baseUrl: string;
  readonly organizationId: string;
  readonly input?: ApplicationInput | undefined;
}

/** Who logs in to the application. */
export interface Login {
  readonly id: string;
  readonly role: string;
}

/** A login whose password is kept, and the request it is kept for. */
export interface KeptLogin extends Login {
  /** In the secret storage. */
  readonly key: string;
  readonly origin: string;
  readonly organizationId: string;
  readonly parts: InputParts;
  /** Milliseconds since 1970. */
  readonly keptAt: number;
}

const prefix = 'password:';
/** Stands before each password in the secret storage, which does not keep an empty text where the system has no keyring. */
const mark = '=';

/**
 * Passwords of the applications under test, in the secret storage, each for one request to one service: where its targets, exclusions,
 * instructions or preferences change, it is not found. An index without passwords says what is kept.
 */
export class Passwords {
  readonly #secrets: SecretStore;
  readonly #index: KeyValueStore;

  constructor(secrets: SecretStore, index: KeyValueStore) {
    this.#secrets = secrets;
    this.#index = index;
  }

  /** The passwords of a run or request, in the order of its credentials; undefined for one that is not kept. */
  async of(request: PasswordRequest): Promise<(string | undefined)[]> {
    const toKept = keptFor(request);
    return Promise.all(loginsOf(request).map(async (login) => this.#get(toKept(login).key)));
  }

  /** The passwords of a run or request that are kept: no message of the service may hold them. */
  async known(request: PasswordRequest): Promise<readonly string[]> {
    return (await this.of(request)).filter((password) => password !== undefined);
  }

  /** The passwords that a run is dispatched with, in the order of its credentials; throws `noPassword` where one is not kept. */
  async require(request: PasswordRequest): Promise<readonly string[]> {
    const passwords = await this.known(request);
    if (passwords.length < loginsOf(request).length) throw new AssessmentError('noPassword');
    return passwords;
  }

  /** Keeps the password of a login of a request. */
  async keep(request: PasswordRequest, login: Login, password: string): Promise<void> {
    const { key, ...kept } = keptFor(request)(login);
    // The index first: a password that is not in it could not be forgotten.
    await this.#index.update(key, kept);
    await this.#secrets.store(key, mark + password);
  }

  /** Every login whose password is kept, the latest first. */
  async kept(): Promise<readonly KeptLogin[]> {
    const found = this.#index
      .keys()
      .filter((key) => key.startsWith(prefix))
      .map((key) => ({ ...(this.#index.get(key) as Omit<KeptLogin, 'key'>), key }));
    const passwords = await Promise.all(found.map(async ({ key }) => this.#secrets.get(key)));
    return found.filter((_, at) => passwords[at] !== undefined).sort((a, b) => b.keptAt - a.keptAt);
  }

  /** The password that was last kept for a login with other parts of the request, if any. */
  async earlier(
    request: PasswordRequest,
    login: Login,
  ): Promise<{ readonly parts: InputParts; readonly password: string } | undefined> {
    const wanted = keptFor(request)(login);
    const before = (await this.kept()).find(
      ({ key, origin, organizationId, id, role }) =>
        key !== wanted.key &&
        origin === wanted.origin &&
        organizationId === wanted.organizationId &&
        id === login.id &&
        role === login.role,
    );
    const password = before && (await this.#get(before.key));
    return before && password !== undefined ? { parts: before.parts, password } : undefined;
  }

  /** Forgets a password. */
  async forget({ key }: Pick<KeptLogin, 'key'>): Promise<void> {
    await this.#secrets.delete(key);
    await this.#index.update(key, undefined);
  }

  async #get(key: string): Promise<string | undefined> {
    return (await this.#secrets.get(key))?.slice(mark.length);
  }
}

/** The logins of a request, in its order. */
export function loginsOf(request: PasswordRequest | undefined): readonly Login[] {
  return request?.input?.authentication?.credentials ?? [];
}

/** Gives each login of a request its entry; the parts, up to megabytes of text, are hashed once. */
function keptFor({ baseUrl, organizationId, input }: PasswordRequest): (login: Login) => KeptLogin {
  const origin = originOf(baseUrl);
  const parts = partsOf(input ?? { target_urls: [] });
  const partsHash = hash('sha256', JSON.stringify(parts));
  return ({ id, role }) => {
    const key = prefix + hash('sha256', JSON.stringify([origin, organizationId, role, id, partsHash]));
    return { key, origin, organizationId, id, role, parts, keptAt: Date.now() };
  };
}
