import { hash } from 'node:crypto';
import { originOf } from '../api/address.ts';
import { AssessmentError } from '../errors.ts';
import type { KeyValueStore, SecretStore } from '../ports.ts';
import type { ApplicationInput } from './application.ts';
import { type InputParts, partsOf } from './requestChanges.ts';
import type { WorkflowId } from './workflow.ts';

/** What a password is sent with: a run, or what may be sent for one. */
interface SentInput {
  readonly baseUrl: string;
  readonly organizationId: string;
  readonly input?: ApplicationInput | undefined;
}

/** What a password is asked for and kept for. */
export interface PasswordRequest extends SentInput {
  readonly workflow: WorkflowId;
  /** The target file that the request comes from, absolute. */
  readonly targetFile?: string | undefined;
}

export interface Login {
  readonly id: string;
  readonly role: string;
}

/** The last time that a password was approved for a workflow and a target file. */
interface PasswordUse {
  readonly workflow: WorkflowId;
  readonly targetFile: string | undefined;
  /** Milliseconds since 1970. */
  readonly at: number;
}

export interface KeptLogin extends Login {
  readonly key: string;
  readonly origin: string;
  readonly organizationId: string;
  readonly parts: InputParts;
  /** The latest first, one for each workflow and target file: the same request can come from several. */
  readonly uses: readonly PasswordUse[];
}

/** What is kept for a login from other requests: the latest one of the same target file, or only requests of other files. */
export type EarlierPassword =
  | { readonly from: 'sameFile'; readonly parts: InputParts; readonly password: string }
  | { readonly from: 'otherFile' };

const prefix = 'password:';
/** Stands before each password in the secret storage, which does not keep an empty text where the system has no keyring. */
const mark = '=';

/**
 * Passwords of the applications under test, in the secret storage, each for one request to one service: where its targets, exclusions,
 * instructions or preferences change, it is not found. An index without passwords says what is kept.
 */
export class PasswordStore {
  readonly #secrets: SecretStore;
  readonly #index: KeyValueStore;

  constructor(secrets: SecretStore, index: KeyValueStore) {
    this.#secrets = secrets;
    this.#index = index;
  }

  /** The passwords of a run or request, in the order of its credentials; undefined for one that is not kept. */
  async of(request: SentInput): Promise<(string | undefined)[]> {
    const { keyOf } = toKept(request);
    return Promise.all(loginsOf(request).map(async (login) => this.#get(keyOf(login))));
  }

  /** The passwords of a run or request that are kept: no message of the service may hold them. */
  async known(request: SentInput): Promise<readonly string[]> {
    return (await this.of(request)).filter((password) => password !== undefined);
  }

  /** The passwords that a run is dispatched with, in the order of its credentials; throws `noPassword` where one is not kept. */
  async require(request: SentInput): Promise<readonly string[]> {
    const passwords = await this.known(request);
    if (passwords.length < loginsOf(request).length) throw new AssessmentError('noPassword');
    return passwords;
  }

  async keep(request: PasswordRequest, login: Login, password: string): Promise<void> {
    // The index first: a password that is not in it could not be forgotten.
    await this.approve(request, [login]);
    await this.#secrets.store(toKept(request).keyOf(login), mark + password);
  }

  /** Notes that a person sends passwords with this request: later requests from the same target file are compared with it. */
  async approve(request: PasswordRequest, logins: readonly Login[]): Promise<void> {
    const { workflow, targetFile } = request;
    const { keyOf, kept } = toKept(request);
    for (const { id, role } of logins) {
      const key = keyOf({ id, role });
      const before = (this.#index.get(key) as Omit<KeptLogin, 'key'> | undefined)?.uses ?? [];
      const others = before.filter((use) => use.workflow !== workflow || use.targetFile !== targetFile);
      const uses = [{ workflow, targetFile, at: Date.now() }, ...others];
      await this.#index.update(key, { ...kept, id, role, uses });
    }
  }

  /** Every login whose password is kept, the latest first. */
  async kept(): Promise<readonly KeptLogin[]> {
    const found = this.#index
      .keys()
      .filter((key) => key.startsWith(prefix))
      .map((key) => ({ ...(this.#index.get(key) as Omit<KeptLogin, 'key'>), key }));
    const passwords = await Promise.all(found.map(async ({ key }) => this.#secrets.get(key)));
    return found
      .filter((_, at) => passwords[at] !== undefined)
      .sort((a, b) => latest(b.uses) - latest(a.uses));
  }

  /** What is kept for a login with other parts of the request, if anything: of the same workflow and target file first, then of the file's other workflow. */
  async earlier(request: PasswordRequest, { id, role }: Login): Promise<EarlierPassword | undefined> {
    const { keyOf, kept } = toKept(request);
    const wanted = keyOf({ id, role });
    const others = (await this.kept()).filter(
      (each) =>
        each.key !== wanted &&
        each.origin === kept.origin &&
        each.organizationId === kept.organizationId &&
        each.id === id &&
        each.role === role,
    );
    if (others.length === 0) return undefined;
    const { workflow, targetFile } = request;
    const ofFile = others.flatMap(({ key, parts, uses }) =>
      uses
        .filter((use) => targetFile !== undefined && use.targetFile === targetFile)
        .map((use) => ({ key, parts, use })),
    );
    const [before] = ofFile.sort(
      (a, b) =>
        Number(b.use.workflow === workflow) - Number(a.use.workflow === workflow) || b.use.at - a.use.at,
    );
    const password = before && (await this.#get(before.key));
    return before === undefined || password === undefined
      ? { from: 'otherFile' }
      : { from: 'sameFile', parts: before.parts, password };
  }

  async forget({ key }: Pick<KeptLogin, 'key'>): Promise<void> {
    await this.#secrets.delete(key);
    await this.#index.update(key, undefined);
  }

  async #get(key: string): Promise<string | undefined> {
    return (await this.#secrets.get(key))?.slice(mark.length);
  }
}

/** The logins of a request, in its order. */
export function loginsOf(request: SentInput | undefined): readonly Login[] {
  return request?.input?.authentication?.credentials ?? [];
}

/** What is kept for each login of a request, and under which key; the parts, up to megabytes of text, are hashed once. */
function toKept({ baseUrl, organizationId, input }: SentInput): {
  readonly kept: Pick<KeptLogin, 'origin' | 'organizationId' | 'parts'>;
  readonly keyOf: (login: Login) => string;
} {
  const origin = originOf(baseUrl);
  const parts = partsOf(input ?? { target_urls: [] });
  const partsHash = hash('sha256', JSON.stringify(parts));
  return {
    kept: { origin, organizationId, parts },
    keyOf: ({ id, role }) =>
      prefix + hash('sha256', JSON.stringify([origin, organizationId, role, id, partsHash])),
  };
}

function latest(uses: readonly PasswordUse[]): number {
  return uses[0]?.at ?? 0;
}
