import { realpath, stat } from 'node:fs/promises';
import { sep } from 'node:path';
import { AssessmentError, systemCode } from '../../errors.ts';
import type { IgnoreRule } from '../ignore/ignoreRules.ts';
import { findRepository } from '../ignore/repository.ts';
import { layersAt, nameBelow, type RuleOptions } from '../ignore/ruleLayers.ts';
import type { Selection } from './selection.ts';
import { isRepositoryData, walkFolder } from './walk.ts';

/** How to select. */
export interface SelectOptions extends RuleOptions {
  readonly includeNestedRepositories: boolean;
  /** Paths that a person chose to send although ignore files leave them out. One that ends in `/` stands for what the folder holds, less what is left out by rules that do not leave out the folder itself. */
  readonly include?: readonly string[] | undefined;
  /** Called every few milliseconds with the number of files found so far. */
  readonly onProgress?: ((files: number) => void) | undefined;
}

/**
 * Selects the files to send: what `git ls-files --others --exclude-standard` lists with an empty index, without links and nested
 * repositories, less what the person's own excludes file, `.whiteboxignore` and `exclude` leave out. Starts no process. Throws `notAFolder`,
 * `sourceUnreadable`, or the signal's reason.
 */
export async function selectFiles(folder: string, options: SelectOptions): Promise<Selection> {
  const root = await realFolder(folder);
  options.signal?.throwIfAborted();
  if (root.split(sep).some(isRepositoryData)) {
    const leftOut = [{ path: './', reason: { kind: 'repositoryData' } }] as const;
    return { root, files: [], leftOut, bytes: 0, widened: [] };
  }
  const widened = new Map<string, IgnoreRule>();
  const onWidened = (rule: IgnoreRule): void => {
    widened.set(JSON.stringify([rule.source, rule.file, rule.line]), rule);
  };
  const { surroundings, signal } = options;
  const sources = { surroundings, nameOf: nameBelow(root), onWidened, signal };
  const repository = await findRepository(root, surroundings);
  const top = await layersAt(root, repository, sources, options);
  const found = await walkFolder({ ...options, root, sources }, top);
  return { root, ...found, widened: [...widened.values()].sort(byPlace) };
}

function byPlace(one: IgnoreRule, other: IgnoreRule): number {
  const [file, otherFile] = [one.file ?? '', other.file ?? ''];
  return file < otherFile ? -1 : file > otherFile ? 1 : one.line - other.line;
}

async function realFolder(path: string): Promise<string> {
  try {
    const real = await realpath(path);
    if ((await stat(real)).isDirectory()) return real;
  } catch (error) {
    throw new AssessmentError(
      'notAFolder',
      { subject: path, detail: systemCode(error) ?? '' },
      { cause: error },
    );
  }
  throw new AssessmentError('notAFolder', { subject: path });
}
