import { lstatSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { AssessmentError, systemCode } from '../errors.ts';
import type { Pace } from './fileFacts.ts';
import type { Entry } from './folderListing.ts';
import {
  type IgnoreRule,
  type IgnoreRules,
  maxRules,
  noRules,
  readLines,
  type RuleLine,
  settingLines,
} from './ignoreRules.ts';
import { readRegularFile, readRegularFileNow } from './regularFile.ts';
import {
  findRepository,
  type GitSurroundings,
  readIgnoreSettings,
  type Repository,
  repositoryAt,
} from './repository.ts';
import type { SelectOptions } from './selection.ts';
import { toUnits } from './units.ts';

/**
 * Rules of one origin, as they count in one folder. What any layer leaves out is left out: a rule that brings back (`!`) works inside
 * its own layer only, so neither `.whiteboxignore` nor a setting nor a nested repository can bring back what git's rules leave out.
 */
export interface RuleLayer {
  readonly rules: IgnoreRules;
  /** The folder, in units, relative to the rules' base: `''` or ending in `/`. */
  readonly prefix: string;
  /** The ignore file that folders may add to this layer; undefined once no folder can. */
  readonly fileName: '.gitignore' | '.whiteboxignore' | undefined;
}

const maxIgnoreFileBytes = 2 << 20;

/** Which rule of which layer leaves out the entry `name` (in units, ending in `/` for a folder). */
export function leavesOut(layers: readonly RuleLayer[], name: string): IgnoreRule | undefined {
  for (const { rules, prefix } of layers) {
    const rule = rules.match(prefix, name);
    if (rule !== undefined) return rule;
  }
  return undefined;
}

/** The layers without the rules that leave out the folder `name` (as above): what a person chose inside, or chose with it, still has to pass the others. */
export function lift(layers: readonly RuleLayer[], name: string): readonly RuleLayer[] {
  return layers.map((layer) =>
    layer.rules.match(layer.prefix, name) === undefined
      ? layer
      : { ...layer, rules: layer.rules.lift(layer.prefix, name) },
  );
}

/** The layers as a subfolder inherits them; `name` in units, ending in `/`. */
export function enter(layers: readonly RuleLayer[], name: string): RuleLayer[] {
  return layers.map((layer) => ({ ...layer, prefix: layer.prefix + name }));
}

/**
 * The layers with the folder's own ignore files, of which `kindOf` says what stands there; at once unless the pace is slow. A `.gitignore` that
 * is a link counts for nothing, as git has it; a `.whiteboxignore` that is one cannot be read. Throws `sourceUnreadable`.
 */
export async function withOwnFiles(
  layers: readonly RuleLayer[],
  folder: string,
  nameOf: (path: string) => string,
  pace: Pace,
  kindOf: (fileName: string) => Pick<Entry['dirent'], 'isFile' | 'isDirectory'> | undefined,
): Promise<readonly RuleLayer[]> {
  const own: RuleLayer[] = [];
  for (const layer of layers) {
    const { fileName, rules, prefix } = layer;
    const kind = fileName === undefined ? undefined : kindOf(fileName);
    const isFile = kind?.isFile() === true;
    if (fileName === '.whiteboxignore' && kind !== undefined && !isFile && !kind.isDirectory()) {
      throw new AssessmentError('sourceUnreadable', { subject: join(folder, fileName), detail: 'EFTYPE' });
    }
    if (fileName === undefined || !isFile) own.push(layer);
    else {
      const path = join(folder, fileName);
      const source = fileName === '.gitignore' ? 'gitignore' : 'whiteboxignore';
      const options = { maxBytes: maxIgnoreFileBytes, followLink: false };
      const content = pace.slow ? await readRegularFile(path, options) : readRegularFileNow(path, options);
      const lines = content === undefined ? [] : readLines(content, { source, file: nameOf(path) });
      own.push({ ...layer, rules: grow(rules, prefix, lines, path) });
    }
  }
  return own;
}

/**
 * git's rules that hold at the top of a working tree, or of a folder without git, before its own ignore files; with a layer of its own for
 * each file that may count or not, which can only leave out more. Throws `sourceUnreadable`.
 */
export async function gitLayers(
  repository: Repository | undefined,
  surroundings: GitSurroundings,
  nameOf: (path: string) => string,
): Promise<{ layers: readonly RuleLayer[]; ignoreCase: boolean; composeNames: boolean }> {
  const { ignoreCase, composeNames, excludesFile, possibleExcludesFiles, infoExclude } =
    await readIgnoreSettings(repository, surroundings);
  const none = noRules(ignoreCase);
  const add = async (
    rules: IgnoreRules,
    file: string | undefined,
    source: IgnoreRule['source'],
  ): Promise<IgnoreRules> =>
    file === undefined
      ? rules
      : grow(rules, '', await readLinkedFile(file, { source, file: nameOf(file) }), file);
  const rules = await add(none, excludesFile, 'coreExcludesFile');
  const layers: RuleLayer[] = [
    { rules: await add(rules, infoExclude, 'infoExclude'), prefix: '', fileName: '.gitignore' },
  ];
  for (const file of possibleExcludesFiles) {
    layers.push({ rules: await add(none, file, 'coreExcludesFile'), prefix: '', fileName: undefined });
  }
  return { layers, ignoreCase, composeNames };
}

/**
 * The layers at `root`, and the rule that leaves out `root` itself when it lies below a folder that they leave out. Inside `within` all that
 * leaves something out when `within` itself is selected does so here. Throws `notAFolder`, `sourceUnreadable`.
 */
export async function layersAt(
  root: string,
  repository: Repository | undefined,
  surroundings: GitSurroundings,
  options: Pick<SelectOptions, 'exclude' | 'within'>,
): Promise<{
  layers: readonly RuleLayer[];
  ignoredBy: IgnoreRule | undefined;
  ignoreCase: boolean;
  composeNames: boolean;
}> {
  const nameOf = nameBelow(root);
  const within = await holderOf(root, options.within);
  const outer = within === root ? repository : await findRepository(within, surroundings.home);
  const isSame = outer?.root === repository?.root;
  const inner = await gitLayers(repository, surroundings, nameOf);
  const { ignoreCase, composeNames } = inner;
  const git = isSame ? inner : await gitLayers(outer, surroundings, nameOf);
  const keyOf = (name: string): string => `${toUnits(composeNames ? name.normalize('NFC') : name)}/`;
  let at = outer?.root ?? within;
  const anchor = namesBetween(at, within).map(keyOf).join('');
  const none = noRules(ignoreCase);
  let layers: readonly RuleLayer[] = [
    ...git.layers,
    { rules: none, prefix: '', fileName: '.whiteboxignore' },
    ...options.exclude.map((patterns) => ({
      rules: none.and(anchor, settingLines(patterns)),
      prefix: '',
      fileName: undefined,
    })),
  ];
  let ignoredBy: IgnoreRule | undefined;
  for (const name of namesBetween(at, root)) {
    layers = await withOwnFiles(layers, at, nameOf, { slow: false }, (fileName) =>
      lstatSync(join(at, fileName), { throwIfNoEntry: false }),
    );
    ignoredBy ??= leavesOut(layers, keyOf(name));
    layers = enter(lift(layers, keyOf(name)), keyOf(name));
    at = join(at, name);
    if (isSame) continue;
    if (at === repository?.root) layers = withNested(layers, inner.layers);
    else {
      const between = await repositoryAt(at, surroundings.home);
      if (between !== undefined)
        layers = withNested(layers, (await gitLayers(between, surroundings, nameOf)).layers);
    }
  }
  return { layers, ignoredBy, ignoreCase, composeNames };
}

/** The folder whose ignore files count for `root`, free of links: `within` when it holds `root`, else `root`. */
async function holderOf(root: string, within: string | undefined): Promise<string> {
  if (within === undefined) return root;
  try {
    const real = await realpath(within);
    return root.startsWith(real.endsWith(sep) ? real : real + sep) ? real : root;
  } catch (error) {
    throw new AssessmentError(
      'notAFolder',
      { subject: within, detail: systemCode(error) ?? '' },
      { cause: error },
    );
  }
}

function namesBetween(from: string, to: string): string[] {
  return relative(from, to).split(sep).filter(Boolean);
}

/** A nested repository's rules count beside the outer ones, which its ignore files cannot undo. */
export function withNested(layers: readonly RuleLayer[], nested: readonly RuleLayer[]): readonly RuleLayer[] {
  const frozen = layers.map((outer) =>
    outer.fileName === '.gitignore' ? { ...outer, fileName: undefined } : outer,
  );
  return [...frozen, ...nested];
}

/** Names an ignore file for people: relative to `root` when it is below, else absolute. */
export function nameBelow(root: string): (path: string) => string {
  const start = root.endsWith(sep) ? root : root + sep;
  return (path) => (path.startsWith(start) ? path.slice(start.length).replaceAll(sep, '/') : path);
}

/** The rules of an ignore file that the person's own settings name: it may be a link. */
async function readLinkedFile(path: string, from: Pick<IgnoreRule, 'source' | 'file'>): Promise<RuleLine[]> {
  const content = await readRegularFile(path, { maxBytes: maxIgnoreFileBytes, followLink: true });
  return content === undefined ? [] : readLines(content, from);
}

function grow(rules: IgnoreRules, folder: string, lines: readonly RuleLine[], path: string): IgnoreRules {
  const actual = rules.count + lines.length;
  if (actual > maxRules) {
    throw new AssessmentError('sourceUnreadable', {
      subject: path,
      detail: 'EFBIG',
      limit: maxRules,
      actual,
    });
  }
  return rules.and(folder, lines);
}
