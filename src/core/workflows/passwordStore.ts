import { hash } from 'node:crypto';
import * as z from 'zod/mini';
import { originOf } from '../api/address.ts';
import { AssessmentError } from '../errors.ts';
import { isSamePath } from '../paths.ts';
import type { KeyValueStore, SecretStore } from '../ports.ts';
import type { ApplicationInput } from './blackboxInput.ts';
import { type InputParts, partsOf } from './requestChanges.ts';
import type { WorkflowId } from './workflow.ts';

interface SentInput {
  readonly baseUrl: string;
  readonly organizationId: string;
  readonly input?: ApplicationInput | undefined;
}

export interface PasswordRequest extends SentInput {
  readonly workflow: WorkflowId;
  readonly targetFile?: string | undefined;
}

export interface Login {
  readonly id: string;
  readonly role: string;
}

const textsSchema = z.readonly(z.array(z.string()));

const indexEntrySchema = z.object({
  id: z.string(),
  role: z.string(),
  origin: z.string(),
  organizationId: z.string(),
  parts: z.object({
    targets: textsSchema,
    exclusions: textsSchema,
    loginInstructions: textsSchema,
    crawlInstructions: textsSchema,
    preferences: textsSchema,
  }),
  /** The latest approval for each workflow and target file. The newest approval comes first. */
  uses: z.array(
    z.object({
      workflow: z.string(),
      targetFile: z.optional(z.string()),
      /** Milliseconds since 1970. */
      at: z.number(),
    }),
  ),
});

type IndexEntry = z.infer<typeof indexEntrySchema>;

export type SavedLogin = IndexEntry & { readonly key: string };

/**
 * Passwords that aren't saved for a request yet. The user has entered them, or they are from an
 * earlier request. The keys come from `PasswordStore.keysOf`.
 */
export type EnteredPasswords = Map<string, string>;

/** A login's password from another request. Its value is returned only for the same target file. */
export type EarlierPassword =
  | { readonly from: 'sameFile'; readonly parts: InputParts; readonly password: string }
  | { readonly from: 'otherFile' };

const prefix = 'password:';
/** Precedes each password, since a secret storage without a keyring doesn't save an empty text. */
const valuePrefix = '=';

/**
 * Saves passwords of applications under test. A password belongs to one login and one organization
 * of a service. If the request's targets, exclusions, instructions, or preferences change, the
 * password isn't found. An index without passwords lists the logins.
 */
export class PasswordStore {
  readonly #secrets: SecretStore;
  readonly #index: KeyValueStore;

  constructor(secrets: SecretStore, index: KeyValueStore) {
    this.#secrets = secrets;
    this.#index = index;
  }

  /** Passwords are in the order of the request's credentials, and undefined if not saved. */
  async get(request: SentInput): Promise<(string | undefined)[]> {
    const { keyOf } = toIndexEntry(request);
    return Promise.all(loginsOf(request).map(async (login) => this.#read(keyOf(login))));
  }

  async saved(request: SentInput): Promise<readonly string[]> {
    return (await this.get(request)).filter((password) => password !== undefined);
  }

  /** Throws `noPassword` if the password of any login isn't saved. */
  async require(request: SentInput): Promise<readonly string[]> {
    const passwords = await this.saved(request);
    if (passwords.length < loginsOf(request).length) throw new AssessmentError('noPassword');
    return passwords;
  }

  keysOf(request: SentInput): readonly string[] {
    return loginsOf(request).map(toIndexEntry(request).keyOf);
  }

  async save(request: PasswordRequest, login: Login, password: string): Promise<void> {
    // The index comes first: a password that isn't in it could not be deleted.
    await this.#approve(request, [login]);
    await this.#secrets.store(toIndexEntry(request).keyOf(login), valuePrefix + password);
  }

  /** Records that a user sends passwords with this request, and saves the entered ones. */
  async approve(request: PasswordRequest, entered: ReadonlyMap<string, string> = new Map()): Promise<void> {
    const logins = loginsOf(request);
    const keys = this.keysOf(request);
    await this.#approve(request, logins);
    for (const [at, login] of logins.entries()) {
      const password = entered.get(keys[at] ?? '');
      if (password !== undefined) await this.save(request, login, password);
    }
  }

  async #approve(request: PasswordRequest, logins: readonly Login[]): Promise<void> {
    const { workflow, targetFile } = request;
    const { keyOf, entry } = toIndexEntry(request);
    for (const { id, role } of logins) {
      const key = keyOf({ id, role });
      const before = this.#entryOf(key)?.uses ?? [];
      const others = before.filter(
        (use) => use.workflow !== workflow || !isSamePath(use.targetFile, targetFile),
      );
      const uses = [{ workflow, targetFile, at: Date.now() }, ...others];
      await this.#index.update(key, { ...entry, id, role, uses });
    }
  }

  async savedLogins(): Promise<readonly SavedLogin[]> {
    const found: SavedLogin[] = [];
    for (const key of this.#index.keys().filter((each) => each.startsWith(prefix))) {
      const entry = this.#entryOf(key);
      if (entry !== undefined) found.push({ ...entry, key });
    }
    const passwords = await Promise.all(found.map(async ({ key }) => this.#secrets.get(key)));
    return found.filter((_, at) => passwords[at] !== undefined).sort((a, b) => latestUse(b) - latestUse(a));
  }

  /** Searches requests with other `InputParts`. Prefers the same workflow, then the latest use. */
  async findEarlier(request: PasswordRequest, { id, role }: Login): Promise<EarlierPassword | undefined> {
    const { keyOf, entry } = toIndexEntry(request);
    const key = keyOf({ id, role });
    const others = (await this.savedLogins()).filter(
      (login) =>
        login.key !== key &&
        login.origin === entry.origin &&
        login.organizationId === entry.organizationId &&
        login.id === id &&
        login.role === role,
    );
    if (others.length === 0) return undefined;
    const { workflow, targetFile } = request;
    const ofFile = others.flatMap((login) =>
      login.uses
        .filter((use) => targetFile !== undefined && isSamePath(use.targetFile, targetFile))
        .map((use) => ({ login, use })),
    );
    const [latest] = ofFile.sort(
      (a, b) =>
        Number(b.use.workflow === workflow) - Number(a.use.workflow === workflow) || b.use.at - a.use.at,
    );
    const password = latest && (await this.#read(latest.login.key));
    return latest === undefined || password === undefined
      ? { from: 'otherFile' }
      : { from: 'sameFile', parts: latest.login.parts, password };
  }

  async delete({ key }: Pick<SavedLogin, 'key'>): Promise<void> {
    await this.#secrets.delete(key);
    await this.#index.update(key, undefined);
  }

  #entryOf(key: string): IndexEntry | undefined {
    return indexEntrySchema.safeParse(this.#index.get(key)).data;
  }

  async #read(key: string): Promise<string | undefined> {
    return (await this.#secrets.get(key))?.slice(valuePrefix.length);
  }
}

export function loginsOf(request: SentInput | undefined): readonly Login[] {
  return request?.input?.authentication?.credentials ?? [];
}

/** The parts, up to megabytes of text, are hashed only once for all logins. */
function toIndexEntry({ baseUrl, organizationId, input }: SentInput): {
  readonly entry: Pick<SavedLogin, 'origin' | 'organizationId' | 'parts'>;
  readonly keyOf: (login: Login) => string;
} {
  const origin = originOf(baseUrl);
  const parts = partsOf(input ?? { target_urls: [] });
  const partsHash = hash('sha256', JSON.stringify(parts));
  return {
    entry: { origin, organizationId, parts },
    keyOf: ({ id, role }) =>
      prefix + hash('sha256', JSON.stringify([origin, organizationId, role, id, partsHash])),
  };
}

function latestUse({ uses }: SavedLogin): number {
  return uses[0]?.at ?? 0;
}
