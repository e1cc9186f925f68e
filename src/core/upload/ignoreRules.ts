import ignore, { type Ignore } from 'ignore';
import { foldersAbove } from './entryName.ts';
import { parsePattern } from './pattern.ts';
import { noHint, type RuleHint } from './ruleHint.ts';
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
  /** True when git's answer to this rule cannot be given here, and the rule leaves out more than git would. */
  readonly widened: boolean;
}

/** The rules that count in one folder, each later one over the earlier. Immutable: a subfolder's rules are made of its parent's. */
export interface IgnoreRules {
  readonly count: number;
  /**
   * The rule that leaves out the path `inside` + `name`, in units (`toUnits`), relative to the rules' base; `inside` is `''` or ends in
   * `/`, `name` ends in `/` for a folder. No parent of the path is left out.
   */
  match(inside: string, name: string): IgnoreRule | undefined;
  /** These rules and those of a file in `folder` (in units, relative to the base, `''` or ending in `/`). */
  and(folder: string, lines: readonly RuleLine[]): IgnoreRules;
  /** These rules without those that leave out the folder `inside` + `name`, as `match` takes it: as they count below it once a person has chosen it. */
  lift(inside: string, name: string): IgnoreRules;
}

/** A line of an ignore file that may be a rule, in units. */
export interface RuleLine extends Omit<IgnoreRule, 'widened'> {
  readonly text: string;
}

/** With more rules than this each path that one of them may match would take too long. */
export const maxRules = 20_000;

/** No rules yet. `ignoreCase` is git's `core.ignorecase`. */
export function noRules(ignoreCase: boolean): IgnoreRules {
  return rulesOf({ ignoreCase, engine: undefined, rules: [], hint: noHint(ignoreCase) });
}

/** The lines of an ignore file, cut as git cuts them: a BOM at the start, CR before LF and everything after a NUL are dropped. */
export function readLines(content: Uint8Array, from: Pick<IgnoreRule, 'source' | 'file'>): RuleLine[] {
  const bom = content[0] === 0xef && content[1] === 0xbb && content[2] === 0xbf;
  const lines = Buffer.from(content.buffer, content.byteOffset, content.byteLength)
    .toString('latin1', bom ? 3 : 0)
    .split('\n');
  return lines.flatMap((raw, index) => {
    let line = raw.endsWith('\r') ? raw.slice(0, -1) : raw;
    const end = line.indexOf('\0');
    if (end >= 0) line = line.slice(0, end);
    if (line === '' || line.startsWith('#')) return [];
    const bytes = Buffer.from(line, 'latin1');
    return [{ ...from, line: index + 1, pattern: bytes.toString('utf8'), text: toUnits(bytes) }];
  });
}

/** Lines that come from a setting, one pattern each. */
export function settingLines(patterns: readonly string[]): RuleLine[] {
  return patterns.flatMap((pattern, index) =>
    readLines(Buffer.from(pattern), { source: 'setting' }).map((line) => ({ ...line, line: index + 1 })),
  );
}

interface State {
  readonly ignoreCase: boolean;
  readonly engine: Ignore | undefined;
  readonly rules: readonly Compiled[];
  readonly hint: RuleHint;
}

/** A rule with what stands for it in the engine: nothing once it is lifted. */
interface Compiled {
  readonly rule: IgnoreRule;
  readonly patterns: readonly string[];
}

function rulesOf(state: State): IgnoreRules {
  const { ignoreCase, engine, rules, hint } = state;
  return {
    count: rules.length,
    match(inside, name) {
      if (engine === undefined || !hint.mayMatch(inside, name)) return undefined;
      const mark = engine.test(inside + name).rule?.mark;
      return mark === undefined ? undefined : rules[Number(mark)]?.rule;
    },
    and(folder, lines) {
      const added: { pattern: string; mark: string }[] = [];
      const all = [...rules];
      const bodies: string[] = [];
      for (const { text, ...line } of lines) {
        const parsed = parsePattern(text, ignoreCase);
        if (parsed === undefined) continue;
        const base = escape(folder);
        const anchor = parsed.nameOnly ? (base === '' ? '' : `/${base}**/`) : `/${base}`;
        const patterns = parsed.bodies.map(
          (body) => `${parsed.negative ? '!' : ''}${anchor}${body}${parsed.folderOnly ? '/' : ''}`,
        );
        added.push(...patterns.map((pattern) => ({ pattern, mark: String(all.length) })));
        bodies.push(...parsed.bodies);
        all.push({ rule: { ...line, widened: parsed.widened }, patterns });
      }
      if (added.length === 0) return rulesOf(state);
      const next = ignore({ ignorecase: ignoreCase });
      if (engine !== undefined) next.add(engine);
      return rulesOf({ ignoreCase, engine: next.add(added), rules: all, hint: hint.and(bodies) });
    },
    lift(inside, name) {
      // Asked about one by one: the engine tells only the last rule that matches. It takes a rule that matches a parent for one that
      // matches the folder, so each parent is brought back.
      const parents = foldersAbove(inside + name).map((parent) => `!/${escape(parent)}`);
      const lifted = new Set<Compiled>();
      for (const each of rules.toReversed()) {
        const alone = ignore({ ignorecase: ignoreCase }).add([...each.patterns, ...parents]);
        const { ignored, unignored } = alone.test(inside + name);
        if (unignored) break;
        if (ignored) lifted.add(each);
      }
      const kept = rules.map((each) => (lifted.has(each) ? { ...each, patterns: [] } : each));
      const left = kept.flatMap(({ patterns }, at) =>
        patterns.map((pattern) => ({ pattern, mark: String(at) })),
      );
      return rulesOf({ ...state, rules: kept, engine: ignore({ ignorecase: ignoreCase }).add(left) });
    },
  };
}

function escape(folder: string): string {
  return folder.replace(/[\\*?[\]]/g, '\\$&');
}
