import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { AssessmentError, systemCode } from '../../errors.ts';
import { pathInside, realPath } from '../../paths.ts';
import { parseGitConfig } from '../../upload/ignore/gitConfig.ts';
import { gitHome, readText, type Repository, repositoryAt } from '../../upload/ignore/repository.ts';
import { readTracker } from '../importExport/issueTracker.ts';
import { findOwnersIn, type KnownOwners, type OwnersFormat } from './ownerRules.ts';

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
