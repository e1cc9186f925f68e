import { hash } from 'node:crypto';
import { AssessmentError } from '../../errors.ts';
import { clip, visibleLine } from '../../visibleText.ts';
import { type Block, type Finding, type Place, severityRank } from '../finding.ts';
import * as aliases from './aliases.ts';
import { findList } from './findList.ts';
import { fieldsOfItem, type Item } from './item.ts';
import { type Fields, firstHit, hitsAt, isObject, type KeyPath, readJson, valueAt } from '../../json.ts';
import { type ListStyle, MAX_TEXT, toFreeText } from './freeText.ts';
import { readConfidence, readCvss, readCwes, readRating } from './rating.ts';
import { readPlaces } from './readPlaces.ts';
import { toolFailureOf } from './sarifLog.ts';

export const maxFindingsBytes = 64 * 1024 * 1024;
const maxFindings = 10_000;
/** Characters of all findings. A file may repeat one text in each of many places. */
const maxLength = 256 * 1024 * 1024;
/** Characters that stand for what one part of a finding takes besides its texts. */
const overheadLength = 48;

const maxTitleLength = 300;
const maxIdLength = 256;
const maxRawLength = 1_000_000;
/** Longest feature name and address (docs/api.md, section 2.7). */
const maxLiveLength = 5_000;

/** The `subject` of `malformedFindings` for a SARIF log that says only that its tool failed; the `detail` is what the tool says. */
export const toolFailed = 'toolFailed';

/** A findings file as read. */
export interface ParsedFindings {
  readonly findings: readonly Finding[];
  readonly cut: Cut | undefined;
}

/** Of more findings than are read (`total`), the `shown` worst were read, in the order of the file. */
export interface Cut {
  readonly shown: number;
  readonly total: number;
}

export interface ParseOptions {
  /** Makes the ids of findings without one differ between runs. */
  readonly runId: string;
}

/** Reads the text of a findings file at once. Throws what `listFindings` and its findings throw. */
export function parseFindings(text: string, options: ParseOptions): ParsedFindings {
  const { findings, cut } = listFindings(text, options);
  return { findings: [...findings], cut };
}

/**
 * Lists the findings in the text of a findings file of any plausible shape. Every item of its list becomes a finding, which is read when the list is
 * iterated. Throws `malformedFindings` when there is no list, and `findingsTooLarge`, also during iteration. Runs in a worker: see `readFindings`.
 */
export function listFindings(
  text: string,
  { runId }: ParseOptions,
): { readonly findings: Iterable<Finding>; readonly cut: Cut | undefined } {
  const root = readJson(text);
  const notifications = toolFailureOf(root);
  if (notifications !== undefined) throw toolFailure(notifications);
  const items = findList(root);
  if (items === undefined) throw new AssessmentError('malformedFindings');
  const total = items.length;
  return total > maxFindings
    ? { findings: readItems(worstOf(items, maxFindings), runId), cut: { shown: maxFindings, total } }
    : { findings: readItems(items.entries(), runId), cut: undefined };
}

function toolFailure(notifications: readonly unknown[]): AssessmentError {
  const messages = notifications.map((notification) => toFreeText(valueAt(notification, ['message'])));
  const detail = messages.find((message) => message !== '');
  return new AssessmentError('malformedFindings', {
    subject: toolFailed,
    detail: detail && toTitle(detail),
  });
}

/** The worst items with their positions, in the order of the file. */
function worstOf(items: readonly Item[], count: number): readonly (readonly [number, Item])[] {
  const ranked = items.map((item, index) => ({
    entry: [index, item] as const,
    rank: severityRank(readRating(fieldsOfItem(item)).severity),
  }));
  // Sorting keeps the order of equals.
  const worstFirst = ranked.sort((one, other) => one.rank - other.rank).slice(0, count);
  return worstFirst.map(({ entry }) => entry).sort(([one], [other]) => one - other);
}

function* readItems(items: Iterable<readonly [number, Item]>, runId: string): Generator<Finding> {
  const makeId = createIds(runId);
  let length = 0;
  for (const [index, item] of items) {
    const finding = readFinding(item, index, makeId);
    length += lengthOf(finding);
    if (length > maxLength) throw new AssessmentError('findingsTooLarge');
    yield finding;
  }
}

/** In characters, with `overheadLength` for each part. */
export function lengthOf({ title, description, recommendation, blocks, places, raw = '' }: Finding): number {
  let length = title.length + description.length + recommendation.length + raw.length + overheadLength;
  for (const { text } of blocks) length += text.length + overheadLength;
  for (const { path, snippet = '', label = '' } of places)
    length += path.length + snippet.length + label.length + overheadLength;
  return length;
}

/** Makes the ID of a finding that has none, from its title and its main place. */
type MakeId = (title: string, place: Place | undefined) => string;

/** IDs are a hash of run, title, path and start line, and of the ordinal among findings that are equal in these. */
function createIds(runId: string): MakeId {
  const ordinals = new Map<string, number>();
  return (title, place) => {
    const identity = JSON.stringify([runId, title, place?.path, place?.startLine]);
    const ordinal = ordinals.get(identity) ?? 0;
    ordinals.set(identity, ordinal + 1);
    return hash('sha256', `${identity}${String(ordinal)}`, 'hex').slice(0, 12);
  };
}

/** Every item gives a finding, whatever it is. */
function readFinding(item: Item, index: number, makeId: MakeId): Finding {
  const fields = fieldsOfItem(item);
  const name = textsAt(fields, aliases.TITLE)[0] ?? (typeof item.raw === 'string' ? item.raw : undefined);
  const [description = '', ...details] = textsAt(fields, aliases.DESCRIPTION);
  const [recommendation = '', ...recommendations] = textsAt(fields, aliases.RECOMMENDATION);
  const summaries = textsAt(fields, aliases.SUMMARY).filter((text) => text !== name);
  const blocks: readonly Block[] = [
    ...toBlocks('details', [...details, ...summaries]),
    ...aliases.BLOCKS.flatMap(({ kind, paths }) =>
      toBlocks(kind, textsAt(fields, paths, kind === 'reproductionSteps' ? 'numbers' : 'bullets')),
    ),
    ...toBlocks('recommendation', recommendations),
  ];
  const live = readLive(fields);
  const { places: reportedPlaces, clipped } = readPlaces(fields);
  // Beside a URL, a path without a line is part of that URL, even if a file here has the same name.
  const places =
    live.url === undefined
      ? reportedPlaces
      : reportedPlaces.filter(({ startLine }) => startLine !== undefined);
  const isClipped =
    clipped ||
    (name ?? '').length > maxTitleLength ||
    [description, recommendation, ...blocks.map(({ text }) => text)].some(({ length }) => length > MAX_TEXT);
  const title = toTitle(name ?? firstLine(description));
  const { severity, severityText } = readRating(fields);
  const reportedId = firstHit(fields, aliases.ID, toId);
  return {
    index,
    id: reportedId ?? makeId(title, places[0]),
    isGeneratedId: reportedId === undefined,
    title,
    rule: firstHit(fields, aliases.RULE, toId),
    severity,
    severityText,
    confidence: readConfidence(fields),
    description: clip(description, MAX_TEXT),
    blocks: blocks.map(({ kind, text }) => ({ kind, text: clip(text, MAX_TEXT) })),
    recommendation: clip(recommendation, MAX_TEXT),
    places,
    cwes: readCwes(fields),
    cvss: readCvss(fields),
    ...live,
    shortfall: !isObject(item.raw) ? 'unreadable' : isClipped ? 'clipped' : undefined,
    raw: toRaw(item.raw),
  };
}

/** The different texts under all aliases, in their order. They are not clipped yet. */
function textsAt(fields: Fields, paths: readonly KeyPath[], style?: ListStyle): readonly string[] {
  const texts = new Set<string>();
  for (const { value } of hitsAt(fields, paths)) texts.add(toFreeText(value, style));
  texts.delete('');
  return [...texts];
}

function toBlocks(kind: Block['kind'], texts: readonly string[]): readonly Block[] {
  return texts.map((text) => ({ kind, text }));
}

/** Undefined for an item that is too long, or nested too deeply to be written. */
function toRaw(raw: unknown): string | undefined {
  try {
    const text = JSON.stringify(raw);
    return text.length > maxRawLength ? undefined : text;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}

function toTitle(text: string): string {
  const line = visibleLine(text.slice(0, maxTitleLength * 2));
  return line.length > maxTitleLength ? `${clip(line, maxTitleLength - 1)}…` : line;
}

function toId(value: unknown): string | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : undefined;
  return typeof value === 'string' ? visibleLine(value.slice(0, maxIdLength)) || undefined : undefined;
}

/** Where a finding of a live application was found; empty for a finding about code. */
function readLive(fields: Fields): Pick<Finding, 'method' | 'url' | 'feature' | 'perspective'> {
  const live = {
    method: firstHit(fields, aliases.METHOD, toMethod),
    url: firstHit(fields, aliases.URL_TEXT, toUrlText),
    feature: firstHit(fields, aliases.FEATURE, toLine),
    perspective: firstHit(fields, aliases.PERSPECTIVE, toPerspective),
  };
  // A single one may be anything: `url` a reference, `feature` a part of the code.
  return Object.values(live).filter((value) => value !== undefined).length > 1 ? live : {};
}

/** Only in upper case: `get` is more often the name of a function. */
function toMethod(value: unknown): string | undefined {
  return typeof value === 'string' && /^[A-Z]{3,10}$/.test(value) ? value : undefined;
}

/** A web address, or a path that starts with `/`. */
function toUrlText(value: unknown): string | undefined {
  return typeof value === 'string' && /^(?:https?:\/)?\/\S*$/i.test(value) ? toLine(value) : undefined;
}

function toPerspective(value: unknown): string | undefined {
  return typeof value === 'string' && /^\p{L}[\p{L}\p{N} _-]{0,63}$/u.test(value) ? value : undefined;
}

function toLine(value: unknown): string | undefined {
  const isText = typeof value === 'string' && value.trim() !== '' && value.length <= maxLiveLength;
  return isText ? visibleLine(value) : undefined;
}
