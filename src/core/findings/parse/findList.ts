import { LIST } from './aliases.ts';
import { type JsonObject, type KeyPath, type Look, isObject, normalKey } from './readValue.ts';
import { resolveResult } from './sarifResult.ts';

/** One item of the list; for a SARIF result, what it refers to: its rule and the files of its run. */
export interface Item {
  readonly raw: unknown;
  readonly rule?: JsonObject;
  readonly artifacts?: readonly unknown[];
}

const maxWrappers = 3;
const carriedFinding: KeyPath = ['properties', 'whitebox', 'finding'];

/** The fields of an item, with what it refers to in the place of its references. */
export function fieldsOf({ raw, rule, artifacts = [] }: Item): JsonObject | undefined {
  if (!isObject(raw) || rule === undefined) return isObject(raw) ? raw : undefined;
  const { messageStrings } = rule;
  const result = { ...resolveResult(raw, { messageStrings, artifacts }), rule };
  const { kind = 'fail', level } = raw;
  // What is no failure has no level unless it says so, whatever its rule's is (SARIF 2.1.0, 3.27.10).
  return kind === 'fail' || level !== undefined ? result : { ...result, severity: 'none' };
}

/** A list as found, and the key that it stands under. */
interface Found {
  readonly items: readonly Item[];
  readonly key?: string | undefined;
}

/** Keys that a finding may have a list of its own under; a list under any other says what was found, also when it is empty. */
const ownLists = ['items', 'data'];

/** The list of findings in a parsed file: bare, under a known key, in SARIF's runs, or a lone finding, whose own list has none; undefined when there is none. */
export function findList(
  look: Look,
  root: unknown,
  isFinding: (object: JsonObject, hasList: boolean) => boolean,
): readonly Item[] | undefined {
  const list = wrappedList(look, root, 0);
  const mayBeOwn =
    list === undefined || (ownLists.includes(list.key ?? '') && !list.items.some(({ raw }) => isObject(raw)));
  const isLone = mayBeOwn && isObject(root) && isFinding(root, list !== undefined);
  return isLone ? [{ raw: root }] : list?.items;
}

function wrappedList(look: Look, value: unknown, depth: number): Found | undefined {
  if (Array.isArray(value)) return { items: value.map((raw: unknown) => ({ raw })) };
  if (!isObject(value) || depth > maxWrappers) return undefined;
  for (const path of LIST) {
    const list = wrappedList(look, look(value, path), depth + 1);
    if (list !== undefined) return { key: path[0], ...list };
  }
  const items = sarifResults(look, value);
  return items && { items };
}

/**
 * The results of all runs, each with its rule; undefined when no run has results, which is not the same as none found. A result that was
 * `absent` is none (SARIF 2.1.0, 3.27.24), and one that this extension wrote carries its finding whole.
 */
function sarifResults(look: Look, log: JsonObject): readonly Item[] | undefined {
  const runs = arrayAt(look, log, ['runs']);
  const runsWithResults = runs?.filter((run) => arrayAt(look, run, ['results']) !== undefined);
  if (runs === undefined || (runs.length > 0 && runsWithResults?.length === 0)) return undefined;
  return runsWithResults?.flatMap((run) => {
    const ruleOf = createRuleFinder(look, run);
    const results = arrayAt(look, run, ['results']) ?? [];
    const artifacts = arrayAt(look, run, ['artifacts']) ?? [];
    return results
      .filter((result) => look(result, [normalKey('baseline_state')]) !== 'absent')
      .map((raw) => {
        const own = look(raw, carriedFinding);
        return isObject(own) ? { raw: own } : { raw, rule: ruleOf(raw), artifacts };
      });
  });
}

/** Finds the rule of a result by id, else by index. SARIF 2.1.0, 3.27.5 to 3.27.7; a `/` makes an id more special (3.5.4). */
function createRuleFinder(look: Look, run: unknown): (result: unknown) => JsonObject {
  const driverRules = arrayAt(look, run, ['tool', 'driver', 'rules']) ?? [];
  const extensions = arrayAt(look, run, ['tool', 'extensions']) ?? [];
  const rules = [
    ...driverRules,
    ...extensions.flatMap((extension) => arrayAt(look, extension, ['rules']) ?? []),
  ]
    .filter(isObject)
    .map(withDefaultLevel);
  const byId = new Map(rules.map((rule) => [look(rule, ['id']), rule]));
  return (result) => {
    const id = look(result, [normalKey('rule_id')]) ?? look(result, ['rule', 'id']);
    const parent = typeof id === 'string' ? id.slice(0, Math.max(0, id.lastIndexOf('/'))) : undefined;
    const index = look(result, [normalKey('rule_index')]);
    return (
      byId.get(id) ??
      byId.get(parent) ??
      (id === undefined && typeof index === 'number' ? rules[index] : undefined) ??
      ruleless
    );
  };
}

const ruleless = withDefaultLevel({});

/** A failure without a level has its rule's, and a rule without one means `warning` (SARIF 2.1.0, 3.27.10). */
function withDefaultLevel(rule: JsonObject): JsonObject {
  return { defaultConfiguration: { level: 'warning' }, ...rule };
}

function arrayAt(look: Look, value: unknown, path: KeyPath): readonly unknown[] | undefined {
  const found = look(value, path);
  return Array.isArray(found) ? found : undefined;
}
