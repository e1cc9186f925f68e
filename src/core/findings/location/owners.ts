import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { AssessmentError, asUnknown } from '../../errors.ts';
import { readRegularFile } from '../../files.ts';
import { pathInside, realPath } from '../../paths.ts';
import { parseGitConfig } from '../../upload/ignore/gitConfig.ts';
import { globstar, parsePattern, type PathPattern, toGitBytes } from '../../upload/ignore/pattern.ts';
import { findRepository, gitHome, readText, type Repository } from '../../upload/ignore/repository.ts';
import { memoized } from '../../yieldingWork.ts';
import { readTracker } from '../importExport/issueTracker.ts';

const ownersFilesOf = {
  github: ['.github/CODEOWNERS', 'CODEOWNERS', 'docs/CODEOWNERS'],
  gitlab: ['CODEOWNERS', 'docs/CODEOWNERS', '.gitlab/CODEOWNERS'],
} as const;

export type OwnersFormat = keyof typeof ownersFilesOf;

export const OWNERS_FILES: readonly string[] = [
  ...new Set([...ownersFilesOf.github, ...ownersFilesOf.gitlab]),
];

export interface OwnersGap {
  readonly file: string;
  readonly lines: readonly number[] | 'unreadable' | 'tooComplex';
}

export interface FoundOwners {
  /** The keys are absolute paths. A file outside a repository with CODEOWNERS has no entry. */
  readonly owners: ReadonlyMap<string, readonly string[] | 'unknown'>;
  readonly ownersGaps: readonly OwnersGap[];
  /** Some repositories could not be read, perhaps only temporarily. */
  readonly isPartial: boolean;
}

/** May block its thread for seconds. Paths are absolute. */
export async function findOwners(files: ReadonlySet<string>): Promise<FoundOwners> {
  const find = memoized(
    (folder: string) => findRepository(folder, { home: gitHome(), env: {} }).catch(orUnknown),
    (folder) => folder,
  );
  const owners = new Map<string, readonly string[] | 'unknown'>();
  let isPartial = false;
  const setUnread = (unread: readonly string[]): void => {
    isPartial = true;
    for (const file of unread) owners.set(file, 'unknown');
  };
  const repositories = new Map<string, { repository: Repository; inRepository: string[] }>();
  for (const file of files) {
    const repository = await find(dirname(file));
    if (repository === 'unknown') setUnread([file]);
    if (repository === undefined || repository === 'unknown') continue;
    const known = repositories.get(repository.root) ?? { repository, inRepository: [] };
    known.inRepository.push(file);
    repositories.set(repository.root, known);
  }
  const ownersGaps: OwnersGap[] = [];
  for (const { repository, inRepository } of repositories.values()) {
    // One lost share must not hide the owners of other files.
    const found = await findOwnersFile(repository).catch(orUnknown);
    if (found === 'unknown') setUnread(inRepository);
    if (found === undefined || found === 'unknown') continue;
    const { file, target, format } = found;
    try {
      const step = limitTime();
      const text = readRegularFile(target, { maxBytes, followLink: false })?.toString('utf8') ?? '';
      const { sections, skipped } = parseOwners(text, format ?? formatOf(text));
      const known = inRepository.map(
        (each) => [each, ownersOf(pathInside(repository.root, each) ?? '', sections, step)] as const,
      );
      for (const [each, ofFile] of known) owners.set(each, ofFile);
      if (skipped.length > 0) ownersGaps.push({ file, lines: skipped });
    } catch (error) {
      asUnknown(error);
      const isTooComplex = error instanceof AssessmentError && error.kind === 'noAnswer';
      ownersGaps.push({ file, lines: isTooComplex ? 'tooComplex' : 'unreadable' });
      for (const each of inRepository) owners.set(each, 'unknown');
    }
  }
  return { owners, ownersGaps, isPartial };
}

function orUnknown(error: unknown): 'unknown' {
  asUnknown(error);
  return 'unknown';
}

interface OwnersFile {
  readonly file: string;
  readonly target: string;
  readonly format: OwnersFormat | undefined;
}

/**
 * A GitLab host or, if the host is unknown, `.gitlab-ci.yml` means GitLab's format. Otherwise the
 * file's folder (`.github`, `.gitlab`), a GitHub host, and the text decide, in this order.
 */
async function findOwnersFile({ root, commonDir }: Repository): Promise<OwnersFile | undefined> {
  const real = await realPath(root);
  const settings = parseGitConfig(readText(join(commonDir, 'config')) ?? '');
  const urls = settings.filter(({ name }) => name === 'remote.origin.url');
  const [named] = urls.flatMap(({ value = '' }) => readTracker(value)?.kind ?? []);
  // Not every GitLab host begins with `gitlab.`, so GitLab's CI file counts, too.
  const host = named ?? (existsSync(join(root, '.gitlab-ci.yml')) ? 'gitlab' : undefined);
  for (const name of [...ownersFilesOf[host ?? 'github'], ...OWNERS_FILES]) {
    const file = join(root, name);
    const target = await realPath(file).catch(() => undefined); // The file may be missing.
    if (target === undefined || pathInside(real, target) === undefined) continue;
    const [, inFolder] = /^\.(github|gitlab)\//.exec(name) ?? [];
    return {
      file,
      target,
      format: host === 'gitlab' ? host : ((inFolder as OwnersFormat | undefined) ?? host),
    };
  }
  return undefined;
}

/** Only GitLab has headings: `[Name]`, `[Name][2] @owner`, `^[Name]`. `[id]/page.js` is a path. */
function formatOf(text: string): OwnersFormat {
  const heading = /^[ \t]*(?:\^\[[^\]\r\n]{1,500}\]|\[[^\]\r\n]{1,500}\](?:\[\d*\])?(?:[ \t]+@|[ \t]*\r?$))/m;
  return heading.test(text) ? 'gitlab' : 'github';
}

/** GitHub ignores larger files. */
const maxBytes = 3 * 1024 * 1024;
const maxGlobLength = 4096;
const maxOwnersOfLine = 100;
const maxMs = 2_000;
const stepsInOneLook = 500;

function limitTime(): () => void {
  const end = performance.now() + maxMs;
  let steps = 0;
  return () => {
    steps += 1;
    if (steps % stepsInOneLook === 0 && performance.now() > end)
      throw new AssessmentError('noAnswer', { subject: 'CODEOWNERS' });
  };
}

interface OwnerRule {
  readonly path: PathPattern;
  readonly folderOnly: boolean;
  /** The pattern also matches all files below a folder that it matches. */
  readonly reachesBelow: boolean;
  readonly owners: readonly string[];
  /** If an exclusion matches a path, no other rule of the section can include the path again. */
  readonly isExclusion: boolean;
  readonly isOdd: boolean;
}

type OwnerPattern = Pick<OwnerRule, 'path' | 'folderOnly' | 'reachesBelow'>;

export interface CodeOwners {
  /** GitHub's format has one section. The owners of several sections add up. */
  readonly sections: readonly (readonly OwnerRule[])[];
  /** These 1-based lines are ignored, wholly or in part, or look like mistakes. */
  readonly skipped: readonly number[];
}

const headingLine = /^\^?\[([^\]]+)\](?:\[\d*\])?(?:\s([^]*))?$/;

export function parseOwners(text: string, format: OwnersFormat): CodeOwners {
  const sections = new Map<string, OwnerRule[]>();
  const skipped: number[] = [];
  let name = '';
  let defaults: readonly string[] = [];
  for (const [at, line] of text
    .replace(/^\uFEFF/, '')
    .split('\n')
    .map((each) => each.trim())
    .entries()) {
    if (line === '' || line.startsWith('#')) continue;
    const heading = format === 'gitlab' ? headingLine.exec(line) : null;
    if (heading !== null) {
      const named = readGitLabOwners(heading[2] ?? '');
      if (named.isOdd) skipped.push(at + 1);
      name = `[${heading[1]?.toLowerCase() ?? ''}`;
      defaults = named.owners;
      continue;
    }
    const rule = format === 'github' ? readGitHubRule(line) : readGitLabRule(line, defaults);
    if (rule?.isOdd !== false) skipped.push(at + 1);
    if (rule === undefined) continue;
    const section = sections.get(name) ?? [];
    section.push(rule);
    sections.set(name, section);
  }
  return { sections: [...sections.values()], skipped };
}

const globAtStart = /^(?:\\[^]|[^\s\\])+/;

function readGitHubRule(line: string): OwnerRule | undefined {
  const [glob = ''] = globAtStart.exec(line) ?? [];
  const ownersText = line.slice(glob.length);
  if (glob === '' || /^!|\\#/.test(glob) || /^\S/.test(ownersText)) return undefined;
  const words = wordsOf(ownersText);
  const comment = words.findIndex((word) => word.startsWith('#'));
  const owners = comment < 0 ? words : words.slice(0, comment);
  if (owners.length > maxOwnersOfLine || !owners.every(isOwner)) return undefined;
  // `docs/*` matches direct children only.
  const pattern = toPattern(glob, !/(?:^|[^*])\/\*$/.test(glob));
  return pattern && { ...pattern, owners, isExclusion: false, isOdd: false };
}

/** A line with only a path has the section's owners. GitLab reads `[Name` without `]` as a path. */
function readGitLabRule(line: string, defaults: readonly string[]): OwnerRule | undefined {
  const rule = line.replace(/^!/, '');
  const [glob = ''] = globAtStart.exec(rule) ?? [];
  const { owners, isOdd } = readGitLabOwners(rule.slice(glob.length));
  if (glob === '' || owners.length > maxOwnersOfLine) return undefined;
  const rooted = glob === '*' || /^(?:\*\*)?\//.test(glob) ? glob : `**/${glob}`;
  const pattern = toPattern(rooted, glob === '*' || glob.endsWith('/'));
  return (
    pattern && {
      ...pattern,
      owners: rule.length > glob.length ? owners : defaults,
      isExclusion: rule !== line,
      isOdd: isOdd || /^\^?\[[^\]]*$/.test(line),
    }
  );
}

/** GitLab ignores words that are not owners, and accepts owners in a comment. */
function readGitLabOwners(text: string): Pick<OwnerRule, 'owners' | 'isOdd'> {
  const [beforeComment = ''] = text.split(/\s#/, 1);
  const isOdd = !wordsOf(beforeComment).every(isGitLabOwner);
  return { owners: wordsOf(text).filter(isGitLabOwner), isOdd };
}

function wordsOf(text: string): string[] {
  return text.split(/\s+/, maxOwnersOfLine + 2).filter((word) => word !== '');
}

function isOwner(word: string): boolean {
  return word.length <= 254 && /^(?:@[\w.-]+(?:\/[\w.-]+)?|[\w.+%-]+@[\w.-]+)$/.test(word);
}

/** Unlike GitHub, GitLab has nested groups, and roles such as `@@maintainer`. */
function isGitLabOwner(word: string): boolean {
  return word.length <= 254 && /^(?:@@?[\w.-]+(?:\/[\w.-]+)*|[\w.+%-]+@[\w.-]+)$/.test(word);
}

/** Brackets have no meaning here, because `[id]` is usually the name of a folder. */
function toPattern(glob: string, reachesBelow: boolean): OwnerPattern | undefined {
  if (glob.length > maxGlobLength) return undefined;
  const plain = glob.replace(/\\[^]|[[\]]/g, (text) => (text.length === 1 ? `\\${text}` : text));
  const pattern = parsePattern(toGitBytes(plain), false);
  if (pattern === undefined) return undefined;
  const { path, anywhere, folderOnly } = pattern;
  return { path: anywhere ? [globstar, ...path] : path, folderOnly, reachesBelow };
}

/** `path` is relative to the repository, with `/`. */
export function ownersOf(
  path: string,
  sections: CodeOwners['sections'],
  step: () => void = () => undefined,
): readonly string[] {
  const names = toGitBytes(path).split('/');
  const isMatch = (rule: OwnerRule): boolean => {
    step();
    return matches(rule, names);
  };
  const found = sections.map((rules) => {
    const isExcluded = rules.some((rule) => rule.isExclusion && isMatch(rule));
    return isExcluded ? undefined : rules.findLast((rule) => !rule.isExclusion && isMatch(rule));
  });
  return [...new Set(found.flatMap((rule) => rule?.owners ?? []))];
}

/** Backtracks only to the last globstar, so the product of both lengths bounds the time. */
function matches({ path, folderOnly, reachesBelow }: OwnerPattern, names: readonly string[]): boolean {
  let [at, index] = [0, 0];
  let [afterGlobstar, skipped] = [0, names.length];
  for (;;) {
    const pattern = path[at];
    const name = names[index];
    if (pattern === undefined && (name === undefined ? !folderOnly : reachesBelow)) return true;
    if (pattern === globstar && name !== undefined) {
      at += 1;
      // A globstar matches at least one name at the end, and any number of names elsewhere.
      if (at === path.length) return !folderOnly || names.length > 1;
      [afterGlobstar, skipped] = [at, index];
    } else if (pattern !== globstar && name !== undefined && pattern?.matches(name) === true) {
      at += 1;
      index += 1;
    } else if (skipped < names.length) {
      skipped += 1;
      [at, index] = [afterGlobstar, skipped];
    } else return false;
  }
}
