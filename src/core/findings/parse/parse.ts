import { hash } from 'node:crypto';
import { AssessmentError } from '../../errors.ts';
import { clip, visibleLine } from '../../visibleText.ts';
import { type Block, type Finding, type Place, severityRank } from '../finding.ts';
import {
  BLOCKS,
  DESCRIPTION,
  FEATURE,
  ID,
  METHOD,
  PERSPECTIVE,
  RECOMMENDATION,
  RULE,
  SUMMARY,
  TITLE,
  URL_TEXT,
} from './aliases.ts';
import { fieldsOfItem, findList, type Item, type Proof } from './findList.ts';
import { type Fields, firstHit, hitsAt, isObject, type KeyPath, readJson, valueAt } from '../../json.ts';
import { type ListStyle, MAX_TEXT, toFreeText } from './freeText.ts';
import { readConfidence, readCvss, readCwes, readRating } from './rating.ts';
import { readPlaces } from './readPlaces.ts';
import { toolFailureOf } from './sarifLog.ts';

/** Largest findings file that is read. */
export const maxFindingsBytes = 64 * 1024 * 1024;
/** Most findings that are read of a file. */
const maxFindings = 10_000;
/** Letters of all findings: what a file says once may be repeated in each of many places. */
const maxLength = 256 * 1024 * 1024;
/** Letters that stand for what a part of a finding takes besides its texts. */
const perPart = 48;

/** The `subject` of `malformedFindings` for a SARIF log that says only that its tool failed; the `detail` is what the tool says. */
export const toolFailed = 'toolFailed';

/** A findings file as read. */
export interface ParsedFindings {
  readonly findings: readonly Finding[];
  readonly cut: Cut | undefined;
}

/** There are more findings than are read, `total`: the worst ones, `shown`, were, in the order of the file. */
export interface Cut {
  readonly shown: number;
  readonly total: number;
}

/** How to read a findings file. */
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
 * Lists the findings in the text of a findings file of any plausible shape: every item of its list becomes a finding, which is read as the list is iterated. Throws
 * `malformedFindings` when there is no list, and `findingsTooLarge`, also from the list, when there is more in it than memory is for. The extension does this in a worker: see `readFindings`.
 */
export function listFindings(
  text: string,
  { runId }: ParseOptions,
): { readonly findings: Iterable<Finding>; readonly cut: Cut | undefined } {
  const root = readJson(text);
  const notifications = toolFailureOf(root);
  if (notifications !== undefined) {
    const [detail] = notifications.flatMap((each) => toFreeText(valueAt(each, ['message'])) || []);
    throw new AssessmentError('malformedFindings', {
      subject: toolFailed,
      detail: detail && toTitle(detail),
    });
  }
  const items = findList(root, isFinding);
  if (items === undefined) throw new AssessmentError('malformedFindings');
  const total = items.length;
  return total > maxFindings
    ? { findings: readItems(worst(items, maxFindings), runId), cut: { shown: maxFindings, total } }
    : { findings: readItems(items.entries(), runId), cut: undefined };
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

/** Letters of a finding, and some for each of its parts. */
export function lengthOf({ title, description, recommendation, blocks, places, raw = '' }: Finding): number {
  let length = title.length + description.length + recommendation.length + raw.length + perPart;
  for (const { text } of blocks) length += text.length + perPart;
  for (const { path, snippet = '', label = '' } of places)
    length += path.length + snippet.length + label.length + perPart;
  return length;
}

/** The worst items with their positions, in the order of the file: a critical finding must not be lost for standing late in it. */
function worst(items: readonly Item[], count: number): readonly (readonly [number, Item])[] {
  const ranked = items.map((item, index) => ({
    entry: [index, item] as const,
    rank: severityRank(readRating(fieldsOfItem(item)).severity),
  }));
  // Sorting keeps the order of equals.
  const worstFirst = ranked.sort((one, other) => one.rank - other.rank).slice(0, count);
  return worstFirst.map(({ entry }) => entry).sort(([one], [other]) => one - other);
}

/** Ids for findings without one: a hash of run, title, path and start line, and of the ordinal among findings that are equal in these. */
function createIds(runId: string): MakeId {
  const ordinals = new Map<string, number>();
  return (title, place) => {
    const identity = JSON.stringify([runId, title, place?.path, place?.startLine]);
    const ordinal = ordinals.get(identity) ?? 0;
    ordinals.set(identity, ordinal + 1);
    return hash('sha256', `${identity}${String(ordinal)}`, 'hex').slice(0, 12);
  };
}

const maxTitleLength = 300;
const maxIdLength = 256;
const maxRawLength = 1_000_000;

/** Makes the id of a finding that has none, from its title and its main place. */
type MakeId = (title: string, place: Place | undefined) => string;

/** Reads one item, the one at `index`; every item gives a finding, whatever it is. */
function readFinding(item: Item, index: number, makeId: MakeId): Finding {
  const fields = fieldsOfItem(item);
  const named = textsAt(fields, TITLE)[0] ?? (typeof item.raw === 'string' ? item.raw : undefined);
  const [description = '', ...details] = textsAt(fields, DESCRIPTION);
  const [recommendation = '', ...recommendations] = textsAt(fields, RECOMMENDATION);
  const summaries = textsAt(fields, SUMMARY).filter((text) => text !== named);
  const blocks: readonly Block[] = [
    ...[...details, ...summaries].map((text) => ({ kind: 'details' as const, text })),
    ...BLOCKS.flatMap(({ kind, paths }) =>
      textsAt(fields, paths, kind === 'reproductionSteps' ? 'numbers' : 'bullets').map((text) => ({
        kind,
        text,
      })),
    ),
    ...recommendations.map((text) => ({ kind: 'recommendation' as const, text })),
  ];
  const live = readLive(fields);
  const { places: reported, clipped } = readPlaces(fields);
  // Beside an address, a path without a line is a part of the address, though a file here may be called the same.
  const places = reported.filter(({ startLine }) => live.url === undefined || startLine !== undefined);
  const isClipped =
    clipped ||
    (named ?? '').length > maxTitleLength ||
    [description, recommendation, ...blocks.map(({ text }) => text)].some(({ length }) => length > MAX_TEXT);
  const title = toTitle(named ?? firstLine(description));
  const { severity, severityText } = readRating(fields);
  const ownId = firstHit(fields, ID, toId);
  return {
    index,
    id: ownId ?? makeId(title, places[0]),
    isGeneratedId: ownId === undefined,
    title,
    rule: firstHit(fields, RULE, toId),
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

/** Whether an item by itself is a finding: it has a name or prose, and the asked proof. */
function isFinding(item: Item, proof: Proof): boolean {
  const fields = fieldsOfItem(item);
  const needsBoth = proof === 'ratedAndPlaced';
  const isRated = readRating(fields).severity !== 'unrated';
  if (needsBoth && !isRated) return false;
  if ((needsBoth || !isRated) && readPlaces(fields).places.length === 0) return false;
  return textsAt(fields, [...TITLE, ...DESCRIPTION]).length > 0;
}

/** An item as JSON; undefined when it is too long, or nested too deeply to be written. */
function toRaw(raw: unknown): string | undefined {
  try {
    const text = JSON.stringify(raw);
    return text.length > maxRawLength ? undefined : text;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** The different texts under all aliases, in their order; one that is longer than `MAX_TEXT` is not cut yet. */
function textsAt(fields: Fields, paths: readonly KeyPath[], style?: ListStyle): readonly string[] {
  const texts = new Set<string>();
  for (const { value } of hitsAt(fields, paths)) texts.add(toFreeText(value, style));
  texts.delete('');
  return [...texts];
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

/** Longest feature name and address (docs/api.md, section 2.7). */
const maxLineLength = 5_000;

/** What a finding of a live application says of the place where it was found; nothing of a finding about code. */
function readLive(fields: Fields): Pick<Finding, 'method' | 'url' | 'feature' | 'perspective'> {
  const live = {
    method: firstHit(fields, METHOD, toMethod),
    url: firstHit(fields, URL_TEXT, toAddress),
    feature: firstHit(fields, FEATURE, toLine),
    perspective: firstHit(fields, PERSPECTIVE, toWord),
  };
  // One alone may be anything: `url` a reference, `feature` a part of the code.
  return Object.values(live).filter((each) => each !== undefined).length > 1 ? live : {};
}

/** Upper case alone: `get` is more often the name of a function. */
function toMethod(value: unknown): string | undefined {
  return typeof value === 'string' && /^[A-Z]{3,10}$/.test(value) ? value : undefined;
}

/** A web address, or a path that starts with `/`. */
function toAddress(value: unknown): string | undefined {
  return typeof value === 'string' && /^(?:https?:\/)?\/\S*$/i.test(value) ? toLine(value) : undefined;
}

function toWord(value: unknown): string | undefined {
  return typeof value === 'string' && /^\p{L}[\p{L}\p{N} _-]{0,63}$/u.test(value) ? value : undefined;
}

function toLine(value: unknown): string | undefined {
  const isText = typeof value === 'string' && value.trim() !== '' && value.length <= maxLineLength;
  return isText ? visibleLine(value) : undefined;
}
