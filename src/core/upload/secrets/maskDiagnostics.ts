import { maskSecrets } from './checkSecrets.ts';

/** What a text for other people must not name. Paths are absolute. */
export interface PrivateNames {
  readonly home: string;
  readonly folders: readonly { readonly path: string; readonly shown: string }[];
  readonly accounts: readonly { readonly baseUrl: string; readonly organizationId: string }[];
}

/** A text for other people, without credentials and `names`, in whatever form programs write them. */
export async function maskDiagnostics(
  text: string,
  names: PrivateNames,
  workerFile: string | URL,
  signal?: AbortSignal,
): Promise<string> {
  const masked = await maskSecrets(text, workerFile, signal);
  const patterns = patternsOf(names);
  const anyPattern = new RegExp(patterns.map(([pattern]) => `(${pattern})`).join('|'), 'giu');
  return masked.replace(anyPattern, (whole: string, ...groups: unknown[]) => {
    const at = groups.slice(0, patterns.length).findIndex((group) => group !== undefined);
    return patterns[at]?.[1] ?? whole;
  });
}

type PatternAndShown = readonly [pattern: string, shown: string];

/** As Linux, Windows, JSON, and URLs write them. */
const separator = String.raw`(?:[\\/]|%5c|%2f)+`;
/** Escapes end with letters or digits, too. */
const nameBehind = String.raw`(?<=^|[^\p{L}\p{N}]|%[0-9a-f]{2}|\\[nrt])`;
const nameAhead = String.raw`(?![\p{L}\p{N}])`;

function patternsOf({ home, folders, accounts }: PrivateNames): readonly PatternAndShown[] {
  const paths = [...folders, { path: home, shown: '~' }]
    // The longest first: a folder may be in another one.
    .sort((a, b) => b.path.length - a.path.length)
    .map(({ path, shown }) => [pathPattern(path), shown] as const);
  const hosts = accounts.flatMap(({ baseUrl }) => hostsOf(baseUrl));
  const ids = accounts.map(({ organizationId }) => organizationId).filter(({ length }) => length > 1);
  const shownFor = new Map<string, string>();
  for (const [pattern, shown] of [
    ...paths,
    ...[...new Set(hosts)].map((host) => [hostPattern(host), '[service]'] as const),
    ...[...new Set(ids)].map((id) => [`${nameBehind}${anyForm(id)}${nameAhead}`, '[organization]'] as const),
    ...generalPatterns,
  ])
    if (pattern !== '' && !shownFor.has(pattern)) shownFor.set(pattern, shown);
  return [...shownFor];
}

/** Homes of others, of other systems on this machine, and with short names; credentials that only their scheme shows. */
const generalPatterns: readonly PatternAndShown[] = [
  [
    `(?:${nameBehind}[a-z](?::|%3a|\\$))?${separator}(?:home|users|documents and settings)${separator}(?:[^\\\\/%:*?"'<>|\\r\\n]{1,64}(?=${separator})|[^\\s\\\\/%:*?"'<>|,;)\\]}]{1,64})`,
    '~',
  ],
  [String.raw`${nameBehind}(?:bearer|basic)(?:[ \t+:]|%20|\\[nrt])+[^\s"'\\,;<>]+`, 'Bearer …'],
];

/** Empty for the root of a disk. A path of one name is only found where it begins: it may be the name of any folder. */
function pathPattern(path: string): string {
  const [, drive, rest = ''] = /^([a-z]):(.*)$/is.exec(path) ?? [undefined, undefined, path];
  const names = rest.split(/[\\/]+/).filter((name) => name !== '');
  if (names.length === 0) return '';
  const start = drive === undefined ? '' : `(?:${nameBehind}${drive}(?::|%3a|\\$))?`;
  const below = names.map((name) => `${separator}${anyForm(name)}`).join('');
  return `${names.length === 1 ? nameBehind : ''}${start}${below}${nameAhead}`;
}

/** The host as URLs have it, and as it was typed. */
function hostsOf(baseUrl: string): string[] {
  if (!URL.canParse(baseUrl)) return [];
  const typed = /\/\/(?:[^/@]*@)?([^/:?#]+)/.exec(baseUrl)?.[1] ?? '';
  return [new URL(baseUrl).hostname, typed].filter((host) => host !== '');
}

/** Also hosts below it. */
function hostPattern(host: string): string {
  const scheme = String.raw`(?:(?:https?|wss?)(?::|%3a)(?:[\\/]|%2f)+)?`;
  return `${nameBehind}${scheme}(?:[\\w-]+\\.)*${anyForm(host)}\\.?(?:(?::|%3a)\\d{1,5})?(?![\\p{L}\\p{N}-])`;
}

/** A name, also composed otherwise, or with escapes of URLs or JSON. */
function anyForm(name: string): string {
  const forms = new Set([name, name.normalize('NFC'), name.normalize('NFD')]);
  return `(?:${[...forms].map((form) => Array.from(form, characterForms).join('')).join('|')})`;
}

function characterForms(character: string): string {
  const literal = character.replace(/[\\^$.*+?()[\]{}|/]/, String.raw`\$&`);
  if (/[a-z0-9]/i.test(character)) return literal;
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at));
  const json = units.map((unit) => `\\\\+u${unit.toString(16).padStart(4, '0')}`).join('');
  const bytes = [...Buffer.from(character)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
  return `(?:${literal}|${json}|${bytes})`;
}
