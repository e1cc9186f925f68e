import { maskSecrets } from './checkSecrets.ts';

/** Names that a text for other people must not contain. Paths are absolute. */
export interface PrivateNames {
  readonly home: string;
  readonly folders: readonly { readonly path: string; readonly shown: string }[];
  readonly accounts: readonly { readonly baseUrl: string; readonly organizationId: string }[];
}

/** Removes secrets and `names` from lists of lines. Undoes escapes that may hide a name. */
export async function maskDiagnostics(
  lists: readonly (readonly string[])[],
  names: PrivateNames,
  workerFile: string | URL,
  signal?: AbortSignal,
): Promise<string[][]> {
  const masked = await maskSecrets(lists, workerFile, signal);
  const patterns = patternsOf(names).filter(([pattern]) => pattern !== '');
  const anyPattern = new RegExp(patterns.map(([pattern]) => `(${pattern})`).join('|'), 'giu');
  const maskNames = (whole: string, ...groups: unknown[]): string =>
    patterns[groups.findIndex((group) => group !== undefined)]?.[1] ?? whole;
  return masked.map((lines) => lines.map((line) => unescaped(line).replace(anyPattern, maskNames)));
}

/**
 * Keeps escapes such as `%0A`, whose characters would break the line. Names are compared in
 * composed form.
 */
function unescaped(line: string): string {
  return line
    .replace(/(?:%[2-9a-f][0-9a-f])+/gi, (code) => Buffer.from(code.replaceAll('%', ''), 'hex').toString())
    .replace(/\\+u(?!00[01])([0-9a-f]{4})/gi, (_, code: string) =>
      String.fromCharCode(Number.parseInt(code, 16)),
    )
    .normalize('NFC');
}

type PatternAndShown = readonly [pattern: string, shown: string];

const separator = String.raw`[\\/]+`;
/** A name may follow an escape such as `\n`. */
const nameBehind = String.raw`(?<=^|[^\p{L}\p{N}]|\\[nrt])`;
const nameAhead = String.raw`(?![\p{L}\p{N}])`;

function patternsOf({ home, folders, accounts }: PrivateNames): readonly PatternAndShown[] {
  const paths = [...folders, { path: home, shown: '~' }]
    // The longest comes first, because a folder may be in another one.
    .sort((a, b) => b.path.length - a.path.length)
    .map(({ path, shown }) => [pathPattern(path), shown] as const);
  const hosts = new Set(accounts.flatMap(({ baseUrl }) => hostsOf(baseUrl)));
  const ids = new Set(accounts.map(({ organizationId }) => organizationId));
  return [
    ...paths,
    ...[...hosts].map((host) => [hostPattern(host), '[service]'] as const),
    ...[...ids].map(
      (id) => [id.length < 2 ? '' : nameBehind + literal(id) + nameAhead, '[organization]'] as const,
    ),
    ...generalPatterns,
  ];
}

/**
 * The first pattern matches other homes, including those of other systems on this machine, and
 * short names (`C:\Users\JANEDO~1`). The second matches secrets that only their scheme reveals.
 */
const generalPatterns: readonly PatternAndShown[] = [
  [
    String.raw`(?:${nameBehind}[a-z][:$])?${separator}(?:home|users|documents and settings)${separator}(?:[^\\/:*?"'<>|\r\n]{1,64}(?=${separator})|[^\s\\/:*?"'<>|,;)\]}]{1,64})`,
    '~',
  ],
  [String.raw`${nameBehind}(?:bearer|basic)(?:[ \t+:]|\\[nrt])+[^\s"'\\,;<>]+`, 'Bearer …'],
];

/**
 * Empty for the root of a disk. A path with a single name (`/src`) doesn't match after another name
 * (`/app/src`), because any folder may contain that name.
 */
function pathPattern(path: string): string {
  const [, drive, remainder = ''] = /^([a-z]):(.*)$/is.exec(path) ?? [undefined, undefined, path];
  const names = remainder.split(/[\\/]+/).filter((name) => name !== '');
  if (names.length === 0) return '';
  const start = drive === undefined ? '' : `(?:${nameBehind}${drive}[:$])?`;
  const below = names.map((name) => separator + literal(name)).join('');
  return `${names.length === 1 ? nameBehind : ''}${start}${below}${nameAhead}`;
}

function hostsOf(baseUrl: string): string[] {
  if (!URL.canParse(baseUrl)) return [];
  const typed = /\/\/(?:[^/@]*@)?([^/:?#]+)/.exec(baseUrl)?.[1] ?? '';
  return [new URL(baseUrl).hostname, typed].filter((host) => host !== '');
}

function hostPattern(host: string): string {
  return String.raw`${nameBehind}(?:(?:https?|wss?):[\\/]+)?(?:[\w-]+\.)*${literal(host)}\.?(?::\d{1,5})?(?![\p{L}\p{N}-])`;
}

function literal(name: string): string {
  return name.normalize('NFC').replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
}
