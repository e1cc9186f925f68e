import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { AssessmentError, systemCode } from '../../errors.ts';
import { pathInside, realPath } from '../../paths.ts';
import { parseGitConfig } from '../../upload/ignore/gitConfig.ts';
import { gitHome, readText, type Repository, repositoryAt } from '../../upload/ignore/repository.ts';
import { readTracker } from '../importExport/issueTracker.ts';
import { readRegularFile } from '../../files.ts';
import {
  globstar,
  parsePattern,
  type PathPattern,
  type Pattern,
  toGitBytes,
} from '../../upload/ignore/pattern.ts';

/** In the order in which GitHub looks for them, and GitLab. */
const ownersFilesOf = {
  github: ['.github/CODEOWNERS', 'CODEOWNERS', 'docs/CODEOWNERS'],
  gitlab: ['CODEOWNERS', 'docs/CODEOWNERS', '.gitlab/CODEOWNERS'],
} as const;

export const OWNERS_FILES: readonly string[] = [
  ...new Set([...ownersFilesOf.github, ...ownersFilesOf.gitlab]),
];

const PIPELINE_FILE = '.gitlab-ci.yml';

/** What is not known of a CODEOWNERS file: the lines with these numbers, or all of it. */
export interface OwnersGap {
  readonly file: string;
  readonly lines: readonly number[] | 'unreadable' | 'tooComplex';
}

export interface FoundOwners {
  /** By absolute path. A file without CODEOWNERS has no entry. */
  readonly owners: ReadonlyMap<string, readonly string[]>;
  readonly ownersGaps: readonly OwnersGap[];
}

interface OwnersFile {
  readonly file: string;
  readonly target: string;
  /** Undefined: its headings show it. */
  readonly format: OwnersFormat | undefined;
}

/** By the CODEOWNERS file of each file's repository. Paths are absolute. Takes up to seconds: for the worker. */
export async function findOwners(files: ReadonlySet<string>): Promise<FoundOwners> {
  const repositories = new Map<string, Promise<Repository | undefined>>();
  const byRepository = new Map<Repository, string[]>();
  for (const file of files) {
    const repository = await repositoryOf(dirname(file), repositories);
    if (repository === undefined) continue;
    const inRepository = byRepository.get(repository) ?? [];
    inRepository.push(file);
    byRepository.set(repository, inRepository);
  }
  const owners = new Map<string, readonly string[]>();
  const ownersGaps: OwnersGap[] = [];
  for (const [repository, inRepository] of byRepository) {
    const found = await ifReadable(findOwnersFile(repository));
    if (found === undefined) continue;
    const paths = inRepository.map((file) => pathInside(repository.root, file) ?? '');
    const known = ownersIn(found, paths);
    const lines = typeof known === 'string' ? known : known.skipped;
    if (lines.length > 0) ownersGaps.push({ file: found.file, lines });
    if (typeof known === 'string') continue;
    for (const [at, file] of inRepository.entries()) owners.set(file, known.owners[at] ?? []);
  }
  return { owners, ownersGaps };
}

function ownersIn(
  { target, format }: OwnersFile,
  paths: readonly string[],
): KnownOwners | 'unreadable' | 'tooComplex' {
  try {
    return findOwnersIn(target, format, paths) ?? 'tooComplex';
  } catch (error) {
    if (error instanceof AssessmentError || systemCode(error) !== undefined) return 'unreadable';
    throw error;
  }
}

function repositoryOf(
  folder: string,
  known: Map<string, Promise<Repository | undefined>>,
): Promise<Repository | undefined> {
  const look = async (): Promise<Repository | undefined> => {
    const looked = await ifReadable(
      repositoryAt(folder, { home: gitHome(), env: {} }).then((repository) => ({ repository })),
    );
    // The repository around one that cannot be read does not own its files.
    if (looked === undefined || looked.repository !== undefined) return looked?.repository;
    return dirname(folder) === folder ? undefined : repositoryOf(dirname(folder), known);
  };
  const found = known.get(folder) ?? look();
  known.set(folder, found);
  return found;
}

/** Undefined where the disk does not answer, or Git's settings cannot be read: one lost share must not hide the owners of other files. */
async function ifReadable<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (systemCode(error) === undefined && !(error instanceof AssessmentError)) throw error;
    return undefined;
  }
}

/** The first CODEOWNERS file of a repository. Its format is that of the host; where the host is not known, the folder or the file shows it. */
async function findOwnersFile(repository: Repository): Promise<OwnersFile | undefined> {
  const { root } = repository;
  const real = await realPath(root);
  const host = hostOf(repository);
  for (const name of [...ownersFilesOf[host ?? 'github'], ...OWNERS_FILES]) {
    const file = join(root, name);
    const target = await realPath(file).catch(() => undefined); // it may not be there
    if (target === undefined || pathInside(real, target) === undefined) continue;
    const inFolder = name.startsWith('.gitlab/')
      ? 'gitlab'
      : name.startsWith('.github/')
        ? 'github'
        : undefined;
    return { file, target, format: host === 'gitlab' ? host : (inFolder ?? host) };
  }
  return undefined;
}

/** By the name of the remote's host, else by GitLab's pipeline: most hosts of GitLab have names of their own. */
function hostOf({ root, commonDir }: Repository): OwnersFormat | undefined {
  const settings = parseGitConfig(readText(join(commonDir, 'config')) ?? '');
  const urls = settings.filter(({ name }) => name === 'remote.origin.url');
  const known = urls.flatMap(({ value = '' }) => readTracker(value)?.kind ?? []);
  return known[0] ?? (existsSync(join(root, PIPELINE_FILE)) ? 'gitlab' : undefined);
}

export type OwnersFormat = 'github' | 'gitlab';

interface KnownOwners {
  /** One for each path, in their order; empty if nobody owns it. */
  readonly owners: readonly (readonly string[])[];
  /** 1-based numbers of lines that are not understood: the hosts skip them or a part of them, or they are too long. */
  readonly skipped: readonly number[];
}

/** GitHub reads no larger file. */
const maxBytes = 3 * 1024 * 1024;
const maxGlobLength = 4096;
const maxOwnersOfLine = 100;
const maxMs = 2_000;
/** Between two looks at the clock. */
const rulesInOneStep = 500;

type HasTime = () => boolean;

/**
 * The owners of paths relative to the repository, with `/`. Undefined if the file needs more time than it gets. Throws if it is too large or cannot be
 * read. `file` is a real path.
 */
function findOwnersIn(
  file: string,
  format: OwnersFormat | undefined,
  paths: readonly string[],
): KnownOwners | undefined {
  const text = readRegularFile(file, { maxBytes, followLink: false })?.toString('utf8') ?? '';
  const end = performance.now() + maxMs;
  const hasTime: HasTime = () => performance.now() < end;
  const code = parseOwners(text, format ?? formatOf(text), hasTime);
  const owners: (readonly string[])[] = [];
  for (const path of paths) {
    const found = ownersOf(path, code, hasTime);
    if (found === undefined) return undefined;
    owners.push(found);
  }
  return { owners, skipped: code.skipped };
}

/** Only GitLab has sections: `[Name]` with owners or none, `[Name][2]`, `^[Name]`. GitHub would take `[id]/page.js` for a path. */
function formatOf(text: string): OwnersFormat {
  return /^[ \t]*(?:\^\[[^\]\r\n]{1,500}\]|\[[^\]\r\n]{1,500}\](?:\[\d*\])?(?:[ \t]+@|[ \t]*\r?$))/m.test(
    text,
  )
    ? 'gitlab'
    : 'github';
}

interface OwnerRule {
  readonly pattern: Pattern;
  /** Whether a pattern that matches a folder also matches all files below. */
  readonly reach: 'file' | 'below';
  readonly owners: readonly string[];
}

/** Rules in the order of the file. Nothing in the section brings back what `excluding` match. */
interface Section {
  readonly owning: OwnerRule[];
  readonly excluding: OwnerRule[];
}

export interface CodeOwners {
  /** Only one in GitHub's format. The owners of several add up. */
  readonly sections: readonly Section[];
  readonly skipped: readonly number[];
}

export function parseOwners(text: string, format: OwnersFormat, hasTime: HasTime = () => true): CodeOwners {
  const sections = new Map<string, Section>();
  const skipped: number[] = [];
  let name = '';
  let defaults: readonly string[] = [];
  for (const [at, line] of text
    .replace(/^\uFEFF/, '')
    .split('\n')
    .entries()) {
    if (at % rulesInOneStep === 0 && !hasTime()) break;
    const trimmed = line.trim();
    if (trimmed === '' || trimmed.startsWith('#')) continue;
    const heading = format === 'gitlab' ? readHeading(trimmed) : undefined;
    if (heading !== undefined) {
      ({ name, defaults } = heading);
      if (hasOtherWords(trimmed.replace(/^\^?\[[^\]]+\](?:\[\d*\])?/, ''))) skipped.push(at + 1);
      continue;
    }
    const isExclusion = format === 'gitlab' && trimmed.startsWith('!');
    const rule =
      format === 'github' ? readGitHubRule(trimmed) : readGitLabRule(trimmed.replace(/^!/, ''), defaults);
    if (rule === undefined) {
      skipped.push(at + 1);
      continue;
    }
    // GitLab reads a heading without its end as a path, and ignores words that are no owners.
    const isOdd = /^\^?\[[^\]]*$/.test(trimmed) || hasOtherWords(trimmed.replace(globAtStart, ''));
    if (format === 'gitlab' && isOdd) skipped.push(at + 1);
    const section = sections.get(name) ?? { owning: [], excluding: [] };
    sections.set(name, section);
    section[isExclusion ? 'excluding' : 'owning'].push(rule);
  }
  return { sections: [...sections.values()], skipped };
}

/** The path or pattern at the start of a line, up to a space that is not escaped. */
const globAtStart = /^(?:\\[^]|[^\s\\])+/;

function readGitHubRule(line: string): OwnerRule | undefined {
  const [glob = ''] = globAtStart.exec(line) ?? [];
  const ownersText = line.slice(glob.length);
  if (glob === '' || /^!|\\#/.test(glob) || /^\S/.test(ownersText)) return undefined;
  const words = wordsOf(ownersText);
  const comment = words.findIndex((word) => word.startsWith('#'));
  const owners = comment < 0 ? words : words.slice(0, comment);
  if (owners.length > maxOwnersOfLine || !owners.every(isOwner)) return undefined;
  const pattern = toPattern(glob);
  // `docs/*` matches direct children only.
  const reach = /(?:^|[^*])\/\*$/.test(glob) ? 'file' : 'below';
  return pattern && { pattern, reach, owners };
}

/** `[Name][2] @owner` and `^[Name]`. Names ignore case. A line such as `[id]/page.js` is a path. */
const headingLine = /^\^?\[([^\]]+)\](?:\[\d*\])?(?:\s+(.*))?$/;

function readHeading(line: string): { name: string; defaults: readonly string[] } | undefined {
  const [, name, owners = ''] = headingLine.exec(line) ?? [];
  return name === undefined
    ? undefined
    : { name: `[${name.toLowerCase()}`, defaults: wordsOf(owners).filter(isGitLabOwner) };
}

/** Without owners of its own, a path has its section's. Words that are no owners are ignored, and owners in a comment count. */
function readGitLabRule(line: string, defaults: readonly string[]): OwnerRule | undefined {
  const [glob = ''] = globAtStart.exec(line) ?? [];
  const words = wordsOf(line.slice(glob.length));
  if (glob === '' || words.length > maxOwnersOfLine) return undefined;
  const pattern = toPattern(glob === '*' || /^(?:\*\*)?\//.test(glob) ? glob : `**/${glob}`);
  const reach = glob === '*' || glob.endsWith('/') ? 'below' : 'file';
  return pattern && { pattern, reach, owners: words.length > 0 ? words.filter(isGitLabOwner) : defaults };
}

function wordsOf(text: string): string[] {
  return text.split(/\s+/, maxOwnersOfLine + 2).filter((word) => word !== '');
}

function isOwner(word: string): boolean {
  return word.length <= 254 && /^(?:@[\w.-]+(?:\/[\w.-]+)?|[\w.+%-]+@[\w.-]+)$/.test(word);
}

/** Also groups in groups, and roles such as `@@maintainer`. */
function isGitLabOwner(word: string): boolean {
  return word.length <= 254 && /^(?:@@?[\w.-]+(?:\/[\w.-]+)*|[\w.+%-]+@[\w.-]+)$/.test(word);
}

/** Whether a word before a comment is no owner. */
function hasOtherWords(ownersText: string): boolean {
  const [text = ''] = ownersText.split(/\s#/, 1);
  return !wordsOf(text).every(isGitLabOwner);
}

/** Neither format has sets: folders such as `[id]` are common. `a/` matches the same as a pattern that ends in `a/`, two stars, and `/`. */
function toPattern(glob: string): Pattern | undefined {
  if (glob.length > maxGlobLength) return undefined;
  let plain = glob;
  while (plain.length > 4 && plain.endsWith('/**/')) plain = plain.slice(0, -3);
  // The slash in its middle anchors it.
  if (plain !== glob && !plain.startsWith('/')) plain = `/${plain}`;
  plain = plain.replace(/\\[^]|[[\]]/g, (text) => (text.length === 1 ? `\\${text}` : text));
  const pattern = parsePattern(toGitBytes(plain), false);
  return pattern?.widened === true ? undefined : pattern;
}

/** `path` is relative to the repository, with `/`. Empty if nobody owns it; undefined if there is no more time. */
export function ownersOf(
  path: string,
  { sections }: Pick<CodeOwners, 'sections'>,
  hasTime: HasTime = () => true,
): readonly string[] | undefined {
  const names = toGitBytes(path).split('/');
  const lastMatch = (rules: readonly OwnerRule[]): OwnerRule | undefined => {
    for (const [count, rule] of rules.toReversed().entries()) {
      if (count % rulesInOneStep === 0 && !hasTime()) return undefined;
      if (matches(rule, names)) return rule;
    }
    return undefined;
  };
  const found = sections.map(({ owning, excluding }) =>
    lastMatch(excluding) === undefined ? lastMatch(owning) : undefined,
  );
  return hasTime() ? [...new Set(found.flatMap((rule) => rule?.owners ?? []))] : undefined;
}

function matches({ pattern, reach }: OwnerRule, names: readonly string[]): boolean {
  const { paths, anywhere, folderOnly } = pattern;
  const last = names.length - 1;
  if (anywhere) {
    const only = paths[0]?.[0];
    if (only === undefined || only === globstar) return !folderOnly || last > 0;
    if (reach === 'file') return only.matches(names[last] ?? '');
    return names.some((name, at) => (at < last || !folderOnly) && only.matches(name));
  }
  // Most rules start with the name of another folder.
  const [start] = paths[0] ?? [];
  if (start !== globstar && start?.literal !== undefined && start.literal !== names[0]) return false;
  const first = reach === 'below' ? 0 : last;
  return paths.some((path) => endsWithin(path, names, first, folderOnly ? last - 1 : last));
}

/** Whether the whole pattern matches names[0..at] for some `at` from `first` to `last`. */
function endsWithin(path: PathPattern, names: readonly string[], first: number, last: number): boolean {
  const end = path.length - 1;
  let states = skipGlobstars(new Set([0]), path);
  for (let at = 0; at <= last && states.size > 0; at++) {
    const next = new Set<number>();
    for (const state of states) {
      const pattern = path[state];
      if (pattern === globstar) next.add(state);
      else if (pattern?.matches(names[at] ?? '') === true) next.add(state + 1);
    }
    const isWhole = next.has(path.length) || (path[end] === globstar && next.has(end) && states.has(end));
    if (at >= first && isWhole) return true;
    states = skipGlobstars(next, path);
  }
  return false;
}

/** Adds the states after a globstar, which may match no name. */
function skipGlobstars(states: Set<number>, path: PathPattern): Set<number> {
  // Iteration also visits the values that are added.
  for (const state of states) if (path[state] === globstar && state < path.length - 1) states.add(state + 1);
  return states;
}
