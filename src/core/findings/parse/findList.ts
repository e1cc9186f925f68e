import { CWE, FILE, ID, LIST, SEVERITY_NAMES, SEVERITY_WORDS, TITLE } from './aliases.ts';
import { looksLikePath } from './pathText.ts';
import {
  type JsonObject,
  type KeyPath,
  firstHit,
  isObject,
  normalKey,
  present,
  valueAt,
} from '../../json.ts';

/** What the groups and keys around an item say of it, where it does not say so itself. */
type Around = Readonly<Partial<Record<'severity' | 'file' | 'category' | 'cwe' | 'id', unknown>>>;

/** One item of the list, and what stands around it; of a SARIF result, the rule that it refers to. */
export interface Item {
  readonly raw: unknown;
  readonly around?: Around;
  readonly rule?: JsonObject;
}

const maxDepth = 8;
/** So many of a list that nothing names are looked at to see whether they are findings. */
const samples = 20;

/** Keys that a finding may have a list of its own under. */
const ownLists = ['items', 'data'];
/** Keys under which nothing but findings stands. */
const sureLists = ['findings', 'vulnerabilities'];
const listKeys = new Set(LIST.map(([key]) => key));

const aliasesAround: Readonly<Record<keyof Around, readonly KeyPath[]>> = {
  severity: SEVERITY_NAMES,
  file: FILE,
  category: TITLE,
  cwe: CWE,
  id: ID,
};

/** The fields of an item, with what its rule and its surroundings say; none for an item that is no object. */
export function fieldsOf({ raw, rule, around = {} }: Item): JsonObject {
  if (!isObject(raw)) return {};
  const lacking = Object.entries(around).filter(
    ([key]) => present(raw, aliasesAround[key as keyof Around]).length === 0,
  );
  const fields = lacking.length === 0 ? raw : { ...raw, ...Object.fromEntries(lacking) };
  if (rule === undefined) return fields;
  const { kind = 'fail', level } = raw;
  // What is no failure has no level unless it says so, whatever its rule's is (SARIF 2.1.0, 3.27.10).
  return kind === 'fail' || level !== undefined ? { ...fields, rule } : { ...fields, rule, severity: 'none' };
}

/** Tells whether an item by itself is a finding: one that is rated or placed, or, when it has to be `whole`, both. */
type IsFinding = (item: Item, whole: boolean) => boolean;

/** A list of findings, and the key that it stands under. */
interface Found {
  readonly key: string;
  readonly items: readonly Item[];
}

/** Finds the list of findings in a parsed file: bare, under a known key, in maps, groups and wrappers, in SARIF's runs, or a lone finding; undefined when there is none. */
export function findList(root: unknown, isFinding: IsFinding): readonly Item[] | undefined {
  if (Array.isArray(root)) return inArray(root, 0);
  if (!isObject(root)) return undefined;
  const known = underKnownKey(root, 0);
  const inside = known?.items ?? inWrapper(root, 0);
  const mayBeOwn = known === undefined || (ownLists.includes(known.key) && !known.items.some(hasFields));
  // What rates a whole report is no finding beside those that it holds.
  const isOne = mayBeOwn && isFinding({ raw: root }, known !== undefined || areWhole(inside));
  return isOne ? [{ raw: root }] : inside;

  /** Whether items are surely findings: some of the first ones name their own rating, and have a place. */
  function areWhole(items: readonly Item[] = []): boolean {
    return items
      .slice(0, samples)
      .some((item) => present(fieldsOf(item), SEVERITY_NAMES).length > 0 && isFinding(item, true));
  }

  /** Every element is an item, or a group of some. */
  function inArray(list: readonly unknown[], depth: number): readonly Item[] {
    return list.flatMap((raw: unknown) => {
      if (isObject(raw)) return inGroup(raw, depth + 1) ?? [{ raw }];
      return Array.isArray(raw) && raw.some(isObject) && depth < maxDepth
        ? inArray(raw, depth + 1)
        : [{ raw }];
    });
  }

  /** The findings in an object that stands where a finding could; undefined for one that is a finding itself. */
  function inGroup(group: JsonObject, depth: number): readonly Item[] | undefined {
    if (depth > maxDepth) return undefined;
    const items = itemsOfGroup(group, depth);
    return items && within(aroundOf(group), items);
  }

  function itemsOfGroup(group: JsonObject, depth: number): readonly Item[] | undefined {
    const isOne = (whole: boolean): boolean => isFinding({ raw: group }, whole);
    const known = underKnownKey(group, depth);
    if (known === undefined) {
      if (!Object.values(group).some(mayHoldLists)) return undefined;
      if (!isOne(false)) return inWrapper(group, depth);
      if (present(group, SEVERITY_NAMES).length > 0) return undefined;
      const inside = inWrapper(group, depth);
      return inside && areWhole(within(aroundOf(group), inside)) ? inside : undefined;
    }
    const { key, items } = known;
    if (items.some(hasFields))
      return sureLists.includes(key) || !isOne(true) || items.some((item) => isFinding(item, false))
        ? items
        : undefined;
    // Texts and nothing may be a finding's own.
    if (ownLists.includes(key)) return undefined;
    return isOne(sureLists.includes(key)) ? undefined : items;
  }

  /** What stands under a key for lists: of several keys the first with a finding. */
  function underKnownKey(object: JsonObject, depth: number): Found | undefined {
    const sarif = sarifResults(object);
    if (sarif !== undefined) return { key: 'runs', items: sarif };
    let empty: Found | undefined;
    for (const path of present(object, LIST)) {
      const [key = ''] = path;
      const value = valueAt(object, path);
      const found = Array.isArray(value)
        ? { key, items: inArray(value, depth + 1) }
        : isObject(value)
          ? inNamed(value, key, depth + 1)
          : undefined;
      if (found !== undefined && found.items.length > 0) return found;
      empty ??= found;
    }
    return empty;
  }

  /** An object under a key for lists: a wrapper, a lone finding, or a map by severity, file, category or id. */
  function inNamed(map: JsonObject, key: string, depth: number): Found | undefined {
    if (depth > maxDepth) return undefined;
    if (Object.keys(map).length === 0) return { key, items: [] };
    const known = underKnownKey(map, depth);
    if (known !== undefined) return known;
    if (isFinding({ raw: map }, false)) return { key, items: [{ raw: map }] };
    const isSure = !ownLists.includes(key);
    const lists = unknownEntries(map).flatMap(([name, value]): readonly (readonly Item[])[] => {
      if (Array.isArray(value))
        return value.length > 0 || severityName(name)
          ? [within(nameAround(name), inArray(value, depth + 1))]
          : [];
      if (!isObject(value)) return [];
      const isRating = severityName(name);
      const around = isRating ? { severity: name } : pathAround(name);
      const group = inGroup(value, depth + 1);
      if (group !== undefined) return [within(around ?? {}, group)];
      const one = { raw: value, around: around ?? { id: name } };
      if (isRating && !isFinding(isSure ? one : { raw: value }, false)) {
        const named = Object.keys(value).length === 0 ? [] : inNamed(value, key, depth + 1)?.items;
        return named === undefined ? [] : [within(one.around, named)];
      }
      return isSure || isFinding(one, false) ? [[one]] : [];
    });
    return lists.length === 0 ? undefined : { key, items: lists.flat() };
  }

  /** An object that nothing is known of: lists by severity, lists of findings under any key, or objects that hold some. */
  function inWrapper(object: JsonObject, depth: number): readonly Item[] | undefined {
    if (depth > maxDepth) return undefined;
    const entries = unknownEntries(object);
    const isBySeverity = ([key, value]: [string, unknown]): boolean =>
      severityName(key) && Array.isArray(value);
    const found = entries.flatMap((entry) => {
      const [name, value] = entry;
      if (Array.isArray(value)) {
        const items = inArray(value, depth + 1);
        if (isBySeverity(entry)) return [within(nameAround(name), items)];
        const areFindings = items.slice(0, samples).some((item) => isFinding(item, false));
        return areFindings ? [within(pathAround(name) ?? {}, items)] : [];
      }
      if (!isObject(value)) return [];
      const items = underKnownKey(value, depth + 1)?.items ?? inWrapper(value, depth + 1);
      return items === undefined ? [] : [within(pathAround(name) ?? {}, items)];
    });
    return found.length === 0 ? undefined : found.flat();
  }
}

function hasFields({ raw }: Item): boolean {
  return isObject(raw);
}

function mayHoldLists(value: unknown): boolean {
  return isObject(value) || (Array.isArray(value) && value.some(isObject));
}

/** What an object holds under other keys than those for lists. */
function unknownEntries(object: JsonObject): [string, unknown][] {
  return Object.entries(object).filter(([key]) => !listKeys.has(normalKey(key)));
}

/** Items with what stands around them; what is nearer counts. */
function within(around: Around, items: readonly Item[]): readonly Item[] {
  return items.map((item) => ({ ...item, around: { ...around, ...item.around } }));
}

/** What a group says of the findings in it. */
function aroundOf(group: JsonObject): Around {
  const word = (value: unknown): unknown =>
    typeof value === 'string' || typeof value === 'number' ? value : undefined;
  const text = (value: unknown): unknown => (typeof value === 'string' && value !== '' ? value : undefined);
  const path = (value: unknown): unknown =>
    typeof value === 'string' && looksLikePath(value, 'files') ? value : undefined;
  const own = {
    severity: firstHit(group, aliasesAround.severity, word),
    file: firstHit(group, aliasesAround.file, path),
    category: firstHit(group, aliasesAround.category, text),
    cwe: firstHit(group, aliasesAround.cwe, (value) => value),
  };
  return Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined));
}

function severityName(key: string): boolean {
  return SEVERITY_WORDS.has(key.trim().toLowerCase());
}

/** What the key of a list says of its findings. */
function nameAround(key: string): Around {
  return severityName(key) ? { severity: key } : (pathAround(key) ?? { category: key });
}

function pathAround(key: string): Around | undefined {
  return looksLikePath(key, 'places') ? { file: key } : undefined;
}

/**
 * The results of all runs, each with its rule; undefined when no run has results, which is not the same as none found. A result that was
 * `absent` is none (SARIF 2.1.0, 3.27.24).
 */
function sarifResults(log: JsonObject): readonly Item[] | undefined {
  const runs = arrayAt(log, ['runs']);
  const runsWithResults = runs?.filter((run) => arrayAt(run, ['results']) !== undefined);
  if (runs === undefined || (runs.length > 0 && runsWithResults?.length === 0)) return undefined;
  return runsWithResults?.flatMap((run) => {
    const ruleOf = createRuleFinder(run);
    const results = arrayAt(run, ['results']) ?? [];
    return results
      .filter((result) => valueAt(result, [normalKey('baseline_state')]) !== 'absent')
      .map((raw) => ({ raw: asExported(raw), rule: ruleOf(raw) }));
  });
}

/** A result's finding as this extension exported it: whole, and its texts without the escapes of SARIF; else the result. */
function asExported(result: unknown): unknown {
  const finding = valueAt(result, ['properties', 'whitebox', 'finding']);
  return isObject(finding) ? finding : result;
}

/** The notifications of SARIF runs whose tool failed and that have no results; undefined where the log is none of such runs. */
export function toolFailureOf(root: unknown): readonly unknown[] | undefined {
  const runs = isObject(root) ? (arrayAt(root, ['runs']) ?? []) : [];
  const invocations = runs.flatMap((run) => arrayAt(run, ['invocations']) ?? []);
  const notifications = invocations.flatMap((invocation) =>
    notificationLists.flatMap((path) => arrayAt(invocation, path) ?? []),
  );
  const hasFailed =
    invocations.some((invocation) => valueAt(invocation, executionSuccessful) === false) ||
    notifications.length > 0;
  const isWithout = runs.every((run) => (arrayAt(run, ['results']) ?? []).length === 0);
  // A log with an empty list of results has looked, unless its tool says otherwise.
  const isSure = runs.every((run) => arrayAt(run, ['results']) === undefined) || notifications.some(isError);
  return hasFailed && isWithout && isSure ? notifications : undefined;
}

const executionSuccessful = [normalKey('execution_successful')];
const notificationLists = [
  [normalKey('tool_execution_notifications')],
  [normalKey('tool_configuration_notifications')],
];

function isError(notification: unknown): boolean {
  return valueAt(notification, ['level']) === 'error';
}

/** Finds the rule of a result by id, else by index (SARIF 2.1.0, 3.27.5 to 3.27.7). */
function createRuleFinder(run: unknown): (result: unknown) => JsonObject {
  const extensions = arrayAt(run, ['tool', 'extensions']) ?? [];
  const rules = [
    ...(arrayAt(run, ['tool', 'driver', 'rules']) ?? []),
    ...extensions.flatMap((extension) => arrayAt(extension, ['rules']) ?? []),
  ]
    .filter(isObject)
    .map(withDefaultLevel);
  const byId = new Map(rules.map((rule) => [valueAt(rule, ['id']), rule]));
  return (result) => {
    const id = valueAt(result, [normalKey('rule_id')]) ?? valueAt(result, ['rule', 'id']);
    const index = valueAt(result, [normalKey('rule_index')]);
    return (
      byId.get(id) ?? (id === undefined && typeof index === 'number' ? rules[index] : undefined) ?? ruleless
    );
  };
}

const ruleless = withDefaultLevel({});

/** A failure without a level has its rule's, and a rule without one means `warning` (SARIF 2.1.0, 3.27.10). */
function withDefaultLevel(rule: JsonObject): JsonObject {
  return { defaultConfiguration: { level: 'warning' }, ...rule };
}

function arrayAt(value: unknown, path: KeyPath): readonly unknown[] | undefined {
  const found = valueAt(value, path);
  return Array.isArray(found) ? found : undefined;
}
