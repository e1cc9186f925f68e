import { type Dirent, lstatSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { AssessmentError, systemCode } from '../../errors.ts';
import { readRegularFile } from '../../files.ts';
import { realPath } from '../../paths.ts';
import { type IgnoreRule, IgnoreRules, maxRules, type RuleLine } from './ignoreRules.ts';
import { maxIgnoreFileBytes, problemIn, readLines, readOwnFile, settingLines, unreadable, type UnreadRules } from './readIgnoreFile.ts'; // prettier-ignore
import { type IgnoreSettings, readIgnoreSettings } from './gitConfig.ts';
import { toGitBytes } from './pattern.ts';
import {
  findRepository,
  type GitSurroundings,
  ifReachable,
  type Repository,
  repositoryAt,
} from './repository.ts';

export interface RuleOptions {
  /**
   * Lists of patterns in gitignore syntax, relative to `within`, or to the selected folder if
   * `within` has no effect. No list can undo another one.
   */
  readonly exclude: readonly (readonly string[])[];
  /**
   * The absolute path of a folder whose ignore files apply, too. It has no effect if it doesn't
   * contain the selected folder.
   */
  readonly within?: string | undefined;
  readonly surroundings: GitSurroundings;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Rules that apply in one folder and can undo each other, such as those of `info/exclude` and all
 * `.gitignore` files of a repository. A path is excluded if any layer excludes it; a negated rule
 * (`!`) works only inside its layer. So nothing in a repository can undo the user's excludes file,
 * and no `.whiteboxignore`, setting, or nested repository can undo Git's rules.
 */
export interface RuleLayer {
  readonly rules: IgnoreRules;
  /** In each folder, the rules of the ignore file with this name are added to the layer. */
  readonly fileName: '.gitignore' | '.whiteboxignore' | undefined;
}

export interface RuleSources {
  readonly surroundings: GitSurroundings;
  /** Returns a path for the screen: relative to the selected folder, or else absolute. */
  readonly nameOf: (path: string) => string;
  readonly onUnreadRules: (found: UnreadRules) => void;
  readonly signal: AbortSignal | undefined;
}

export interface TopRules extends Pick<IgnoreSettings, 'ignoreCase' | 'composeNames' | 'objectFormat'> {
  readonly layers: readonly RuleLayer[];
  readonly ignoredBy: IgnoreRule | undefined;
}

/**
 * Returns a rule that excludes the entry `name` (in Git's bytes, with `/` for a folder), preferably
 * one that isn't Git's own (`isGitsOwn`).
 */
export function excludes(layers: readonly RuleLayer[], name: string): IgnoreRule | undefined {
  let found: IgnoreRule | undefined;
  for (const { rules } of layers) {
    const rule = rules.match(name);
    if (rule !== undefined && !isGitsOwn(rule)) return rule;
    found ??= rule;
  }
  return found;
}

/** Rules of the user's excludes file don't count. */
export function isGitsOwn({ source }: IgnoreRule): boolean {
  return source === 'gitignore' || source === 'infoExclude';
}

/** Disables the rules that exclude the folder `name`. Other rules still apply to its contents. */
export function withoutMatching(layers: readonly RuleLayer[], name: string): readonly RuleLayer[] {
  return layers.map((layer) => ({ ...layer, rules: layer.rules.withoutMatching(name) }));
}

export function enter(layers: readonly RuleLayer[], name: string): readonly RuleLayer[] {
  return layers.map((layer) => ({ ...layer, rules: layer.rules.enter(name) }));
}

/** Adds the rules of a folder's ignore files. Like Git, ignores a `.gitignore` that is a link. */
export function withOwnFiles(
  layers: readonly RuleLayer[],
  folder: string,
  sources: Pick<RuleSources, 'nameOf' | 'onUnreadRules'>,
  kindOf: (fileName: string) => Pick<Dirent, 'isFile'> | undefined,
): readonly RuleLayer[] {
  return layers.map((layer) => {
    const { fileName, rules } = layer;
    if (fileName === undefined) return layer;
    const kind = kindOf(fileName);
    if (kind === undefined) return layer;
    const path = join(folder, fileName);
    if (fileName === '.gitignore')
      return kind.isFile()
        ? { ...layer, rules: addGitFile(rules, path, { source: 'gitignore' }, sources) }
        : layer;
    const own = readOwnFile(path);
    if (own === undefined) return layer;
    const file = sources.nameOf(path);
    const lines = readLines(own, { source: 'whiteboxignore', file });
    if (rules.count + lines.length > maxRules) throw unreadable(path, 'EFBIG');
    return { ...layer, rules: rules.and(lines) };
  });
}

/** Git follows links for `info/exclude` and the user's excludes file, but not for `.gitignore`. */
function addGitFile(
  rules: IgnoreRules,
  path: string,
  from: Pick<IgnoreRule, 'source' | 'isConditional'>,
  { nameOf, onUnreadRules }: Pick<RuleSources, 'nameOf' | 'onUnreadRules'>,
): IgnoreRules {
  const followLink = from.source !== 'gitignore';
  const content = readRegularFile(path, { maxBytes: maxIgnoreFileBytes, followLink });
  if (content === undefined) return rules;
  const file = nameOf(path);
  const problem = problemIn(content);
  if (problem !== undefined) onUnreadRules({ file, problem });
  return add(rules, readLines(content, { ...from, file }), path);
}

/**
 * Each excludes file, including each of `possibleExcludesFiles`, is a separate layer. The rules of
 * `.gitignore` files are added later.
 */
function gitLayers(
  { ignoreCase, excludesFile, possibleExcludesFiles, infoExclude }: IgnoreSettings,
  sources: RuleSources,
): readonly RuleLayer[] {
  const none = new IgnoreRules(ignoreCase);
  const rulesOf = (
    path: string | undefined,
    from: Pick<IgnoreRule, 'source' | 'isConditional'>,
  ): IgnoreRules => (path === undefined ? none : addGitFile(none, path, from, sources));
  const exclude = rulesOf(infoExclude, { source: 'infoExclude' });
  const ownFiles = [...new Set([excludesFile, ...possibleExcludesFiles])];
  return [
    { rules: exclude, fileName: '.gitignore' },
    ...ownFiles.map((file) => ({
      rules:
        ifReachable(() =>
          rulesOf(file, { source: 'coreExcludesFile', isConditional: file !== excludesFile }),
        ) ?? none,
      fileName: undefined,
    })),
  ];
}

/** Adds the layers of a nested repository, whose rules can't undo outer rules. */
export async function withNested(
  layers: readonly RuleLayer[],
  nested: Repository,
  sources: RuleSources,
): Promise<Pick<TopRules, 'layers' | 'objectFormat'>> {
  const frozen = layers.map((outer) =>
    outer.fileName === '.gitignore' ? { ...outer, fileName: undefined } : outer,
  );
  const settings = await readIgnoreSettings(nested, sources.surroundings, sources.signal);
  return { layers: [...frozen, ...gitLayers(settings, sources)], objectFormat: settings.objectFormat };
}

/**
 * Returns the layers at `root`, before the ignore files in `root` itself are read. Rules that
 * exclude a path in a selection of `within` also exclude it in a selection of a folder inside.
 */
export async function layersAt(
  root: string,
  repository: Repository | undefined,
  sources: RuleSources,
  options: Pick<RuleOptions, 'exclude' | 'within'>,
): Promise<TopRules> {
  const { surroundings, signal } = sources;
  const within = await holderOf(root, options.within);
  const outer = within === root ? repository : await findRepository(within, surroundings);
  const isSame = outer?.root === repository?.root;
  const settings = await readIgnoreSettings(repository, surroundings, signal);
  const outerSettings = isSame ? settings : await readIgnoreSettings(outer, surroundings, signal);
  const { ignoreCase, composeNames, objectFormat } = settings;
  const none = new IgnoreRules(ignoreCase);
  let layers: readonly RuleLayer[] = [
    ...gitLayers(outerSettings, sources),
    { rules: none, fileName: '.whiteboxignore' },
  ];
  let ignoredBy: IgnoreRule | undefined;
  let at = outer?.root ?? within;
  const names = relative(at, root).split(sep).filter(Boolean);
  for (;;) {
    if (at === within) {
      const rules = options.exclude.map((patterns) =>
        add(none, settingLines(patterns), 'whitebox.archive.exclude'),
      );
      layers = [...layers, ...rules.map((each) => ({ rules: each, fileName: undefined }))];
    }
    const name = names.shift();
    if (name === undefined) return { layers, ignoredBy, ignoreCase, composeNames, objectFormat };
    const folder = at;
    layers = withOwnFiles(layers, folder, sources, (fileName) =>
      lstatSync(join(folder, fileName), { throwIfNoEntry: false }),
    );
    const key = `${toGitBytes(composeNames ? name.normalize('NFC') : name)}/`;
    ignoredBy ??= excludes(layers, key);
    layers = enter(withoutMatching(layers, key), key);
    at = join(at, name);
    const nested = isSame
      ? undefined
      : at === repository?.root
        ? repository
        : await repositoryAt(at, surroundings);
    if (nested !== undefined) ({ layers } = await withNested(layers, nested, sources));
  }
}

/** Returns `within`, free of links, if it contains `root`, or else `root`. */
async function holderOf(root: string, within: string | undefined): Promise<string> {
  if (within === undefined) return root;
  const real = await realFolder(within);
  return root.startsWith(real.endsWith(sep) ? real : real + sep) ? real : root;
}

export async function realFolder(path: string): Promise<string> {
  try {
    const real = await realPath(path);
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

function add(rules: IgnoreRules, lines: readonly RuleLine[], subject: string): IgnoreRules {
  const actual = rules.count + lines.length;
  if (actual > maxRules)
    throw new AssessmentError('sourceUnreadable', { subject, detail: 'EFBIG', limit: maxRules, actual });
  return rules.and(lines);
}
