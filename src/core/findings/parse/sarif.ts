import { AssessmentError } from '../../errors.ts';
import { isObject, type JsonObject } from '../../json.ts';
import { clip, visibleLine, codeBlock, codeSpan } from '../../visibleText.ts';
import { MAX_PATH } from '../finding.ts';
import { gather, MAX_TEXT, messageText, toFreeText } from './freeText.ts';
import type { Item } from './readFinding.ts';
import { isWebAddress } from './pathText.ts';

/**
 * Reads SARIF 2.1.0; comments name its sections. A result refers to other objects of the log, such
 * as its rule, artifacts, and messages. It is copied with these references resolved, and then read
 * like an item of any findings file. Texts that many results may share are cut before they are
 * joined.
 */

/** These are subjects of `malformedFindings`. With `toolFailed`, `detail` is the tool's message. */
const SARIF_FAULTS = ['toolFailed', 'noResults', 'oldSarif'] as const;

export type SarifFault = (typeof SARIF_FAULTS)[number];

export function isSarifFault(subject: string | undefined): subject is SarifFault {
  return SARIF_FAULTS.some((fault) => fault === subject);
}

/** These versions name files differently. */
const oldVersion = /^(?:1|2\.0)\./;
const maxDetail = 300;
const maxJustification = 10_000;
/** Limits nested objects, nested bases, and parts of a rule's ID. */
const maxNesting = 20;
const maxBases = 100;
/** A longer address is not written into texts. */
const maxAddress = 300;

/**
 * Returns undefined if the root is neither a log nor an array with logs. A run without a list of
 * results has analyzed nothing; an empty list means that nothing was found (3.14.23). Throws
 * `malformedFindings` with a `SarifFault`.
 */
export function itemsOfSarif(root: unknown): readonly Item[] | undefined {
  const all: readonly unknown[] = Array.isArray(root) ? root : [root];
  const isRun = (run: unknown): boolean => isObject(run) && ('tool' in run || 'results' in run);
  const logs = all.filter(isObject).filter(({ runs }) => Array.isArray(runs) && runs.every(isRun));
  if (logs.length === 0) return undefined;
  if (logs.some(({ version }) => oldVersion.test(String(version)))) throw fault('oldSarif');
  const runs = logs.flatMap((log) => listAt(log, 'runs')).filter(isObject);
  const withResults = runs.filter((run) => Array.isArray(run['results']));
  if (withResults.every((run) => listAt(run, 'results').length === 0)) {
    const outside = logs.flatMap((log) => listAt(log, 'inlineExternalProperties'));
    const failure = failureOf([...logs, ...outside, ...runs], withResults.length > 0);
    if (failure !== undefined) throw fault('toolFailed', failure || undefined);
    if (withResults.length === 0 && runs.length > 0) throw fault('noResults');
  }
  return withResults.flatMap(itemsOfRun);
}

function itemsOfRun(run: JsonObject): readonly Item[] {
  const references = referencesIn(run);
  const inCodePoints = run['columnKind'] === 'unicodeCodePoints' || undefined;
  // Absent results were only in an earlier run (3.27.24).
  const results = listAt(run, 'results').filter((each) => memberAt(each, 'baselineState') !== 'absent');
  return results.map((each) =>
    isObject(each) ? { ...toItem(each, references), inCodePoints } : { raw: each },
  );
}

type References = ReturnType<typeof referencesIn>;

function referencesIn(run: JsonObject) {
  const toTaxon = createTaxonFinder(run);
  const ruleOf = createRuleFinder(run, toTaxon);
  return {
    toTaxon,
    ruleOf,
    levelOf: createLevelFinder(run, ruleOf),
    toArtifact: createArtifactFinder(run),
    steps: listAt(run, 'threadFlowLocations'),
    messages: objectAt(run, 'tool', 'driver', 'globalMessageStrings'),
  };
}

function fault(subject: SarifFault, detail?: string): AssessmentError {
  return new AssessmentError('malformedFindings', { subject, detail });
}

/**
 * Returns the tool's message, or undefined if the tool did not fail. If the log has a list of
 * results, only an error notification is a failure.
 */
function failureOf(parts: readonly unknown[], hasLooked: boolean): string | undefined {
  const invocations = parts.flatMap((part) => listAt(part, 'invocations'));
  const notifications = invocations.flatMap((each) => [
    ...listAt(each, 'toolExecutionNotifications'),
    ...listAt(each, 'toolConfigurationNotifications'),
  ]);
  const byLevel = Map.groupBy(notifications, (each) => memberAt(each, 'level') ?? 'warning');
  const [errors = [], warnings = []] = ['error', 'warning'].map((level) => byLevel.get(level));
  const isFailed = (each: unknown): boolean => memberAt(each, 'executionSuccessful') === false;
  const hasFailed = warnings.length > 0 || invocations.some(isFailed);
  if (errors.length === 0 && (hasLooked || !hasFailed)) return undefined;
  const texts = [...errors, ...warnings].map((each) => toFreeText(memberAt(each, 'message')));
  return clip(visibleLine(texts.find((each) => each !== '')?.slice(0, 2 * maxDetail) ?? ''), maxDetail);
}

/** A result that this extension exported has the whole finding, without the escapes of SARIF. */
function toItem(result: JsonObject, references: References): Item {
  const suppression = suppressionOf(result);
  const exported = objectAt(result, 'properties', 'whitebox', 'finding');
  if (Object.keys(exported).length > 0) return { raw: exported, suppression };
  const rule = references.ruleOf(result);
  const whole = resolve(result, references, [objectAt(rule, 'messageStrings'), references.messages]);
  const target = uriOf(listAt(whole, 'locations')[0]);
  const resolved: JsonObject = {
    ...whole,
    message: withLocationsOfLinks(whole),
    // An artifact on the web is part of a live application, not a file.
    ...(target !== undefined && isWebAddress(target) && { webRequest: whole['webRequest'] ?? { target } }),
    recommendation: fixesOf(whole),
    // These fields have been read, so they are not shown as other fields.
    ...{ rule: undefined, ruleIndex: undefined, suppressions: undefined, fixes: undefined },
    // A result without a level has the severity `none` if its kind is not `fail` (3.27.10).
    ...((result['kind'] ?? 'fail') !== 'fail' && result['level'] === undefined && { severity: 'none' }),
  };
  return { raw: result, resolved, rule: { ...rule, level: references.levelOf(result, rule) }, suppression };
}

/**
 * Returns the tool's reasons. A result counts as suppressed only if none of its suppressions has a
 * `status` (3.35.3) other than `accepted`.
 */
function suppressionOf(result: JsonObject): string | undefined {
  const suppressions = listAt(result, 'suppressions');
  const holds = (each: unknown): boolean => (memberAt(each, 'status') ?? 'accepted') === 'accepted';
  if (suppressions.length === 0 || !suppressions.every(holds)) return undefined;
  const reasons = new Set(suppressions.map((each) => toFreeText(memberAt(each, 'justification'))));
  return clip([...reasons].filter((each) => each !== '').join('\n'), maxJustification);
}

type RuleFinder = (result: JsonObject) => JsonObject;

/**
 * The index in the driver or an extension counts unless the ID contradicts it. Otherwise, the
 * longest known prefix of the ID counts (3.27.5 to 3.27.7, 3.52).
 */
function createRuleFinder(run: JsonObject, toTaxon: (reference: unknown) => unknown): RuleFinder {
  const toRule = (rule: unknown): JsonObject => {
    const relationships = listAt(rule, 'relationships').map((each) => toTaxon(memberAt(each, 'target')));
    return { ...objectAt(rule), relationships };
  };
  const tool = objectAt(run, 'tool');
  const components = [objectAt(tool, 'driver'), ...listAt(tool, 'extensions')].map((component) =>
    listAt(component, 'rules').map(toRule),
  );
  const byId = Map.groupBy(components.flat(), ({ id }) => id);
  return (result) => {
    const reference = objectAt(result, 'rule');
    const component = Number(objectAt(reference, 'toolComponent')['index'] ?? -1) + 1;
    const indexed = elementAt(components[component] ?? [], result['ruleIndex'] ?? reference['index']);
    const ids = withParents(result['ruleId'] ?? reference['id']);
    if (indexed !== undefined && (ids.length === 0 || ids.includes(String(indexed['id'])))) return indexed;
    return byId.get(ids.find((id) => byId.has(id)))?.[0] ?? {};
  };
}

/** `a/b/c` gives `a/b/c`, `a/b`, and `a`. */
function withParents(id: unknown): readonly string[] {
  const parts = typeof id === 'string' ? id.split('/') : [];
  return parts.slice(0, maxNesting).map((_, left) => parts.slice(0, parts.length - left).join('/'));
}

/** An invocation may override the level of a rule (3.27.10). */
function createLevelFinder(run: JsonObject, ruleOf: RuleFinder) {
  const overrides = listAt(run, 'invocations').map((invocation) => {
    const changes = listAt(invocation, 'ruleConfigurationOverrides');
    const levels = changes.map((each) => objectAt(each, 'configuration')['level']);
    return new Map(changes.map((each, at) => [ruleOf({ rule: objectAt(each, 'descriptor') }), levels[at]]));
  });
  return (result: JsonObject, rule: JsonObject): unknown => {
    const { invocationIndex = overrides.length === 1 ? 0 : undefined } = objectAt(result, 'provenance');
    const override = elementAt(overrides, invocationIndex)?.get(rule);
    return override ?? objectAt(rule, 'defaultConfiguration')['level'] ?? 'warning';
  };
}

/** Returns the ID of a taxon and the name of its taxonomy (3.52, 3.54). */
function createTaxonFinder(run: JsonObject): (reference: unknown) => unknown {
  const taxonomies = listAt(run, 'taxonomies');
  return (reference) => {
    const component = objectAt(reference, 'toolComponent');
    const taxonomy = objectAt(elementAt(taxonomies, component['index']));
    const taxon = elementAt(listAt(taxonomy, 'taxa'), memberAt(reference, 'index'));
    const { id = memberAt(taxon, 'id') } = objectAt(reference);
    return { id, toolComponent: { name: component['name'] ?? taxonomy['name'] } };
  };
}

/** Resolves the `index` and `uriBaseId` of an artifact's location (3.4). */
function createArtifactFinder(run: JsonObject): (location: unknown) => unknown {
  const bases = objectAt(run, 'originalUriBaseIds');
  const ids = Object.keys(bases).slice(0, maxBases);
  const prefixes = new Map<unknown, string>(ids.map((id) => [id, prefixOf(objectAt(bases, id), bases)]));
  const toPath = ({ uri, uriBaseId }: JsonObject): string | undefined =>
    typeof uri === 'string'
      ? decoded(`${isAbsolute(uri) ? '' : (prefixes.get(uriBaseId) ?? '')}${uri}`)
      : undefined;
  // Each path is read once: many locations may name one artifact.
  const paths = listAt(run, 'artifacts').map((artifact) => toPath(objectAt(artifact, 'location')));
  return (location) => {
    if (!isObject(location)) return location;
    const uri = toPath(location) ?? elementAt(paths, location['index']);
    return uri === undefined || uri === location['uri'] ? location : { ...location, uri };
  };
}

/** A text over the limit of paths stays as it is, so that it is refused and not cut. */
function decoded(uri: string): string {
  if (uri.length > MAX_PATH || isWebAddress(uri) || !/%[0-9a-f]{2}/i.test(uri)) return uri;
  try {
    return decodeURIComponent(uri);
  } catch (error) {
    if (error instanceof URIError) return uri;
    throw error;
  }
}

/**
 * Returns the prefix of paths with this base: the URIs of the bases that it is relative to, then
 * its own URI (3.14.14). The outermost base may be a folder on another machine, so `/./` marks its
 * end for `location/resolver`. A base on the web is ignored, since it is a page of the repository.
 */
function prefixOf(base: JsonObject, bases: JsonObject): string {
  let prefix = '';
  for (let count = 0; count < maxNesting && prefix.length <= MAX_PATH; count += 1) {
    const { uri, uriBaseId } = base;
    const text = typeof uri === 'string' ? uri.slice(0, MAX_PATH + 1).replace(/[^/]$/, '$&/') : '';
    if (isWebAddress(text)) break;
    if (isAbsolute(text)) return `${text}./${prefix}`;
    prefix = `${text}${prefix}`;
    base = objectAt(bases, String(uriBaseId));
  }
  return prefix;
}

function isAbsolute(uri: string): boolean {
  return /^(?:[a-z][a-z0-9+.-]*:|[\\/])/i.test(uri);
}

function resolve(object: JsonObject, references: References, messages: readonly JsonObject[]): JsonObject {
  const resolved = (value: unknown, depth: number): unknown => {
    if (depth > maxNesting) return value;
    if (Array.isArray(value)) return value.map((part) => resolved(part, depth + 1));
    if (!isObject(value)) return value;
    const members = Object.entries(value).map(([key, part]): [string, unknown] => {
      if (key === 'artifactLocation') return [key, references.toArtifact(part)];
      if (key === 'message') return [key, toMessage(part, messages)];
      if (key === 'taxa') return [key, listAt(value, key).map(references.toTaxon)];
      return [key, resolved(key === 'threadFlows' ? withSteps(part, references.steps) : part, depth + 1)];
    });
    return Object.fromEntries(members);
  };
  return objectAt(resolved(object, 0));
}

/** A step may refer by its index to a step of the run (3.38.2). */
function withSteps(flows: unknown, steps: readonly unknown[]): unknown {
  if (!Array.isArray(flows)) return flows;
  return flows.map((flow: unknown) => {
    const locations = listAt(flow, 'locations').map((step) => {
      return { ...objectAt(elementAt(steps, memberAt(step, 'index'))), ...objectAt(step) };
    });
    return { ...objectAt(flow), locations };
  });
}

/** Resolves the reference and arguments of a message (3.11). */
function toMessage(message: unknown, templates: readonly JsonObject[]): unknown {
  const { id, text: own, arguments: values } = objectAt(message);
  const isReference = typeof id === 'string' && typeof own !== 'string';
  const found = isReference ? templates.find((each) => Object.hasOwn(each, id))?.[id] : undefined;
  if (found === undefined && !Array.isArray(values)) return message;
  const text = textOf(found ?? message);
  if (text === undefined || !Array.isArray(values)) return text ?? message;
  // A literal brace is doubled in a template.
  return replaceSome(text, /\{\{|\}\}|\{(\d{1,4})\}/g, (whole, index) => {
    const value: unknown = index === undefined ? whole.charAt(0) : values[Number(index)];
    return typeof value === 'string' ? value : whole;
  });
}

function textOf(message: unknown): string | undefined {
  return isObject(message) ? messageText(message) : typeof message === 'string' ? message : undefined;
}

/** Works like `text.replace`, until the text is too long. */
function replaceSome(
  text: string,
  pattern: RegExp,
  replacement: (whole: string, ...groups: (string | undefined)[]) => string,
): string {
  let { length } = text;
  return text.replace(pattern, (whole: string, ...groups: (string | undefined)[]) => {
    if (length > MAX_TEXT) return whole;
    const present = replacement(whole, ...groups);
    length += present.length;
    return present;
  });
}

/** Links to the IDs of locations become links to `path:line` (3.11.6). */
function withLocationsOfLinks(result: JsonObject): unknown {
  const { message } = result;
  const text = textOf(message)?.slice(0, MAX_TEXT + 1);
  if (text?.includes('](') !== true) return message;
  const steps = listAt(result, 'codeFlows')
    .flatMap((flow) => listAt(flow, 'threadFlows'))
    .flatMap((thread) => listAt(thread, 'locations'))
    .map((step) => objectAt(step, 'location'));
  const all = [...steps, ...listAt(result, 'relatedLocations'), ...listAt(result, 'locations')];
  const addresses = new Map(all.filter(isObject).map((location) => [location['id'], locationUri(location)]));
  return replaceSome(text, /\[((?:[^\\[\]]|\\[^])*)\]\((\d{1,9})\)/g, (whole, label = '', id) => {
    const address = addresses.get(Number(id));
    if (address === undefined || /[<>\r\n]/.test(address)) return whole;
    return `[${label}](${/[\s()]/.test(address) ? `<${address}>` : address})`;
  });
}

/** Describes the proposed fixes (3.55), with code. */
function fixesOf(result: JsonObject): string {
  const parts = listAt(result, 'fixes').flatMap((fix) => [
    () => toFreeText(objectAt(fix, 'description')),
    ...listAt(fix, 'artifactChanges').flatMap((change) =>
      listAt(change, 'replacements').map((replacement) => () => changeText(change, replacement)),
    ),
  ]);
  return gather(parts, (toText) => toText()).join('\n\n');
}

function changeText(change: unknown, replacement: unknown): string {
  const artifactLocation = memberAt(change, 'artifactLocation');
  const region = memberAt(replacement, 'deletedRegion');
  const address = locationUri({ physicalLocation: { artifactLocation, region } });
  const { text = '' } = objectAt(replacement, 'insertedContent');
  const code = typeof text === 'string' && text !== '' ? codeBlock(clip(text, MAX_TEXT).split('\n')) : '';
  return `${address === undefined ? '' : `${codeSpan(address)}:\n`}${code}`;
}

function locationUri(location: unknown): string | undefined {
  const uri = uriOf(location);
  if (uri === undefined || uri.length > maxAddress) return undefined;
  const { startLine } = objectAt(location, 'physicalLocation', 'region');
  return typeof startLine === 'number' ? `${uri}:${String(startLine)}` : uri;
}

function uriOf(location: unknown): string | undefined {
  const { uri } = objectAt(location, 'physicalLocation', 'artifactLocation');
  return typeof uri === 'string' ? uri : undefined;
}

function objectAt(value: unknown, ...keys: readonly string[]): JsonObject {
  const inside = keys.reduce(memberAt, value);
  return isObject(inside) ? inside : {};
}

function listAt(value: unknown, key: string): readonly unknown[] {
  const member = memberAt(value, key);
  return Array.isArray(member) ? member : [];
}

function memberAt(value: unknown, key: string): unknown {
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

function elementAt<T>(list: readonly T[], index: unknown): T | undefined {
  return typeof index === 'number' ? list[index] : undefined;
}
