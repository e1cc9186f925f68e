import { isObject, type JsonObject } from '../../json.ts';
import { MAX_PATH } from '../finding.ts';
import { MAX_TEXT } from './freeText.ts';
import { isWebAddress } from './pathText.ts';

/** The objects of a SARIF run, by the ways in which its results refer to them. Sections are those of SARIF 2.1.0. */
export interface SarifReferences {
  readonly ruleOf: (result: JsonObject) => SarifRule;
  /** An artifact's location with its path below the repository. */
  readonly toArtifact: (location: unknown) => unknown;
}

export interface SarifRule {
  readonly rule: JsonObject;
  /** By ID, those of the rule first. */
  readonly messages: readonly JsonObject[];
}

const maxComponents = 20;
const maxNestedBases = 20;
const maxBases = 100;
/** What is longer is cut before it is joined: it is no path. */
const maxUri = MAX_PATH + 1;

/** A member of an object from outside; `{}` if it is no object. */
export function objectAt(value: unknown, key: string): JsonObject {
  const member = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  return isObject(member) ? member : {};
}

export function listAt(value: unknown, key: string): readonly unknown[] {
  const member = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  return Array.isArray(member) ? member : [];
}

export function referencesOf(run: unknown): SarifReferences {
  return { ruleOf: createRuleFinder(run), toArtifact: createArtifactFinder(run) };
}

/** Finds the rule of a result by index in its tool component, else by the longest known part of its ID, else by GUID (3.27.5 to 3.27.7, 3.52). */
function createRuleFinder(run: unknown): SarifReferences['ruleOf'] {
  const tool = objectAt(run, 'tool');
  const components = [objectAt(tool, 'driver'), ...listAt(tool, 'extensions')].map((component) => ({
    component: objectOf(component),
    rules: listAt(component, 'rules').map((rule) =>
      toRule(rule, objectAt(component, 'globalMessageStrings')),
    ),
  }));
  const byId = firstBy(
    components.flatMap(({ rules }) => rules),
    ({ rule }) => [rule['id'], rule['guid']],
  );
  const byName = firstBy(components, ({ component }) => [component['guid'], component['name']]);
  const unknownRule = toRule({}, objectAt(objectAt(tool, 'driver'), 'globalMessageStrings'));

  return (result) => {
    const reference = objectAt(result, 'rule');
    const id = result['ruleId'] ?? reference['id'];
    const index = result['ruleIndex'] ?? reference['index'];
    const { index: at, guid, name } = objectAt(reference, 'toolComponent');
    const component =
      typeof at === 'number' ? components[at + 1] : (byName.get(guid) ?? byName.get(name) ?? components[0]);
    const indexed = typeof index === 'number' ? component?.rules[index] : undefined;
    const ids = typeof id === 'string' ? withParents(id) : [];
    const isIndexed = indexed !== undefined && (ids.length === 0 || ids.includes(String(indexed.rule['id'])));
    const known = isIndexed ? indexed : byId.get(ids.find((each) => byId.has(each)) ?? reference['guid']);
    return known ?? unknownRule;
  };
}

/** Of several with one key, the first. */
function firstBy<T>(all: readonly T[], keysOf: (each: T) => readonly unknown[]): ReadonlyMap<unknown, T> {
  const byKey = new Map<unknown, T>();
  for (const each of all)
    for (const key of keysOf(each)) if (key !== undefined && !byKey.has(key)) byKey.set(key, each);
  return byKey;
}

/** `a/b/c`, `a/b`, `a`. */
function withParents(id: string): readonly string[] {
  const ids = [id];
  for (
    let end = id.lastIndexOf('/');
    end > 0 && ids.length < maxComponents;
    end = id.lastIndexOf('/', end - 1)
  )
    ids.push(id.slice(0, end));
  return ids;
}

/** A rule without a level means `warning` (3.50.3). */
function toRule(rule: unknown, globalMessages: JsonObject): SarifRule {
  const defaultConfiguration = { level: 'warning', ...objectAt(rule, 'defaultConfiguration') };
  return {
    rule: { ...objectOf(rule), defaultConfiguration },
    messages: [objectAt(rule, 'messageStrings'), globalMessages],
  };
}

function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** Resolves `index` and `uriBaseId` (3.4). */
function createArtifactFinder(run: unknown): SarifReferences['toArtifact'] {
  const artifacts = listAt(run, 'artifacts');
  const prefixOf = createPrefixFinder(objectAt(run, 'originalUriBaseIds'));
  return (location) => {
    if (!isObject(location)) return location;
    const { index } = location;
    const isNamed = typeof location['uri'] === 'string';
    const artifact = isNamed || typeof index !== 'number' ? location : objectAt(artifacts[index], 'location');
    const { uri, uriBaseId } = artifact;
    if (typeof uri !== 'string') return location;
    const whole = decoded(`${isAbsolute(uri) ? '' : prefixOf(uriBaseId)}${uri.slice(0, maxUri)}`);
    return whole === location['uri'] ? location : { ...location, uri: whole };
  };
}

/** The path of a URI; a web address as it is. */
function decoded(uri: string): string {
  if (isWebAddress(uri) || !/%[0-9a-f]{2}/i.test(uri)) return uri;
  try {
    return decodeURIComponent(uri);
  } catch (error) {
    if (error instanceof URIError) return uri;
    throw error;
  }
}

/**
 * What stands before a path with a base: the part below the outermost base around it, which is the repository. A base that is not in another one may be
 * any folder of the repository on another machine: it is kept whole, and its end tells.
 */
function createPrefixFinder(bases: JsonObject): (id: unknown) => string {
  const wholes = new Map(
    Object.keys(bases)
      .slice(0, maxBases)
      .map((id) => [id, wholeBase(id, bases)]),
  );
  const all = [...wholes.values()].filter((whole) => isAbsolute(whole));
  const roots = all
    .filter((root) => !/^(?:file:)?\/*(?:[a-z]:\/*)?$/i.test(root))
    .filter((root) => all.some((whole) => whole !== root && whole.startsWith(root)))
    .toSorted((one, other) => one.length - other.length);
  return (id) => {
    const whole = (typeof id === 'string' ? wholes.get(id) : undefined) ?? '';
    if (isWebAddress(whole)) return whole;
    return whole.slice(roots.find((root) => whole.startsWith(root))?.length ?? 0);
  };
}

/** At most a little longer than any path. */
function wholeBase(id: string, bases: JsonObject): string {
  let whole = '';
  let base = objectAt(bases, id);
  for (let count = 0; count < maxNestedBases && whole.length < maxUri; count += 1) {
    const { uri, uriBaseId } = base;
    if (typeof uri === 'string' && uri !== '')
      whole = `${uri.slice(0, maxUri)}${uri.endsWith('/') ? '' : '/'}${whole}`;
    if (typeof uriBaseId !== 'string' || isAbsolute(whole)) break;
    base = objectAt(bases, uriBaseId);
  }
  return whole;
}

function isAbsolute(uri: string): boolean {
  return /^(?:[a-z][a-z0-9+.-]*:|[\\/])/i.test(uri);
}

/** The text of a message (3.11) that refers to one, or has arguments; any other message as it is. */
export function toMessage(message: unknown, byId: readonly JsonObject[]): unknown {
  if (!isObject(message)) return message;
  const { id, arguments: values } = message;
  const isReference = typeof id === 'string' && typeof message['text'] !== 'string';
  const found = isReference ? byId.find((messages) => Object.hasOwn(messages, id)) : undefined;
  if (found === undefined && !Array.isArray(values)) return message;
  const text = textOf(found === undefined ? message : objectAt(found, String(id)));
  if (text === undefined) return message;
  return Array.isArray(values) ? filled(text, values) : text;
}

/** Its Markdown, if it has any. */
export function textOf(message: unknown): string | undefined {
  const { markdown, text } = isObject(message) ? message : { markdown: undefined, text: message };
  return [markdown, text].find((each) => typeof each === 'string');
}

/** Braces are doubled in a template. */
function filled(template: string, values: readonly unknown[]): string {
  let { length } = template;
  return template.replace(/\{\{|\}\}|\{(\d{1,4})\}/g, (whole, index: string | undefined) => {
    if (index === undefined) return whole.charAt(0);
    const value = values[Number(index)];
    if (typeof value !== 'string' || length > MAX_TEXT) return whole;
    length += value.length;
    return value;
  });
}
