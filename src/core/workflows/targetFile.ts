import { applyEdits, findNodeAtLocation, modify, type Node, type ParseError, parseTree } from 'jsonc-parser';
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

/** A target file, `*.blackbox.json`: what both blackbox workflows are started from, in the API's words (API reference, sections 2.6 to 2.8). Its descriptions are what the editor shows on hovering. */
export const targetFileSchema = z.strictObject({
  $schema: z.optional(z.string().check(z.describe('Address of a JSON schema. Never sent.'))),
  target_urls: targetUrlsSchema.check(
    z.describe(
      'URLs of the application to crawl and test. Its ownership has to be verified with the service.',
    ),
  ),
  oos_urls: z.optional(
    oosUrlsSchema.check(z.describe('URLs that are out of scope: neither crawled nor tested.')),
  ),
  language: z.optional(
    languageSchema.check(z.describe('Language of the report. By default the one of the settings.')),
  ),
  notification: z.optional(
    notificationSchema.check(
      z.describe('Webhook endpoints to notify of the end. By default those of the settings.'),
    ),
  ),
  authentication: z.optional(
    strictSchemas.authentication.check(
      z.describe('How the service logs in. Passwords are asked for, and never stand in this file.'),
    ),
  ),
  preference: z.optional(
    strictSchemas.preference.check(z.describe('Wishes that guide a run. The service need not follow them.')),
  ),
  crawl: z.optional(
    z.strictObject({
      credit_limit: z.optional(
        crawlLimitSchema.check(
          z.describe('The most credits that a crawl spends. It ends with the features found by then.'),
        ),
      ),
      additional_instructions: z.optional(
        instructionsSchema.check(z.describe('Guidance for the crawl, in your own words.')),
      ),
    }),
  ),
  assessment: z.optional(
    z.strictObject({
      scan_credit_limit: z.optional(
        scanLimitSchema.check(
          z.describe('The most credits spent on testing. The run stops there, and can be continued.'),
        ),
      ),
      crawl_credit_limit: z.optional(
        crawlLimitSchema.check(
          z.describe('The most credits spent on crawling. Testing goes on with the features found by then.'),
        ),
      ),
    }),
  ),
});
/** A target file's content. */
export type TargetFile = z.infer<typeof targetFileSchema>;

/** What is wrong at a place of a target file; offset and length are in UTF-16 code units of its text. */
export interface TargetProblem {
  readonly kind:
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

/** More than the longest file within the bounds has; a longer one is not read. */
const maxLength = 10_000_000;

/** Reads a target file, strictly as JSON: what it says, or everything that is wrong with it. */
export function readTargetFile(
  written: string,
): { readonly file: TargetFile } | { readonly problems: readonly TargetProblem[] } {
  const errors: ParseError[] = [];
  // VS Code counts a file's places without its byte order mark.
  const text = written.replace(/^\uFEFF/, '');
  const root = text.length > maxLength ? undefined : toTree(text, errors);
  const [error] = errors;
  if (root === undefined || error !== undefined)
    return { problems: [{ kind: 'notJson', offset: error?.offset ?? 0, length: error?.length ?? 1 }] };
  const repeated = repeatedMembers(root);
  // JSON.parse, and not the tree's values: it keeps `__proto__` as a member like any other.
  const read = targetFileSchema.safeParse(JSON.parse(text));
  if (read.success && repeated.length === 0) return { file: read.data };
  const broken = read.success ? [] : read.error.issues.flatMap((issue) => toProblems(issue, root));
  return { problems: [...repeated, ...broken].sort((a, b) => a.offset - b.offset) };
}

function toTree(text: string, errors: ParseError[]): Node | undefined {
  try {
    return parseTree(text, errors, { disallowComments: true });
  } catch (error) {
    if (error instanceof RangeError) return undefined; // nested too deeply to be a target file
    throw error;
  }
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
    case 'unrecognized_keys':
      return issue.keys.map((name) => {
        const isPassword = path.includes('credentials') && name === 'password';
        const kind = isPassword && isMovable(findNodeAtLocation(node, [name])) ? 'password' : 'unknown';
        return problemAt(keyOf(node, name), { kind, subject: name });
      });
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

function keyOf(object: Node, name: string): Node {
  const property = object.children?.find((child) => child.children?.[0]?.value === name);
  return property?.children?.[0] ?? object;
}

function problemAt(
  { offset, length }: Node,
  problem: Omit<TargetProblem, 'offset' | 'length'>,
): TargetProblem {
  return { ...problem, offset, length };
}

/** The `input` of a request that a target file makes, without language and passwords (API reference, sections 2.6 to 2.8). */
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

/** A target file's text without the passwords in it, and the passwords, by the place of their login in the file. */
export function takePasswords(text: string): {
  readonly text: string;
  readonly passwords: ReadonlyMap<number, string>;
} {
  const passwords = new Map<number, string>();
  for (let rest = text; ;) {
    const root = toTree(rest, []);
    const logins = root && findNodeAtLocation(root, ['authentication', 'credentials'])?.children;
    const found = (logins ?? []).map((login) => findNodeAtLocation(login, ['password']));
    const index = found.findIndex(isMovable);
    const node = found[index];
    if (node === undefined) return { text: rest, passwords };
    // A number as it is written: 0123 and 1e3 are passwords, too.
    const written = rest.slice(node.offset, node.offset + node.length);
    passwords.set(index, node.type === 'string' ? String(node.value) : written);
    const path = ['authentication', 'credentials', index, 'password'];
    rest = applyEdits(rest, modify(rest, path, undefined, {}));
  }
}
