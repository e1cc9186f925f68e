import { globstar, type NamePattern, parsePattern, type PathPattern } from './pattern.ts';

type RuleSource = 'gitignore' | 'infoExclude' | 'coreExcludesFile' | 'whiteboxignore' | 'setting';

export interface IgnoreRule {
  readonly source: RuleSource;
  /** The result of `RuleSources.nameOf`. Absent for a setting. */
  readonly file?: string;
  /** Lines count from 1. For a setting, this is the position in the list. */
  readonly line: number;
  readonly pattern: string;
  /** True for a rule of one of the `possibleExcludesFiles`. */
  readonly isConditional?: boolean;
}

/** `text` is in Git's bytes (`toGitBytes`). */
export interface RuleLine extends IgnoreRule {
  readonly text: string;
}

/** With more rules, matching a path would take too long. */
export const maxRules = 20_000;

interface PositionedRule {
  readonly rule: IgnoreRule;
  readonly order: number;
  readonly negative: boolean;
  readonly folderOnly: boolean;
}

/**
 * A rule for a whole path. `next` has the indexes in `path` that may match an entry of the current
 * folder, in ascending order.
 */
interface Path extends PositionedRule {
  readonly path: PathPattern;
  readonly next: readonly number[];
}

/**
 * The rules of one ignore file or setting. Rules for a plain name (`build`) or an extension
 * (`*.log`) at any depth are indexed.
 */
interface RuleFile {
  readonly byName: ReadonlyMap<string, readonly PositionedRule[]>;
  readonly byExtension: ReadonlyMap<string, readonly PositionedRule[]>;
  readonly byPattern: readonly (PositionedRule & { readonly name: NamePattern })[];
  readonly paths: readonly Path[];
}

/**
 * The rules that apply in one folder. A later rule overrides an earlier one. Immutable: a
 * subfolder's rules are derived from its parent's.
 */
export class IgnoreRules {
  readonly count: number;
  readonly #ignoreCase: boolean;
  /** The file that was added last comes first, and overrides the others. */
  readonly #files: readonly RuleFile[];
  readonly #disabled: ReadonlySet<IgnoreRule>;

  constructor(
    ignoreCase: boolean,
    files: readonly RuleFile[] = [],
    count = 0,
    disabled: ReadonlySet<IgnoreRule> = new Set(),
  ) {
    this.#ignoreCase = ignoreCase;
    this.#files = files;
    this.count = count;
    this.#disabled = disabled;
  }

  /** Returns the rule that excludes the entry `name` (in Git's bytes, with `/` for a folder). */
  match(name: string): IgnoreRule | undefined {
    for (const file of this.#files) {
      const found = this.#matching(file, name);
      if (found.length === 0) continue;
      const last = found.reduce((one, other) => (one.order > other.order ? one : other));
      return last.negative ? undefined : last.rule;
    }
    return undefined;
  }

  and(lines: readonly RuleLine[]): IgnoreRules {
    const { file, added } = readFile(lines, this.#ignoreCase);
    return new IgnoreRules(this.#ignoreCase, [file, ...this.#files], this.count + added, this.#disabled);
  }

  enter(name: string): IgnoreRules {
    const folder = this.#fold(name.slice(0, -1));
    const files = this.#files.map((file) => enterFile(file, folder));
    return new IgnoreRules(this.#ignoreCase, files, this.count, this.#disabled);
  }

  /** Disables the rules that exclude the subfolder `name` and that no later `!` undoes. */
  withoutMatching(name: string): IgnoreRules {
    const disabled = new Set(this.#disabled);
    const rules = new IgnoreRules(this.#ignoreCase, this.#files, this.count, disabled);
    for (const file of this.#files) {
      const found = this.#matching(file, name).sort((one, other) => other.order - one.order);
      for (const { negative, rule } of found) {
        if (negative) return rules;
        disabled.add(rule);
      }
    }
    return rules;
  }

  #fold(name: string): string {
    return this.#ignoreCase ? name.toLowerCase() : name;
  }

  #matching(file: RuleFile, written: string): PositionedRule[] {
    const isFolder = written.endsWith('/');
    const found = rulesFor(file, this.#fold(isFolder ? written.slice(0, -1) : written));
    return found.filter(({ rule, folderOnly }) => (isFolder || !folderOnly) && !this.#disabled.has(rule));
  }
}

function readFile(lines: readonly RuleLine[], ignoreCase: boolean): { file: RuleFile; added: number } {
  const byName = new Map<string, PositionedRule[]>();
  const byExtension = new Map<string, PositionedRule[]>();
  const byPattern: (PositionedRule & { name: NamePattern })[] = [];
  const paths: Path[] = [];
  const put = (map: Map<string, PositionedRule[]>, key: string, located: PositionedRule): void => {
    const rules = map.get(key);
    if (rules === undefined) map.set(key, [located]);
    else rules.push(located);
  };
  let added = 0;
  for (const { text, ...rule } of lines) {
    const pattern = parsePattern(text, ignoreCase);
    if (pattern === undefined) continue;
    const { negative, folderOnly, path, anywhere } = pattern;
    const located = { rule, order: added++, negative, folderOnly };
    const [name] = path;
    if (!anywhere || name === undefined || name === globstar) {
      paths.push({ ...located, path, next: addIndex([], 0, path) });
    } else if (name.literal !== undefined) put(byName, name.literal, located);
    else if (name.ending?.lastIndexOf('.') === 0) put(byExtension, name.ending, located);
    else byPattern.push({ ...located, name });
  }
  return { file: { byName, byExtension, byPattern, paths }, added };
}

/** Returns rules in no particular order. `enterFile` has advanced `paths` to the entry's folder. */
function rulesFor({ byName, byExtension, byPattern, paths }: RuleFile, name: string): PositionedRule[] {
  const found = [...(byName.get(name) ?? [])];
  const dot = name.lastIndexOf('.');
  if (dot >= 0) found.push(...(byExtension.get(name.slice(dot)) ?? []));
  for (const each of byPattern) if (each.name.matches(name)) found.push(each);
  for (const each of paths) {
    if (each.next.at(-1) !== each.path.length - 1) continue;
    const last = each.path.at(-1);
    if (last === globstar || last?.matches(name) === true) found.push(each);
  }
  return found;
}

/** Advances each match by one folder, so that a deep folder takes no longer than a shallow one. */
function enterFile(file: RuleFile, folder: string): RuleFile {
  const paths: Path[] = [];
  for (const each of file.paths) {
    const next: number[] = [];
    for (const at of each.next) {
      const name = each.path[at];
      if (name === globstar) addIndex(next, at, each.path);
      else if (name?.matches(folder) === true) addIndex(next, at + 1, each.path);
    }
    if (next.length > 0) paths.push({ ...each, next });
  }
  return { ...file, paths };
}

/**
 * After the index of a globstar, also adds the next index, because a globstar may match no name.
 * Drops the indexes before a globstar, which matches whatever they would.
 */
function addIndex(indexes: number[], at: number, path: PathPattern): number[] {
  if (at >= path.length || at <= (indexes.at(-1) ?? -1)) return indexes;
  if (path[at] === globstar) indexes.length = 0;
  indexes.push(at);
  return path[at] === globstar ? addIndex(indexes, at + 1, path) : indexes;
}
