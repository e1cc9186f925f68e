import { join, relative, sep } from 'node:path';
import { AssessmentError } from '../errors.ts';
import {
  type IgnoreRule,
  type IgnoreRules,
  maxRules,
  noRules,
  readLines,
  type RuleLine,
  settingLines,
} from './ignoreRules.ts';
import { readRegularFile } from './regularFile.ts';
import { type GitSurroundings, readIgnoreSettings, type Repository } from './repository.ts';
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

/** The layers as a subfolder inherits them; `name` in units, ending in `/`. */
export function enter(layers: readonly RuleLayer[], name: string): RuleLayer[] {
  return layers.map((layer) => ({ ...layer, prefix: layer.prefix + name }));
}

/** The layers with the folder's own ignore files, of which `has` says whether they are there. Throws `sourceUnreadable`. */
export async function withOwnFiles(
  layers: readonly RuleLayer[],
  folder: string,
  nameOf: (path: string) => string,
  has: (fileName: string) => boolean,
): Promise<readonly RuleLayer[]> {
  if (!layers.some(({ fileName }) => fileName !== undefined && has(fileName))) return layers;
  return Promise.all(
    layers.map(async (layer) => {
      if (layer.fileName === undefined || !has(layer.fileName)) return layer;
      const path = join(folder, layer.fileName);
      const source = layer.fileName === '.gitignore' ? 'gitignore' : 'whiteboxignore';
      const lines = await readIgnoreFile(path, { source, file: nameOf(path) }, false);
      return { ...layer, rules: grow(layer.rules, layer.prefix, lines, path) };
    }),
  );
}

/** git's rules that hold at the top of a working tree, or of a folder without git, before its own ignore files. */
export async function gitLayer(
  repository: Repository | undefined,
  surroundings: GitSurroundings,
  nameOf: (path: string) => string,
): Promise<{ layer: RuleLayer; ignoreCase: boolean; composeNames: boolean }> {
  const { ignoreCase, composeNames, excludesFile, infoExclude } = await readIgnoreSettings(
    repository,
    surroundings,
  );
  let rules = noRules(ignoreCase);
  if (excludesFile !== undefined) {
    rules = grow(
      rules,
      '',
      await readIgnoreFile(excludesFile, { source: 'coreExcludesFile', file: nameOf(excludesFile) }, true),
      excludesFile,
    );
  }
  if (infoExclude !== undefined) {
    rules = grow(
      rules,
      '',
      await readIgnoreFile(infoExclude, { source: 'infoExclude', file: nameOf(infoExclude) }, true),
      infoExclude,
    );
  }
  return { layer: { rules, prefix: '', fileName: '.gitignore' }, ignoreCase, composeNames };
}

/** The layers at `root`, and the rule that leaves out `root` itself when it lies below a folder that its repository ignores. */
export async function layersAt(
  root: string,
  repository: Repository | undefined,
  surroundings: GitSurroundings,
  exclude: readonly string[],
): Promise<{
  layers: readonly RuleLayer[];
  ignoredBy: IgnoreRule | undefined;
  ignoreCase: boolean;
  composeNames: boolean;
}> {
  const nameOf = nameBelow(root);
  const { layer, ignoreCase, composeNames } = await gitLayer(repository, surroundings, nameOf);
  const own: RuleLayer = { rules: noRules(ignoreCase), prefix: '', fileName: '.whiteboxignore' };
  let layers: readonly RuleLayer[] = [layer, own];
  let ignoredBy: IgnoreRule | undefined;
  let at = repository?.root ?? root;
  for (const name of relative(at, root).split(sep).filter(Boolean)) {
    layers = await withOwnFiles(layers, at, nameOf, () => true);
    const key = `${toUnits(composeNames ? name.normalize('NFC') : name)}/`;
    ignoredBy ??= leavesOut(layers, key);
    layers = enter(layers, key);
    at = join(at, name);
  }
  const setting = noRules(ignoreCase).and('', settingLines(exclude));
  return {
    layers: [...layers, { rules: setting, prefix: '', fileName: undefined }],
    ignoredBy,
    ignoreCase,
    composeNames,
  };
}

/** Names an ignore file for people: relative to `root` when it is below, else absolute. */
export function nameBelow(root: string): (path: string) => string {
  const start = root.endsWith(sep) ? root : root + sep;
  return (path) => (path.startsWith(start) ? path.slice(start.length).replaceAll(sep, '/') : path);
}

async function readIgnoreFile(
  path: string,
  from: Pick<IgnoreRule, 'source' | 'file'>,
  followLink: boolean,
): Promise<RuleLine[]> {
  const content = await readRegularFile(path, { maxBytes: maxIgnoreFileBytes, followLink });
  if (content === undefined) return [];
  return readLines(content, from);
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
