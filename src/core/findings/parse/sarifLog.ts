import { AssessmentError } from '../../errors.ts';
import { isObject, type JsonObject } from '../../json.ts';
import { clip, visibleLine } from '../../visibleText.ts';
import { codeBlock, codeSpan } from '../view/codeMarkdown.ts';
import { gather, MAX_TEXT, toFreeText } from './freeText.ts';
import type { Item } from './item.ts';
import { isWebAddress } from './pathText.ts';
import {
  listAt,
  objectAt,
  referencesOf,
  type SarifReferences,
  textOf,
  toMessage,
} from './sarifReferences.ts';

/** The `subject` of `malformedFindings` for a SARIF log that says why it has no results. The `detail` of `toolFailed` is what the tool says. */
const SARIF_FAULTS = ['toolFailed', 'noResults', 'oldSarif'] as const;

export type SarifFault = (typeof SARIF_FAULTS)[number];

export function isSarifFault(subject: string | undefined): subject is SarifFault {
  return SARIF_FAULTS.some((fault) => fault === subject);
}

const maxDetail = 300;
const maxJustification = 10_000;

/**
 * The results of all runs of a SARIF log, or of an array of logs, with what they refer to; undefined for any other value. Throws `malformedFindings` with
 * a `SarifFault`. A run whose results are null or absent did not look; an empty list means that it did (3.14.23).
 */
export function itemsOfSarif(root: unknown): readonly Item[] | undefined {
  const all: readonly unknown[] = Array.isArray(root) ? root : [root];
  const logs = all.filter(isObject).filter((log) => Array.isArray(log['runs']));
  if (logs.length === 0) return undefined;
  if (logs.some(({ version }) => typeof version === 'string' && version.startsWith('1.')))
    throw fault('oldSarif');
  const runs = logs.flatMap((log) => [...listAt(log, 'runs'), ...listAt(log, 'inlineExternalProperties')]);
  const withResults = runs.filter((run) => isObject(run) && Array.isArray(run['results']));
  const failure = failureOf([...logs, ...runs], withResults);
  if (failure !== undefined) throw fault('toolFailed', failure || undefined);
  if (withResults.length === 0 && runs.length > 0) {
    const isLog = runs.some(
      (run) => isObject(run) && (Object.hasOwn(run, 'tool') || Object.hasOwn(run, 'results')),
    );
    if (!isLog) return undefined;
    throw fault('noResults');
  }
  return withResults.flatMap((run) => {
    const references = referencesOf(run);
    const inCodePoints = (run as JsonObject)['columnKind'] === 'unicodeCodePoints' || undefined;
    return (
      listAt(run, 'results')
        // Not what only an earlier run had (3.27.24).
        .filter((result) => !isObject(result) || result['baselineState'] !== 'absent')
        .map((result) =>
          isObject(result) ? { ...toItem(result, references), inCodePoints } : { raw: result },
        )
    );
  });
}

function fault(subject: SarifFault, detail?: string): AssessmentError {
  return new AssessmentError('malformedFindings', { subject, detail });
}

/** What the tool says about its failure, or empty; undefined if it did not fail. With an empty list of results, only an error is a failure. */
function failureOf(parts: readonly unknown[], withResults: readonly unknown[]): string | undefined {
  if (withResults.some((run) => listAt(run, 'results').length > 0)) return undefined;
  const invocations = parts.flatMap((part) => listAt(part, 'invocations'));
  const notifications = invocations.flatMap((invocation) => [
    ...listAt(invocation, 'toolExecutionNotifications'),
    ...listAt(invocation, 'toolConfigurationNotifications'),
    ...startFailureOf(invocation),
  ]);
  const hasFailed = invocations.some(
    (invocation) => isObject(invocation) && invocation['executionSuccessful'] === false,
  );
  const hasError = notifications.some((each) => isObject(each) && each['level'] === 'error');
  const isSure = hasError || (withResults.length === 0 && (hasFailed || notifications.length > 0));
  if (!isSure) return undefined;
  const texts = notifications.map((each) => toFreeText(objectAt(each, 'message')));
  return clip(visibleLine(texts.find((each) => each !== '')?.slice(0, 2 * maxDetail) ?? ''), maxDetail);
}

function startFailureOf(invocation: unknown): readonly JsonObject[] {
  const text = isObject(invocation) ? invocation['processStartFailureMessage'] : undefined;
  return typeof text === 'string' ? [{ level: 'error', message: { text } }] : [];
}

/** A result that this extension exported holds the whole finding, without the escapes of SARIF. */
function toItem(result: JsonObject, references: SarifReferences): Item {
  const suppression = suppressionOf(result);
  const exported = objectAt(objectAt(objectAt(result, 'properties'), 'whitebox'), 'finding');
  if (Object.keys(exported).length > 0) return { raw: exported, suppression };
  const { rule, messages } = references.ruleOf(result);
  const places = Object.fromEntries(
    placeKeys.flatMap((key) =>
      key in result ? [[key, resolvedIn(result[key], references.toArtifact, messages)]] : [],
    ),
  );
  const resolved: JsonObject = {
    ...result,
    ...places,
    message: withPlaces(toMessage(result['message'], messages), places),
    ...webRequestOf(result, places),
    recommendation: fixesOf(result, references.toArtifact),
    // These are no fields to show: they are resolved.
    ...{ rule: undefined, ruleIndex: undefined, suppressions: undefined, fixes: undefined },
    // A result that is not a failure has no level unless it says so, whatever its rule says (3.27.10).
    ...((result['kind'] ?? 'fail') !== 'fail' && result['level'] === undefined && { severity: 'none' }),
  };
  return { raw: result, resolved, rule, suppression };
}

/** What a result proposes as its fixes (3.55), with the code. */
function fixesOf(result: JsonObject, toArtifact: SarifReferences['toArtifact']): string {
  const parts = listAt(result, 'fixes').flatMap((fix) => [
    () => toFreeText(objectAt(fix, 'description')),
    ...listAt(fix, 'artifactChanges').flatMap((change) =>
      listAt(change, 'replacements').map(
        (replacement) => () => replacementText(change, replacement, toArtifact),
      ),
    ),
  ]);
  return gather(parts, (toText) => toText()).join('\n\n');
}

function replacementText(
  change: unknown,
  replacement: unknown,
  toArtifact: SarifReferences['toArtifact'],
): string {
  const artifactLocation = toArtifact(objectAt(change, 'artifactLocation'));
  const region = objectAt(replacement, 'deletedRegion');
  const address = addressOf({ physicalLocation: { artifactLocation, region } });
  const { text } = objectAt(replacement, 'insertedContent');
  const code = typeof text === 'string' && text !== '' ? codeBlock(clip(text, MAX_TEXT).split('\n')) : '';
  return `${address === undefined ? '' : `${codeSpan(address)}:\n`}${code}`;
}

/** Undefined if the result counts: also while any of the decisions about it is under review, or was rejected (3.35.3). */
function suppressionOf(result: JsonObject): string | undefined {
  const suppressions = listAt(result, 'suppressions');
  const isSuppressed = suppressions.every(
    (each) => isObject(each) && (each['status'] ?? 'accepted') === 'accepted',
  );
  if (!isSuppressed || suppressions.length === 0) return undefined;
  const reasons = suppressions.map((each) => toFreeText(isObject(each) ? each['justification'] : undefined));
  return clip([...new Set(reasons)].filter((each) => each !== '').join('\n'), maxJustification);
}

const placeKeys = ['locations', 'relatedLocations', 'codeFlows'];
const innerKeys = ['physicalLocation', 'location', 'locations', 'threadFlows'];
const maxDepth = 8;

/** Locations with their artifacts and messages. */
function resolvedIn(
  value: unknown,
  toArtifact: SarifReferences['toArtifact'],
  messages: readonly JsonObject[],
  depth = 0,
): unknown {
  if (depth > maxDepth) return value;
  const inner = (part: unknown): unknown => resolvedIn(part, toArtifact, messages, depth + 1);
  if (Array.isArray(value)) return value.map(inner);
  if (!isObject(value)) return value;
  return {
    ...value,
    ...('artifactLocation' in value && { artifactLocation: toArtifact(value['artifactLocation']) }),
    ...('message' in value && { message: toMessage(value['message'], messages) }),
    ...Object.fromEntries(innerKeys.flatMap((key) => (key in value ? [[key, inner(value[key])]] : []))),
  };
}

const linkToPlace = /\[((?:[^\\[\]]|\\[^])*)\]\((\d{1,9})\)/g;

/** A link to the ID of a location leads to its `path:line` (3.11.6). A text that grows too long keeps its other links. */
function withPlaces(message: unknown, places: JsonObject): unknown {
  const text = textOf(message)?.slice(0, MAX_TEXT + 1);
  if (text?.includes('](') !== true) return message;
  const byId = new Map(locationsIn(places).map((location) => [location['id'], location]));
  let { length } = text;
  return text.replace(linkToPlace, (whole, label: string, id: string) => {
    const address = length > MAX_TEXT ? undefined : addressOf(byId.get(Number(id)));
    if (address === undefined || /[<>\r\n]/.test(address)) return whole;
    length += address.length;
    return `[${label}](${/[\s()]/.test(address) ? `<${address}>` : address})`;
  });
}

function locationsIn(places: JsonObject): readonly JsonObject[] {
  const steps = listAt(places, 'codeFlows')
    .flatMap((flow) => listAt(flow, 'threadFlows'))
    .flatMap((thread) => listAt(thread, 'locations'))
    .map((step) => objectAt(step, 'location'));
  return [...steps, ...listAt(places, 'relatedLocations'), ...listAt(places, 'locations')].filter(isObject);
}

/** `path:line` of a location; without a line, its path alone. */
function addressOf(location: unknown): string | undefined {
  const uri = uriOf(location);
  const { startLine } = objectAt(objectAt(location, 'physicalLocation'), 'region');
  return uri !== undefined && typeof startLine === 'number' ? `${uri}:${String(startLine)}` : uri;
}

function uriOf(location: unknown): string | undefined {
  const { uri } = objectAt(objectAt(location, 'physicalLocation'), 'artifactLocation');
  return typeof uri === 'string' ? uri : undefined;
}

/** An artifact on the web is a part of a live application, not a file. */
function webRequestOf(result: JsonObject, places: JsonObject): JsonObject {
  const target = uriOf(listAt(places, 'locations')[0]);
  const isOnWeb = target !== undefined && isWebAddress(target) && result['webRequest'] === undefined;
  return isOnWeb ? { webRequest: { target } } : {};
}
