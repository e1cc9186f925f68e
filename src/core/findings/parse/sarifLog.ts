import { type Fields, isObject, type JsonObject, type KeyPath, normalKey, valueAt } from '../../json.ts';

/**
 * The results of all runs, each with its rule; undefined when no run has a list of results, which differs from an empty list. An `absent` result
 * does not count (SARIF 2.1.0, 3.27.24).
 */
export function sarifResults(
  log: Fields,
): readonly { readonly raw: unknown; readonly rule: JsonObject }[] | undefined {
  const runs = toArray(log.get('runs'));
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

/** A result that this extension exported holds the whole finding, without the escapes of SARIF. */
function asExported(result: unknown): unknown {
  const finding = valueAt(result, ['properties', 'whitebox', 'finding']);
  return isObject(finding) ? finding : result;
}

/** The notifications of a SARIF log that has no results because its tool failed; undefined for any other value. */
export function toolFailureOf(root: unknown): readonly unknown[] | undefined {
  const runs = isObject(root) ? (arrayAt(root, ['runs']) ?? []) : [];
  const invocations = runs.flatMap((run) => arrayAt(run, ['invocations']) ?? []);
  const notifications = invocations.flatMap((invocation) =>
    notificationLists.flatMap((path) => arrayAt(invocation, path) ?? []),
  );
  const hasFailed =
    invocations.some((invocation) => valueAt(invocation, executionSuccessful) === false) ||
    notifications.length > 0;
  const isEmpty = runs.every((run) => (arrayAt(run, ['results']) ?? []).length === 0);
  // An empty list of results means that the tool looked, unless it reports an error.
  const isSure = runs.every((run) => arrayAt(run, ['results']) === undefined) || notifications.some(isError);
  return hasFailed && isEmpty && isSure ? notifications : undefined;
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

/** A rule without a level means `warning` (SARIF 2.1.0, 3.27.10). */
function withDefaultLevel(rule: JsonObject): JsonObject {
  return { defaultConfiguration: { level: 'warning' }, ...rule };
}

function arrayAt(value: unknown, path: KeyPath): readonly unknown[] | undefined {
  return toArray(valueAt(value, path));
}

function toArray(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? value : undefined;
}
