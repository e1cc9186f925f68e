import { dirname, join } from 'node:path';
import { AssessmentError } from '../../errors.ts';
import { readRegularFile } from '../../files.ts';
import { pathInside, realPath } from '../../paths.ts';
import { gitHome, repositoryAt } from '../../upload/ignore/repository.ts';
import {
  globstar,
  parsePattern,
  type Pattern,
  type PathPattern,
  toGitBytes,
} from '../../upload/ignore/pattern.ts';
import { inSlices } from '../../yieldingWork.ts';

export const OWNERS_FILES = ['.github/CODEOWNERS', 'CODEOWNERS', 'docs/CODEOWNERS'] as const;

/** GitHub reads no larger file. */
const maxBytes = 3 * 1024 * 1024;
const maxOwnersOfLine = 100;

interface OwnerRule {
  readonly pattern: Pattern;
  /** True for `docs/*`, which matches direct children only. */
  readonly isShallow: boolean;
  readonly owners: readonly string[];
}

export interface CodeOwners {
  /** Last line first, since the last match counts. */
  readonly rules: readonly OwnerRule[];
  /** 1-based numbers of lines that GitHub skips, and of lines that are too long. */
  readonly skipped: readonly number[];
}

/** Skipped lines of a CODEOWNERS file; undefined if the whole file is too large. */
export interface OwnersGap {
  readonly file: string;
  readonly lines: readonly number[] | undefined;
}

export function parseOwners(text: string): CodeOwners {
  const rules: OwnerRule[] = [];
  const skipped: number[] = [];
  for (const [at, line] of text
    .replace(/^\uFEFF/, '')
    .split('\n')
    .entries()) {
    const trimmed = line.trim();
    if (trimmed === '' || trimmed.startsWith('#')) continue;
    const rule = readRule(trimmed);
    if (rule === undefined) skipped.push(at + 1);
    else rules.push(rule);
  }
  return { rules: rules.reverse(), skipped };
}

function readRule(line: string): OwnerRule | undefined {
  const [glob = ''] = /^(?:\\[^]|[^\s\\])+/.exec(line) ?? [];
  const ownersText = line.slice(glob.length);
  if (glob === '' || /^!|[[\]]|\\#/.test(glob) || /^\S/.test(ownersText)) return undefined;
  const words = ownersText.split(/\s+/, maxOwnersOfLine + 2).filter((word) => word !== '');
  const comment = words.findIndex((word) => word.startsWith('#'));
  const owners = comment < 0 ? words : words.slice(0, comment);
  if (owners.length > maxOwnersOfLine || !owners.every(isOwner)) return undefined;
  const pattern = parsePattern(toGitBytes(glob), false);
  if (pattern === undefined || pattern.widened) return undefined;
  return { pattern, isShallow: /(?:^|[^*])\/\*$/.test(glob), owners };
}

function isOwner(word: string): boolean {
  return word.length <= 254 && /^(?:@[\w.-]+(?:\/[\w.-]+)?|[\w.+%-]+@[\w.-]+)$/.test(word);
}

/** Between two pauses: a hostile file has very many rules. */
const rulesInOneStep = 200;

/** `path` is relative to the repository, with `/`. Empty if no rule matches. */
export function* ownersOf(path: string, { rules }: CodeOwners): Generator<undefined, readonly string[]> {
  const names = toGitBytes(path).split('/');
  for (let at = 0; at < rules.length; at += rulesInOneStep) {
    const found = rules.slice(at, at + rulesInOneStep).find((rule) => matches(rule, names));
    if (found !== undefined) return found.owners;
    yield;
  }
  return [];
}

function matches({ pattern, isShallow }: OwnerRule, names: readonly string[]): boolean {
  const { paths, anywhere, folderOnly } = pattern;
  const last = names.length - 1;
  if (anywhere) {
    const only = paths[0]?.[0];
    if (only === undefined || only === globstar) return !folderOnly || last > 0;
    return names.some((name, at) => (at < last || !folderOnly) && only.matches(name));
  }
  return paths.some((path) => endsWithin(path, names, isShallow ? last : 0, folderOnly ? last - 1 : last));
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

/** By the CODEOWNERS file of each file's repository; files without one have no entry. Paths are absolute. Reads nothing outside the folder `within`. */
export async function findOwners(
  files: ReadonlySet<string>,
  within?: string,
): Promise<{ owners: ReadonlyMap<string, readonly string[]>; gaps: readonly OwnersGap[] }> {
  const roots = new Map<string, Promise<string | undefined>>();
  const byRoot = new Map<string, string[]>();
  for (const file of files) {
    const root = await rootOf(dirname(file), within, roots);
    if (root === undefined) continue;
    const filesInRoot = byRoot.get(root) ?? [];
    filesInRoot.push(file);
    byRoot.set(root, filesInRoot);
  }
  const owners = new Map<string, readonly string[]>();
  const gaps: OwnersGap[] = [];
  for (const [root, filesInRoot] of byRoot) {
    const found = await readOwners(root);
    if (found === undefined) continue;
    const { file, code } = found;
    if (code === undefined || code.skipped.length > 0) gaps.push({ file, lines: code?.skipped });
    if (code !== undefined) await inSlices(assign(root, filesInRoot, code, owners));
  }
  return { owners, gaps };
}

function* assign(
  root: string,
  files: readonly string[],
  code: CodeOwners,
  owners: Map<string, readonly string[]>,
): Generator<undefined, void> {
  for (const file of files) owners.set(file, yield* ownersOf(pathInside(root, file) ?? '', code));
}

function rootOf(
  folder: string,
  within: string | undefined,
  known: Map<string, Promise<string | undefined>>,
): Promise<string | undefined> {
  const look = async (): Promise<string | undefined> => {
    if (within !== undefined && pathInside(within, folder) === undefined) return undefined;
    if ((await repositoryAt(folder, { home: gitHome(), env: {} })) !== undefined) return folder;
    return dirname(folder) === folder ? undefined : rootOf(dirname(folder), within, known);
  };
  const found = known.get(folder) ?? look();
  known.set(folder, found);
  return found;
}

/** The first CODEOWNERS file of a repository; without `code` if it is too large. */
async function readOwners(root: string): Promise<{ file: string; code: CodeOwners | undefined } | undefined> {
  const real = await realPath(root);
  for (const name of OWNERS_FILES) {
    const file = join(root, name);
    const target = await realPath(file).catch(() => undefined); // it may not be there
    if (target === undefined || pathInside(real, target) === undefined) continue;
    try {
      const content = readRegularFile(target, { maxBytes, followLink: false });
      if (content !== undefined) return { file, code: parseOwners(content.toString('utf8')) };
    } catch (error) {
      if (error instanceof AssessmentError) return { file, code: undefined };
      throw error;
    }
  }
  return undefined;
}
