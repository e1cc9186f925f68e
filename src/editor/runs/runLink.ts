import { hash } from 'node:crypto';
import * as z from 'zod/mini';
import manifest from '../../../package.json' with { type: 'json' };
import { originOf } from '../../core/api/address.ts';
import { identifierSchema } from '../../core/api/schema.ts';
import { nameSchema } from '../../core/findings/identity.ts';
import { workflowIds } from '../../core/workflows/workflow.ts';
import { type Run, runIdOf } from '../../core/run/state/run.ts';
import type { Destination } from '../settings.ts';

/** Links to this extension have this authority. */
export const extensionId = `${manifest.publisher}.${manifest.name}`;

const maxTextLength = 100_000;

/**
 * Mail programs wrap a link anywhere, so white space may appear between any two of its characters.
 */
function wrapped(text: string): string {
  return Array.from(text, (character) => character.replace(/[./]/, '\\$&')).join('\\s*');
}

const prefix = `${wrapped(`://${extensionId}`)}\\s*(/(?:\\s*[a-z])+)\\s*\\?`;
const inQuery = '\\w%&=;:*+.-';
// The account is the last part and has a known length, so it ends the link.
const account = `[&;]\\s*${wrapped('at=')}(?:\\s*[0-9a-f]){12}(?!\\w)`;
const linkPattern = new RegExp(`${prefix}([${inQuery}\\s]*?${account}|\\s*[${inQuery}]*\\w)`, 'i');

const referenceSchema = z.object({
  workflow: z.enum(workflowIds),
  run: identifierSchema,
  /**
   * A finding has several identifiers (`finding`, `file` with `index`, `print`), because another
   * machine may know only some of them.
   */
  finding: z.optional(nameSchema),
  file: z.optional(z.string().check(z.regex(/^[0-9a-f]{16}$/))),
  index: z.optional(z.string().check(z.regex(/^\d{1,7}$/))),
  print: z.optional(z.string().check(z.minLength(1), z.maxLength(100))),
  at: z.optional(z.string().check(z.regex(/^[0-9a-f]{12}$/))),
});
/** Names a run, and perhaps a finding. Links and webhook events are untrusted. */
export type RunReference = z.infer<typeof referenceSchema>;

/** See docs/api.md, section 6. */
const eventSchema = z.object({
  data: z.object({ workflow_id: z.enum(workflowIds), workflow_run_id: identifierSchema }),
});

/** Tells accounts apart without naming them. Returns undefined for an imported run. */
export function accountHash({ baseUrl, organizationId }: Destination): string | undefined {
  if (baseUrl === '') return undefined;
  return hash('sha256', JSON.stringify([originOf(baseUrl), organizationId]), 'hex').slice(0, 12);
}

export function toLinkQuery(
  run: Run,
  finding: Pick<RunReference, 'finding' | 'file' | 'index' | 'print'> = {},
): string {
  const { workflow } = run;
  const parts = { v: '1', workflow, run: referredId(run), ...finding, at: accountHash(run) };
  const entries = Object.entries(parts).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return new URLSearchParams(entries).toString();
}

export function isReferredTo(run: Run, { workflow, run: id, at }: RunReference): boolean {
  const account = accountHash(run);
  const isSameAccount = at === undefined || account === undefined || at === account;
  return run.workflow === workflow && referredId(run) === id && isSameAccount;
}

export function readLink(path: string, query: string): RunReference | undefined {
  const fields = Object.fromEntries(new URLSearchParams(query));
  const { data } = referenceSchema.safeParse(fields);
  if (fields['v'] !== '1' || data === undefined) return undefined;
  if (path === '/finding') return data.finding === undefined ? undefined : data;
  return path === '/run' ? { workflow: data.workflow, run: data.run, at: data.at } : undefined;
}

/** Finds a link even among other words. Also reads the body of a webhook. */
export function readPasted(text: string): RunReference | undefined {
  if (text.length > maxTextLength) return undefined;
  const [path, query] = (linkPattern.exec(text) ?? [])
    .slice(1)
    .map((part) => part.replaceAll(/\s+/g, '').replaceAll('&amp;', '&'));
  if (path !== undefined && query !== undefined) return readLink(path, query);
  try {
    const event = eventSchema.safeParse(JSON.parse(text)).data?.data;
    return event && { workflow: event.workflow_id, run: event.workflow_run_id };
  } catch {
    return undefined; // The text is not JSON.
  }
}

/** Prefers the service's ID, because only this machine knows the local ID. */
function referredId(run: Run): string {
  return runIdOf(run) ?? run.id;
}
