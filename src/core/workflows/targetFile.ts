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
} from './blackboxInput.ts';

function optional<Schema extends z.ZodMiniType>(schema: Schema, description: string) {
  return z.optional(schema.check(z.describe(description)));
}

/**
 * Member names except `$schema`, `crawl`, and `assessment` are the API's (docs/api.md, sections 2.6
 * to 2.8). The editor shows the descriptions in hovers.
 */
export const targetFileSchema = z.strictObject({
  $schema: optional(z.string(), 'URL of a JSON schema. It is never sent.'),
  target_urls: targetUrlsSchema.check(
    z.describe(
      'URLs of the application to crawl and test. The ownership of each URL must be verified for your organization.',
    ),
  ),
  oos_urls: optional(oosUrlsSchema, 'Out-of-scope URLs. They are neither crawled nor tested.'),
  language: optional(languageSchema, 'Language of the report. Default: the language in the settings.'),
  notification: optional(
    notificationSchema,
    'Webhook endpoints to notify when the run ends. Default: the endpoints in the settings.',
  ),
  authentication: optional(
    strictSchemas.authentication,
    'How the service logs in. VS Code asks for passwords. They are never saved in this file.',
  ),
  preference: optional(
    strictSchemas.preference,
    'Preferences that guide a run. The service doesn’t have to follow them.',
  ),
  crawl: z.optional(
    z.strictObject({
      credit_limit: optional(
        crawlLimitSchema,
        'Maximum number of credits that a crawl spends. At this limit, the crawl ends with the features found so far.',
      ),
      additional_instructions: optional(instructionsSchema, 'Instructions for the crawl, in your own words.'),
    }),
  ),
  assessment: z.optional(
    z.strictObject({
      scan_credit_limit: optional(
        scanLimitSchema,
        'Maximum number of credits to spend on testing. At this limit, the run stops. You can continue it.',
      ),
      crawl_credit_limit: optional(
        crawlLimitSchema,
        'Maximum number of credits to spend on crawling. Testing then continues with the features found so far.',
      ),
    }),
  ),
});
export type TargetFile = z.infer<typeof targetFileSchema>;

/** Offset and length are in UTF-16 code units of the text. */
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
  /** A member's name, the expected type, or the allowed values. */
  readonly subject?: string;
  readonly bound?: number;
  readonly counted?: 'items' | 'characters' | 'credits';
}

/**
 * A file with every member at its bound (docs/api.md, section 8) takes less than 3 MB, unless
 * characters are escaped.
 */
const maxBytes = 8_000_000;
/**
 * Limits the parsing time, which depends mostly on the characters outside strings. The largest
 * valid file has some 10,000 of them, with indentation.
 */
const maxOutsideStrings = 100_000;
/** A valid file has at most 4 open brackets at a time. Parsers recurse into every bracket. */
const maxDepth = 100;
const maxProblems = 100;

/**
 * Accepts only strict JSON. Problems are in the order of the text. The last problem may be
 * `unchecked`, where checking stopped.
 */
export function readTargetFile(
  source: string,
): { readonly file: TargetFile } | { readonly problems: readonly TargetProblem[] } {
  // VS Code counts offsets without the byte order mark.
  const text = source.replace(/^\uFEFF/, '');
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
  // A missing member or item may follow the cut.
  const certain = isCut ? problems.filter(({ kind }) => kind !== 'missing' && kind !== 'atLeast') : problems;
  const sorted = certain.sort((a, b) => a.offset - b.offset);
  const uncheckedFrom = sorted[maxProblems]?.offset ?? (isCut ? end : undefined);
  const unchecked =
    uncheckedFrom === undefined ? [] : [{ kind: 'unchecked', offset: uncheckedFrom, length: 1 } as const];
  return { problems: [...sorted.slice(0, maxProblems), ...unchecked] };
}

function toTree(text: string): {
  readonly root: Node | undefined;
  readonly error: ParseError | undefined;
  readonly end: number;
} {
  const errors: ParseError[] = [];
  const { end, closing } = endOfReading(text);
  const root = parseTree(text.slice(0, end) + closing, errors, { disallowComments: true });
  // An error at the cut only means that a value or a comma is missing there.
  const error = errors.find(({ offset, length }) => end === text.length || offset + length < end);
  return { root, error, end };
}

/**
 * Returns the end of the text, or the point where a limit is exceeded. In the latter case,
 * `closing` has the missing brackets.
 */
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

/** Which of two members with the same name counts depends on the parser. */
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

export function toInput(
  file: TargetFile,
  workflow: 'blackbox-crawl' | 'blackbox-assessment',
): ApplicationInput {
  return { ...sharedInput(file), ...(workflow === 'blackbox-crawl' ? file.crawl : file.assessment) };
}

/** True for a value that can be saved as a password. Users write digits without quotes, too. */
function isMovable(node: Node | undefined): boolean {
  return node?.type === 'string' || node?.type === 'number';
}

/**
 * The keys of `passwords` are indexes of logins. A text isn't changed if it has an error or
 * `endOfReading` cuts it.
 */
export function takePasswords(text: string): {
  readonly text: string;
  readonly passwords: ReadonlyMap<number, string>;
} {
  const passwords = new Map<number, string>();
  const { root, error, end } = toTree(text);
  const logins = root && findNodeAtLocation(root, ['authentication', 'credentials'])?.children;
  if (logins === undefined || error !== undefined || end < text.length) return { text, passwords };
  const removed = logins.flatMap(({ children: members = [] }, index) => {
    let isFirstLeft = true;
    return members.flatMap((member, at) => {
      const [key, value] = member.children ?? [];
      if (key?.value !== 'password' || value === undefined || !isMovable(value)) {
        isFirstLeft = false;
        return [];
      }
      // A number counts as written, such as 1e3.
      const literal = text.slice(value.offset, endOf(value));
      passwords.set(index, value.type === 'string' ? String(value.value) : literal);
      // The member is removed with the comma before it or, if no member is left before it, after
      // it.
      const before = isFirstLeft ? undefined : members[at - 1];
      const next = isFirstLeft ? members[at + 1] : undefined;
      return [{ from: before ? endOf(before) : member.offset, to: next?.offset ?? endOf(member) }];
    });
  });
  const parts = removed.map(({ from }, at) => text.slice(removed[at - 1]?.to, from));
  return { text: parts.join('') + text.slice(removed.at(-1)?.to), passwords };
}

function endOf({ offset, length }: Node): number {
  return offset + length;
}
