import { findNodeAtLocation, getNodeValue, type Node, type ParseError, parseTree } from 'jsonc-parser';
import * as z from 'zod/mini';
import { languageSchema, notificationSchema } from '../api/schema.ts';
import {
  type ApplicationInput,
  crawlLimitSchema,
  instructionsSchema,
  oosUrlsSchema,
  scanLimitSchema,
  sharedInput,
  strictSchemas,
  targetUrlsSchema,
} from './application.ts';

/** A target file, in the API's words (docs/api.md, sections 2.6 to 2.8). The editor shows its descriptions in hovers. */
export const targetFileSchema = z.strictObject({
  $schema: z.optional(z.string().check(z.describe('URL of a JSON schema. It is never sent.'))),
  target_urls: targetUrlsSchema.check(
    z.describe('URLs of the application to crawl and test. The service must have verified that you own it.'),
  ),
  oos_urls: z.optional(
    oosUrlsSchema.check(z.describe('Out-of-scope URLs. They are neither crawled nor tested.')),
  ),
  language: z.optional(
    languageSchema.check(z.describe('Language of the report. Default: the language in the settings.')),
  ),
  notification: z.optional(
    notificationSchema.check(
      z.describe('Webhook endpoints to notify when the run ends. Default: the endpoints in the settings.'),
    ),
  ),
  authentication: z.optional(
    strictSchemas.authentication.check(
      z.describe('How the service logs in. VS Code asks for passwords. They are never saved in this file.'),
    ),
  ),
  preference: z.optional(
    strictSchemas.preference.check(
      z.describe('Preferences that guide a run. The service doesn’t have to follow them.'),
    ),
  ),
  crawl: z.optional(
    z.strictObject({
      credit_limit: z.optional(
        crawlLimitSchema.check(
          z.describe(
            'Maximum number of credits that a crawl spends. At this limit, the crawl ends with the features found so far.',
          ),
        ),
      ),
      additional_instructions: z.optional(
        instructionsSchema.check(z.describe('Instructions for the crawl, in your own words.')),
      ),
    }),
  ),
  assessment: z.optional(
    z.strictObject({
      scan_credit_limit: z.optional(
        scanLimitSchema.check(
          z.describe(
            'Maximum number of credits to spend on testing. At this limit, the run stops. You can continue it.',
          ),
        ),
      ),
      crawl_credit_limit: z.optional(
        crawlLimitSchema.check(
          z.describe(
            'Maximum number of credits to spend on crawling. Testing then continues with the features found so far.',
          ),
        ),
      ),
    }),
  ),
});
export type TargetFile = z.infer<typeof targetFileSchema>;

/** What is wrong at a place of a target file; offset and length are in UTF-16 code units of its text. */
export interface TargetProblem {
  readonly kind:
    | 'tooLarge'
    | 'unchecked'
    | 'notJson'
    | 'missing'
    | 'unknown'
    | 'repeated'
    | 'password'
    | 'type'
    | 'value'
    | 'url'
    | 'sameLogin'
    | 'atLeast'
    | 'atMost';
  readonly offset: number;
  readonly length: number;
  /** The member that is missing, unknown or repeated; the type that is expected; the values that are allowed. */
  readonly subject?: string;
  /** The bound that is broken, and what it counts. */
  readonly bound?: number;
  readonly counted?: 'items' | 'characters' | 'credits';
}

/** A file within the bounds of the schema is smaller, even if all its characters are escaped. */
const maxBytes = 8_000_000;
/** Reading takes time for each character outside strings. A file within the bounds has some 10,000 of them, with its indentation. */
const maxOutsideStrings = 100_000;
/** A file within the bounds has 5 levels; readers recurse into each. */
const maxDepth = 100;
/** More problems than a person reads at once. */
const maxProblems = 100;

/** Reads a target file, strictly as JSON: its content, or what is wrong with it, up to 100 problems in the order of the text. */
export function readTargetFile(
  written: string,
): { readonly file: TargetFile } | { readonly problems: readonly TargetProblem[] } {
  // VS Code counts a file's places without its byte order mark.
  const text = written.replace(/^\uFEFF/, '');
  if (Buffer.byteLength(text) > maxBytes)
    return { problems: [{ kind: 'tooLarge', offset: 0, length: 1, bound: maxBytes }] };
  const { root, error, end } = toTree(text);
  if (root === undefined || error !== undefined)
    return { problems: [{ kind: 'notJson', offset: error?.offset ?? 0, length: error?.length ?? 1 }] };
  const isCut = end < text.length;
  const repeated = repeatedMembers(root);
  const read = targetFileSchema.safeParse(getNodeValue(root));
  if (read.success && repeated.length === 0 && !isCut) return { file: read.data };
  const broken = read.success ? [] : read.error.issues.flatMap((issue) => toProblems(issue, root));
  const problems = [...repeated, ...broken];
  // What is missing before the cut may be after it.
  const certain = isCut ? problems.filter(({ kind }) => kind !== 'missing' && kind !== 'atLeast') : problems;
  const sorted = certain.sort((a, b) => a.offset - b.offset);
  const next = sorted[maxProblems]?.offset ?? (isCut ? end : undefined);
  const rest = next === undefined ? [] : [{ kind: 'unchecked', offset: next, length: 1 } as const];
  return { problems: [...sorted.slice(0, maxProblems), ...rest] };
}

/** The tree of a text up to the end of reading, and the first error in it. */
function toTree(text: string): {
  readonly root: Node | undefined;
  readonly error: ParseError | undefined;
  readonly end: number;
} {
  const errors: ParseError[] = [];
  const { end, closing } = endOfReading(text);
  const root = parseTree(text.slice(0, end) + closing, errors, { disallowComments: true });
  // At a cut the parser misses a value or a comma.
  const error = errors.find(({ offset, length }) => end === text.length || offset + length < end);
  return { root, error, end };
}

/** Where a text ends or exceeds the bounds of reading, and the brackets that close what is open there. */
function endOfReading(text: string): { readonly end: number; readonly closing: string } {
  const closing: string[] = [];
  let [outside, isInString] = [0, false];
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '"') isInString = !isInString;
    else if (isInString && character === '\\') at++;
    if (isInString) continue;
    if (character === '[') closing.push(']');
    else if (character === '{') closing.push('}');
    else if (character === ']' || character === '}') closing.pop();
    if (++outside > maxOutsideStrings || closing.length > maxDepth)
      return { end: at + 1, closing: closing.reverse().join('') };
  }
  return { end: text.length, closing: '' };
}

/** Members that stand twice in an object: which one counts depends on the reader. */
function repeatedMembers(node: Node): TargetProblem[] {
  const names = new Set<unknown>();
  return (node.children ?? []).flatMap((child) => {
    const [key] = child.type === 'property' ? (child.children ?? []) : [];
    const isRepeated = key !== undefined && names.has(key.value);
    names.add(key?.value);
    return [
      ...(isRepeated ? [problemAt(key, { kind: 'repeated', subject: String(key.value) })] : []),
      ...repeatedMembers(child),
    ];
  });
}

function toProblems(issue: z.core.$ZodIssue, root: Node): TargetProblem[] {
  const path = issue.path.filter((step) => typeof step !== 'symbol');
  const node = findNodeAtLocation(root, path);
  if (node === undefined) {
    const parent = findNodeAtLocation(root, path.slice(0, -1)) ?? root;
    return [{ kind: 'missing', subject: String(path.at(-1)), offset: parent.offset, length: 1 }];
  }
  switch (issue.code) {
    case 'unrecognized_keys': {
      const members = new Map((node.children ?? []).map(({ children }) => [children?.[0]?.value, children]));
      return issue.keys.map((name) => {
        const [key = node, value] = members.get(name) ?? [];
        const isPassword = path.includes('credentials') && name === 'password' && isMovable(value);
        return problemAt(key, { kind: isPassword ? 'password' : 'unknown', subject: name });
      });
    }
    case 'invalid_type':
      return [problemAt(node, { kind: 'type', subject: issue.expected })];
    case 'invalid_value':
      return [problemAt(node, { kind: 'value', subject: issue.values.map(String).join(', ') })];
    case 'too_small':
      return [
        problemAt(node, { kind: 'atLeast', bound: Number(issue.minimum), counted: countedBy(issue.origin) }),
      ];
    case 'too_big':
      return [
        problemAt(node, { kind: 'atMost', bound: Number(issue.maximum), counted: countedBy(issue.origin) }),
      ];
    default:
      return [problemAt(node, { kind: node.type === 'array' ? 'sameLogin' : 'url' })];
  }
}

function countedBy(origin: string): 'items' | 'characters' | 'credits' {
  if (origin === 'array') return 'items';
  return origin === 'string' ? 'characters' : 'credits';
}

function problemAt(
  { offset, length }: Node,
  problem: Omit<TargetProblem, 'offset' | 'length'>,
): TargetProblem {
  return { ...problem, offset, length };
}

/** The `input` of a request that a target file makes, without language and passwords (docs/api.md, sections 2.6 to 2.8). */
export function toInput(
  file: TargetFile,
  workflow: 'blackbox-crawl' | 'blackbox-assessment',
): ApplicationInput {
  return { ...sharedInput(file), ...(workflow === 'blackbox-crawl' ? file.crawl : file.assessment) };
}

/** A password in a target file that can be moved to the secret storage: people write digits without quotes, too. */
function isMovable(node: Node | undefined): boolean {
  return node?.type === 'string' || node?.type === 'number';
}

/** The text without passwords, and these by the position of their login. A text that is not read to its end stays as it is. */
export function takePasswords(text: string): {
  readonly text: string;
  readonly passwords: ReadonlyMap<number, string>;
} {
  const passwords = new Map<number, string>();
  const { root, end } = toTree(text);
  const logins = root && findNodeAtLocation(root, ['authentication', 'credentials'])?.children;
  if (logins === undefined || end < text.length) return { text, passwords };
  const taken = logins.flatMap(({ children: members = [] }, index) => {
    let kept: Node | undefined;
    return members.flatMap((member, at) => {
      const [key, value] = member.children ?? [];
      if (key?.value !== 'password' || value === undefined || !isMovable(value)) {
        kept = member;
        return [];
      }
      // A number as it is written: 0123 and 1e3 are passwords, too.
      const written = text.slice(value.offset, value.offset + value.length);
      passwords.set(index, value.type === 'string' ? String(value.value) : written);
      // With the comma before it, or after it where no member is before.
      const before = kept && members[at - 1];
      const from = before ? endOf(before) : member.offset;
      const next = kept ? undefined : members[at + 1];
      return [{ from, to: next?.offset ?? endOf(member) }];
    });
  });
  const rest = taken.map(({ from }, at) => text.slice(taken[at - 1]?.to, from));
  return { text: rest.join('') + text.slice(taken.at(-1)?.to), passwords };
}

function endOf({ offset, length }: Node): number {
  return offset + length;
}
