import { execFile } from 'node:child_process';
import { AssessmentError, isAbortError } from '../errors.ts';
import type { SecretStore } from '../ports.ts';
import { untilAborted } from '../yieldingWork.ts';

export interface TokenSource {
  /** Undefined if a user must sign in. */
  get(signal?: AbortSignal): Promise<string | undefined>;
  /**
   * Returns the token to use after a 401: one that was stored meanwhile, or a new one from the
   * token command. Undefined if a user must sign in. Throws `tokenCommand` if the command fails, or
   * prints the rejected token again.
   */
  refresh(rejected: string, signal?: AbortSignal): Promise<string | undefined>;
}

/** Each origin and organization has its own token, so that no token reaches another origin. */
export function tokenKey(origin: string, organizationId: string): string {
  // An organization ID with a colon could look like a port and an ID, so it is encoded.
  const isPlain = !organizationId.includes(':');
  return `token:${origin}:${isPlain ? organizationId : `:${encodeURIComponent(organizationId)}`}`;
}

export function readTokenKey(key: string): { origin: string; organizationId: string } | undefined {
  const [, origin, encoded, plain = ''] =
    /^token:(https?:\/\/(?:\[[^\]]*\]|[^:/]+)(?::\d+)?):(?::((?:[^%]|%[0-9A-F]{2})*)|(.*))$/s.exec(key) ?? [];
  if (origin === undefined) return undefined;
  return { origin, organizationId: encoded === undefined ? plain : decodeURIComponent(encoded) };
}

/** These texts aren't tokens, but may contain one, so they are never shown. */
const faults = [
  ['nothing', /^$/],
  ['json', /^[[{]/],
  ['quotes', /^(["'`]).*\1$/s],
  ['null', /^(?:null|undefined|none)$/i],
  ['words', /\s/],
  ['characters', /[^\x21-\x7e]/],
] as const;

/** Throws `badSetting` with the name of the fault as `detail`. */
export function toToken(text: string): string {
  const token = text.trim();
  const [detail] = faults.find(([, pattern]) => pattern.test(token)) ?? [];
  if (detail !== undefined) throw new AssessmentError('badSetting', { subject: 'token', detail });
  return token;
}

export type Renewals = Map<string, Promise<string>>;

/**
 * Concurrent renewals share one run of the token command, which no caller can abort. Without a
 * token command, throws the errors of `secrets`.
 */
export function storedToken(
  secrets: SecretStore,
  key: string,
  runTokenCommand?: () => Promise<string>,
  renewals: Renewals = new Map(),
): TokenSource {
  // A token command must work even if the secret storage fails.
  const unlessFailed = async <T>(work: PromiseLike<T>): Promise<T | undefined> => {
    try {
      return await work;
    } catch (error) {
      if (runTokenCommand === undefined || isAbortError(error)) throw error;
      return undefined;
    }
  };
  const read = (signal?: AbortSignal): Promise<string | undefined> => unlessFailed(secrets.get(key, signal));
  const renew = async (run: () => Promise<string>, stored: string | undefined): Promise<string> => {
    try {
      const fresh = await run();
      // Saving an unchanged token would notify every window.
      if (fresh !== stored) await unlessFailed(secrets.store(key, fresh));
      return fresh;
    } finally {
      renewals.delete(key);
    }
  };
  const renewed = async (stored: string | undefined, signal?: AbortSignal): Promise<string | undefined> => {
    if (runTokenCommand === undefined) return undefined;
    const renewal = renewals.get(key) ?? renew(runTokenCommand, stored);
    renewals.set(key, renewal);
    return untilAborted(renewal, signal);
  };
  return {
    get: async (signal) => {
      const stored = renewals.has(key) ? undefined : await read(signal);
      return stored ?? renewed(stored, signal);
    },
    refresh: async (rejected, signal) => {
      const stored = await read(signal);
      if (stored !== undefined && stored !== rejected) return stored;
      const fresh = await renewed(stored, signal);
      // The tool that prints the token probably needs a new sign-in.
      if (fresh === rejected) throw new AssessmentError('tokenCommand', { detail: 'sameToken' });
      return fresh;
    },
  };
}

/** Runs without a shell. The error `tokenCommand` never contains the output of the command. */
export async function runTokenCommand(command: readonly string[]): Promise<string> {
  const [program, ...args] = command;
  if (program === undefined) throw new AssessmentError('tokenCommand');
  const output = await new Promise<string>((resolve, reject) => {
    // The message of Node's error has the command line and stderr, which may contain a secret.
    const fail = (error: unknown): void =>
      reject(new AssessmentError('tokenCommand', { subject: program, detail: exitDetail(error) }));
    const options = { timeout: 30_000, maxBuffer: 64 * 1024, windowsHide: true };
    try {
      execFile(program, args, options, (error, stdout) => {
        if (error === null) resolve(stdout);
        else fail(error);
      });
    } catch (error) {
      fail(error); // An argument is invalid, or the program is a batch file, which needs a shell.
    }
  });
  try {
    return toToken(output);
  } catch (cause) {
    const { detail } = (cause as AssessmentError).data;
    throw new AssessmentError('tokenCommand', { subject: program, detail }, { cause });
  }
}

function exitDetail(error: unknown): string | undefined {
  const { code, killed } = error as { code?: unknown; killed?: unknown };
  if (killed === true) return 'noAnswer';
  return typeof code === 'string' || typeof code === 'number' ? String(code) : undefined;
}

/**
 * Replaces the given secrets, the text after `Bearer`, and the query and fragment of URLs, in
 * linear time.
 */
export function redact(text: string, secrets: readonly string[]): string {
  const forms = [...new Set(secrets.filter((secret) => secret !== '').flatMap(formsOf))];
  // A secret may begin with another secret, so the longest is replaced first.
  const all = forms
    .sort((a, b) => b.length - a.length)
    .map((form) => form.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
    .join('|');
  return (
    (all === '' ? text : text.replace(new RegExp(all, 'g'), '[redacted]'))
      .replace(/\bBearer\s+[^\s"',;]+/gi, 'Bearer [redacted]')
      // In JSON, slashes may be escaped. Each URL is matched whole, so that no text is scanned
      // twice.
      .replace(/\bhttps?:(?:\\*\/){2}[^\s"'<>]+/gi, withoutQuery)
  );
}

export function holdsSecret(text: string, secrets: readonly string[]): boolean {
  return secrets.flatMap(formsOf).some((form) => text.includes(form));
}

/**
 * Returns the secret as plain text, escaped in JSON, encoded in a URL or a form, and in Base64 at
 * each alignment.
 */
function formsOf(secret: string): string[] {
  const text = secret.toWellFormed();
  const encoded = encodeURIComponent(text);
  const whole = encoded.replace(
    /[!'()*~]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  const escaped = [encoded, whole].flatMap((form) => [
    form,
    form.replace(/%../g, (code) => code.toLowerCase()),
  ]);
  const base64 = [0, 1, 2].flatMap((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(text)]);
    // Cuts off characters that also encode bits of the surrounding bytes.
    const form = bytes
      .toString('base64')
      .slice(Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6));
    return form.length < 6 ? [] : [form, form.replaceAll('+', '-').replaceAll('/', '_')];
  });
  return [
    secret,
    JSON.stringify(secret).slice(1, -1),
    ...escaped,
    whole.replaceAll('%20', '+'),
    Buffer.from(text).toString('base64'),
    ...base64,
  ];
}

function withoutQuery(address: string): string {
  const end = address.search(/[?#]/);
  return end < 0 ? address : `${address.slice(0, end)}?[redacted]`;
}
