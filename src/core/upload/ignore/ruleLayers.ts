import { lstatSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { AssessmentError, systemCode } from '../../errors.ts';
import type { Entry } from '../select/folderListing.ts';
import {
  type IgnoreRule,
  type IgnoreRules,
  maxRules,
  noRules,
  readLines,
  type RuleLine,
  settingLines,
} from './ignoreRules.ts';
import { readRegularFile } from '../../files.ts';
import {
  findRepository,
  type GitSurroundings,
  readIgnoreSettings,
  type Repository,
  repositoryAt,
} from './repository.ts';
import type { SelectOptions } from '../select/selection.ts';
import { toUnits } from './units.ts';

/**
 * Rules of one origin, as they count in one folder. What any layer leaves out is left out: a rule that brings back (`!`) works inside
 * its own layer only, so nothing in a repository can bring back what the person's own excludes file leaves out, and neither
 * `.whiteboxignore` nor a setting nor a nested repository what git's rules leave out.
 */
export interface RuleLayer {
  readonly rules: IgnoreRules;
  /** The ignore file that folders may add to this layer; undefined once no folder can. */
  readonly fileName: '.gitignore' | '.whiteboxignore' | undefined;
}

const maxIgnoreFileBytes = 2 << 20;

/** What reading the rules of a selection takes. */
export interface RuleSources {
  readonly surroundings: GitSurroundings;
  /** Names an ignore file for people (see `nameBelow`). */
  readonly nameOf: (path: string) => string;
  readonly onWidened: (rule: IgnoreRule) => void;
  readonly signal: AbortSignal | undefined;
}

/** Which rule of which layer leaves out the entry `name` (in units, ending in `/` for a folder). */
export function leavesOut(layers: readonly RuleLayer[], name: string): IgnoreRule | undefined {
  for (const { rules } of layers) {
    const rule = rules.match(name);
    if (rule !== undefined) return rule;
  }
  return undefined;
}

/** The layers without the rules that leave out the folder `name` (as above): what a person chose inside, or chose with it, still has to pass the others. */
export function lift(layers: readonly RuleLayer[], name: string): readonly RuleLayer[] {
  return layers.map((layer) =>
    layer.rules.match(name) === undefined ? layer : { ...layer, rules: layer.rules.lift(name) },
  );
}

/** The layers as a subfolder inherits them; `name` in units, ending in `/`. */
export function enter(layers: readonly RuleLayer[], name: string): RuleLayer[] {
  return layers.map((layer) => ({ ...layer, rules: layer.rules.enter(name) }));
}

/**
 * The layers with the folder's own ignore files, of which `kindOf` says what stands there. A `.gitignore` that is a link counts for nothing,
 * as git has it; a `.whiteboxignore` that is one cannot be read. Throws `sourceUnreadable`.
 */
export function withOwnFiles(
  layers: readonly RuleLayer[],
  folder: string,
  nameOf: (path: string) => string,
  kindOf: (fileName: string) => Pick<Entry['dirent'], 'isFile' | 'isDirectory'> | undefined,
): readonly RuleLayer[] {
  return layers.map((layer) => {
    const { fileName, rules } = layer;
    if (fileName === undefined) return layer;
    const kind = kindOf(fileName);
    const path = join(folder, fileName);
    if (kind?.isFile() !== true) {
      if (fileName === '.gitignore' || kind === undefined || kind.isDirectory()) return layer;
      throw new AssessmentError('sourceUnreadable', { subject: path, detail: 'EFTYPE' });
    }
    const source = fileName === '.gitignore' ? 'gitignore' : 'whiteboxignore';
    const content = readRegularFile(path, { maxBytes: maxIgnoreFileBytes, followLink: false });
    const lines =
      content === undefined ? [] : readLines(content, { source, file: nameOf(path), widened: false });
    return { ...layer, rules: grow(rules, lines, path) };
  });
}

/**
 * git's rules that hold at the top of a working tree, or of a folder without git, before its own ignore files. The person's own excludes
 * file is a layer of its own, and so is each that may count or not. Throws `sourceUnreadable`.
 */
async function gitLayers(
  repository: Repository | undefined,
  { surroundings, nameOf, onWidened, signal }: RuleSources,
): Promise<{ layers: readonly RuleLayer[]; ignoreCase: boolean; composeNames: boolean }> {
  const { ignoreCase, composeNames, excludesFile, possibleExcludesFiles, infoExclude } =
    await readIgnoreSettings(repository, surroundings, { signal });
  const rulesOf = (path: string | undefined, from: Pick<IgnoreRule, 'source' | 'widened'>): IgnoreRules => {
    const none = noRules({ ignoreCase, onWidened });
    if (path === undefined) return none;
    // It may be a link: the person's own settings name it.
    const content = readRegularFile(path, { maxBytes: maxIgnoreFileBytes, followLink: true });
    return content === undefined
      ? none
      : grow(none, readLines(content, { ...from, file: nameOf(path) }), path);
  };
  const exclude = rulesOf(infoExclude, { source: 'infoExclude', widened: false });
  const layers: RuleLayer[] = [{ rules: exclude, fileName: '.gitignore' }];
  for (const file of new Set([excludesFile, ...possibleExcludesFiles])) {
    const rules = rulesOf(file, { source: 'coreExcludesFile', widened: file !== excludesFile });
    layers.push({ rules, fileName: undefined });
  }
  return { layers, ignoreCase, composeNames };
}

/** The layers inside a nested repository: its rules count beside the outer ones, which its ignore files cannot undo. Throws `sourceUnreadable`. */
export async function withNested(
  layers: readonly RuleLayer[],
  nested: Repository,
  sources: RuleSources,
): Promise<readonly RuleLayer[]> {
  const frozen = layers.map((outer) =>
    outer.fileName === '.gitignore' ? { ...outer, fileName: undefined } : outer,
  );
  return [...frozen, ...(await gitLayers(nested, sources)).layers];
}

/**
 * The layers at `root`, and the rule that leaves out `root` itself when it lies below a folder that they leave out. Inside `within` all that
 * leaves something out when `within` itself is selected does so here. Throws `notAFolder`, `sourceUnreadable`.
 */
export async function layersAt(
  root: string,
  repository: Repository | undefined,
  sources: RuleSources,
  options: Pick<SelectOptions, 'exclude' | 'within'>,
): Promise<{
  layers: readonly RuleLayer[];
  ignoredBy: IgnoreRule | undefined;
  ignoreCase: boolean;
  composeNames: boolean;
}> {
  const { surroundings, nameOf, onWidened } = sources;
  const within = await holderOf(root, options.within);
  const outer = within === root ? repository : await findRepository(within, surroundings.home);
  const isSame = outer?.root === repository?.root;
  const { ignoreCase, composeNames } = await readIgnoreSettings(repository, surroundings, sources);
  const keyOf = (name: string): string => `${toUnits(composeNames ? name.normalize('NFC') : name)}/`;
  const none = noRules({ ignoreCase, onWidened });
  let layers: readonly RuleLayer[] = [
    ...(await gitLayers(outer, sources)).layers,
    { rules: none, fileName: '.whiteboxignore' },
  ];
  let ignoredBy: IgnoreRule | undefined;
  let at = outer?.root ?? within;
  const names = namesBetween(at, root);
  for (;;) {
    if (at === within) {
      const settings = options.exclude.map((patterns) => growBySetting(none, patterns));
      layers = [...layers, ...settings.map((rules) => ({ rules, fileName: undefined }))];
    }
    const name = names.shift();
    if (name === undefined) break;
    layers = withOwnFiles(layers, at, nameOf, (fileName) =>
      lstatSync(join(at, fileName), { throwIfNoEntry: false }),
    );
    ignoredBy ??= leavesOut(layers, keyOf(name));
    layers = enter(lift(layers, keyOf(name)), keyOf(name));
    at = join(at, name);
    const nested = isSame
      ? undefined
      : at === repository?.root
        ? repository
        : await repositoryAt(at, surroundings.home);
    if (nested !== undefined) layers = await withNested(layers, nested, sources);
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

/** Names an ignore file for people: relative to `root` when it is below, else absolute. */
export function nameBelow(root: string): (path: string) => string {
  const start = root.endsWith(sep) ? root : root + sep;
  return (path) => (path.startsWith(start) ? path.slice(start.length).replaceAll(sep, '/') : path);
}

function grow(rules: IgnoreRules, lines: readonly RuleLine[], subject: string): IgnoreRules {
  const actual = rules.count + lines.length;
  if (actual > maxRules) throw tooMany(subject, actual);
  return rules.and(lines);
}

function growBySetting(none: IgnoreRules, patterns: readonly string[]): IgnoreRules {
  const subject = 'whitebox.archive.exclude';
  if (patterns.length > maxRules) throw tooMany(subject, patterns.length);
  return grow(none, settingLines(patterns), subject);
}

function tooMany(subject: string, actual: number): AssessmentError {
  return new AssessmentError('sourceUnreadable', { subject, detail: 'EFBIG', limit: maxRules, actual });
}
