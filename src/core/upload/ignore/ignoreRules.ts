import { globstar, type NamePattern, parsePattern, type PathPattern } from './pattern.ts';
import { toUnits } from './units.ts';

/** Where a rule stands. */
type RuleSource = 'gitignore' | 'infoExclude' | 'coreExcludesFile' | 'whiteboxignore' | 'setting';

/** A rule that leaves something out, as a person can find it. */
export interface IgnoreRule {
  readonly source: RuleSource;
  /** The ignore file: relative to the selected folder, with `/`, or absolute when it lies elsewhere; none for a setting. */
  readonly file?: string;
  /** From 1; for a setting, its place in the list. */
  readonly line: number;
  /** As written. */
  readonly pattern: string;
  /** True when git's answer to this rule is not given here, and more is left out than git would leave out. */
  readonly widened: boolean;
}

/** The rules that count in one folder, each later one over the earlier. Immutable: a subfolder's rules are made of its parent's. */
export interface IgnoreRules {
  readonly count: number;
  /** The rule that leaves out an entry of the folder, by its name in units (`toUnits`), ending in `/` for a folder. */
  match(name: string): IgnoreRule | undefined;
  /** These rules and those of a file in the folder; throws nothing, however many there are. */
  and(lines: readonly RuleLine[]): IgnoreRules;
  /** These rules as they count in the subfolder `name` (as above). */
  enter(name: string): IgnoreRules;
  /** These rules without those that leave out the subfolder `name`: as they count below it once a person has chosen it. */
  lift(name: string): IgnoreRules;
}

/** A line of an ignore file that may be a rule, in units. */
export interface RuleLine extends IgnoreRule {
  readonly text: string;
}

/** With more rules than this each path takes too long. */
export const maxRules = 20_000;

/** What all rules of a selection have in common. */
export interface RuleReading {
  /** git's `core.ignorecase`. */
  readonly ignoreCase: boolean;
  /** Called for each rule that is not read as git reads it: it leaves out more, or is negated and not counted. */
  readonly onWidened: (rule: IgnoreRule) => void;
}

/** No rules yet. */
export function noRules(reading: RuleReading): IgnoreRules {
  return rulesOf({ reading, files: [], count: 0, lifted: new Set() });
}

/** The lines of an ignore file, cut as git cuts them: a BOM at the start, CR before LF and everything after a NUL are dropped. Of too many, one more than `maxRules` are given. */
export function readLines(content: Uint8Array, from: Omit<IgnoreRule, 'line' | 'pattern'>): RuleLine[] {
  const bom = content[0] === 0xef && content[1] === 0xbb && content[2] === 0xbf;
  const text = Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString('latin1');
  const lines: RuleLine[] = [];
  for (let start = bom ? 3 : 0, line = 1; start < text.length && lines.length <= maxRules; line++) {
    const end = text.indexOf('\n', start);
    let raw = text.slice(start, end < 0 ? undefined : end);
    start = end < 0 ? text.length : end + 1;
    if (raw.endsWith('\r')) raw = raw.slice(0, -1);
    const nul = raw.indexOf('\0');
    if (nul >= 0) raw = raw.slice(0, nul);
    if (raw === '' || raw.startsWith('#')) continue;
    const bytes = Buffer.from(raw, 'latin1');
    lines.push({ ...from, line, pattern: bytes.toString('utf8'), text: toUnits(bytes) });
  }
  return lines;
}

/** Lines that come from a setting, one pattern each. */
export function settingLines(patterns: readonly string[]): RuleLine[] {
  const from = { source: 'setting', widened: false } as const;
  return patterns.flatMap((pattern, index) =>
    readLines(Buffer.from(pattern), from).map((line) => ({ ...line, line: index + 1 })),
  );
}

/** A rule in its place among those of its file. */
interface Placed {
  readonly rule: IgnoreRule;
  readonly order: number;
  readonly negative: boolean;
  readonly folderOnly: boolean;
}

/** A rule that compares the whole path, and how far it has come on the way to a folder: the places in `path` that are next, in order. */
interface Path extends Placed {
  readonly path: PathPattern;
  readonly next: readonly number[];
}

/** The rules of one ignore file; those for a last name at any depth by that name or its extension, where they tell. */
interface RuleFile {
  readonly byName: ReadonlyMap<string, readonly Placed[]>;
  readonly byExtension: ReadonlyMap<string, readonly Placed[]>;
  readonly byPattern: readonly (Placed & { readonly name: NamePattern })[];
  readonly paths: readonly Path[];
}

interface State {
  readonly reading: RuleReading;
  /** From the strongest to the weakest. */
  readonly files: readonly RuleFile[];
  readonly count: number;
  readonly lifted: ReadonlySet<IgnoreRule>;
}

function rulesOf(state: State): IgnoreRules {
  const { reading, files, count, lifted } = state;
  const fold = (name: string): string => (reading.ignoreCase ? name.toLowerCase() : name);
  const matching = (file: RuleFile, written: string): Placed[] => {
    const isFolder = written.endsWith('/');
    const name = fold(isFolder ? written.slice(0, -1) : written);
    const found = rulesFor(file, name);
    return found.length === 0
      ? found
      : found.filter(({ rule, folderOnly }) => (isFolder || !folderOnly) && !lifted.has(rule));
  };
  return {
    count,
    match(name) {
      for (const file of files) {
        const found = matching(file, name);
        if (found.length === 0) continue;
        const last = found.reduce((one, other) => (one.order > other.order ? one : other));
        return last.negative ? undefined : last.rule;
      }
      return undefined;
    },
    and(lines) {
      const { file, added } = readFile(lines, reading);
      return added === 0
        ? rulesOf(state)
        : rulesOf({ ...state, files: [file, ...files], count: count + added });
    },
    enter(name) {
      const folder = fold(name.slice(0, -1));
      return rulesOf({ ...state, files: files.map((file) => enterFile(file, folder)) });
    },
    lift(name) {
      const more = new Set(lifted);
      for (const file of files) {
        const found = matching(file, name).sort((one, other) => other.order - one.order);
        for (const { negative, rule } of found) {
          if (negative) return rulesOf({ ...state, lifted: more });
          more.add(rule);
        }
      }
      return rulesOf({ ...state, lifted: more });
    },
  };
}

function readFile(
  lines: readonly RuleLine[],
  { ignoreCase, onWidened }: RuleReading,
): { file: RuleFile; added: number } {
  const byName = new Map<string, Placed[]>();
  const byExtension = new Map<string, Placed[]>();
  const byPattern: (Placed & { name: NamePattern })[] = [];
  const paths: Path[] = [];
  const put = (map: Map<string, Placed[]>, key: string, placed: Placed): void => {
    const there = map.get(key);
    if (there === undefined) map.set(key, [placed]);
    else there.push(placed);
  };
  let added = 0;
  for (const { text, ...line } of lines) {
    const pattern = parsePattern(text, ignoreCase);
    if (pattern === undefined) continue;
    const { negative, folderOnly } = pattern;
    const rule: IgnoreRule = { ...line, widened: line.widened || pattern.widened };
    if (pattern.widened) onWidened(rule);
    const placed = { rule, order: added++, negative, folderOnly };
    for (const path of pattern.paths) {
      const [name] = path;
      if (!pattern.anywhere || name === undefined || name === globstar) {
        paths.push({ ...placed, path, next: addPlace([], 0, path) });
      } else if (name.literal !== undefined) put(byName, name.literal, placed);
      else if (name.ending?.lastIndexOf('.') === 0) put(byExtension, name.ending, placed);
      else byPattern.push({ ...placed, name });
    }
  }
  return { file: { byName, byExtension, byPattern, paths }, added };
}

/** The rules that match an entry of the folder that the file's paths have come to, in no order. */
function rulesFor({ byName, byExtension, byPattern, paths }: RuleFile, name: string): Placed[] {
  const found: Placed[] = [];
  found.push(...(byName.get(name) ?? []));
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

/** The file's rules one folder deeper: one step for each place that a path has come to, so that a deep folder takes no longer than another. */
function enterFile(file: RuleFile, folder: string): RuleFile {
  if (file.paths.length === 0) return file;
  const paths: Path[] = [];
  for (const each of file.paths) {
    const next: number[] = [];
    for (const at of each.next) {
      const name = each.path[at];
      if (name === globstar) addPlace(next, at, each.path);
      else if (name?.matches(folder) === true) addPlace(next, at + 1, each.path);
    }
    if (next.length > 0) paths.push({ ...each, next });
  }
  return { ...file, paths };
}

/** Adds a place behind the others, and the one after a globstar, which may stand for no name at all. All that an earlier place leads to, a later globstar does, too. */
function addPlace(places: number[], at: number, path: PathPattern): number[] {
  if (at >= path.length || at <= (places.at(-1) ?? -1)) return places;
  if (path[at] === globstar) places.length = 0;
  places.push(at);
  return path[at] === globstar ? addPlace(places, at + 1, path) : places;
}
