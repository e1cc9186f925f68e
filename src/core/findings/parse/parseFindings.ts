import { AssessmentError } from '../../errors.ts';
import { clip, visibleLine } from '../../visibleText.ts';
import { type Block, type Place, type ReportedFinding, severityRank, summaryOf } from '../finding.ts';
import * as aliases from './aliases.ts';
import { findList } from './findList.ts';
import { attempt, fieldsOfItem, type Item, othersOf, readLive } from './item.ts';
import { type Fields, firstHit, hitsAt, isObject, type KeyPath, readJson } from '../../json.ts';
import { MAX_TEXT, type TextStyle, toFreeText } from './freeText.ts';
import { readConfidence, readCvss, readCwes, readRating } from './rating.ts';
import { type Places, readPlaces } from './readPlaces.ts';

/*
 * Reads a findings file, in a worker. `findList` finds the items, by what they look like; `sarif` finds those of SARIF, with what they refer to resolved. An
 * `item` has what the groups around it say, and remembers what was used of it. `aliases` is the table of names; `rating`, `readPlaces`, and `freeText` read
 * the values under them. What nothing reads is in the block “Other fields”.
 */

export const maxFindingsBytes = 64 * 1024 * 1024;
const maxFindings = 10_000;
/** Characters of all findings. A file may repeat one text in each of many places. */
const maxLength = 256 * 1024 * 1024;
/** Characters that stand for what one part of a finding takes besides its texts. */
const overheadLength = 48;

const maxTitleLength = 300;
const maxIdLength = 256;
const maxRawLength = 1_000_000;

export interface ParsedFindings {
  readonly findings: readonly ReportedFinding[];
  readonly cut: Cut | undefined;
}

/** Of more findings than are read (`total`), the `shown` worst were read, in the order of the file. */
export interface Cut {
  readonly shown: number;
  readonly total: number;
}

/**
 * Reads the text of a findings file of any plausible shape. Every item of its list becomes a finding. Throws `malformedFindings` when there is no list,
 * and `findingsTooLarge`. Runs in a worker: see `readFindings`.
 */
export function parseFindings(text: string): ParsedFindings {
  const items = findList(readJson(withoutFence(text)));
  if (items === undefined) throw new AssessmentError('malformedFindings');
  const total = items.length;
  if (total <= maxFindings) return { findings: readItems(items.entries()), cut: undefined };
  return { findings: readItems(worstOf(items)), cut: { shown: maxFindings, total } };
}

function withoutFence(text: string): string {
  const whole = text.replace(/^\uFEFF/, '').trim();
  if (!whole.startsWith('```') || !whole.endsWith('```')) return text;
  const firstLine = whole.indexOf('\n');
  return firstLine < 0 ? text : whole.slice(firstLine, -3);
}

function worstOf(items: readonly Item[]): readonly (readonly [number, Item])[] {
  const ranks = items.map((item) => severityRank(readRating(fieldsOfItem(item)).severity));
  return [...items.entries()]
    .sort(([one], [other]) => (ranks[one] ?? 0) - (ranks[other] ?? 0))
    .slice(0, maxFindings)
    .sort(([one], [other]) => one - other);
}

function readItems(items: Iterable<readonly [number, Item]>): readonly ReportedFinding[] {
  const findings: ReportedFinding[] = [];
  let length = 0;
  for (const [index, item] of items) {
    const finding = readFinding(item, index);
    length += lengthOf(finding);
    if (length > maxLength) throw new AssessmentError('findingsTooLarge');
    findings.push(finding);
  }
  return findings;
}

/** In characters, with `overheadLength` for each part. */
function lengthOf({ title, places, description, recommendation, blocks, raw = '' }: ReportedFinding): number {
  let length = title.length + description.length + recommendation.length + raw.length + overheadLength;
  for (const { text } of blocks) length += text.length + overheadLength;
  for (const { path, snippet = '', label = '' } of places)
    length += path.length + snippet.length + label.length + overheadLength;
  return length;
}

function readFinding(item: Item, index: number): ReportedFinding {
  const fields = fieldsOfItem(item);
  const name =
    firstHit(fields, aliases.TITLE, (value) => toFreeText(value) || undefined) ??
    (typeof item.raw === 'string' ? item.raw : undefined);
  const { severity, severityText } = readRating(fields);
  const live = attempt(
    fields,
    () => readLive(fields),
    ({ url, feature, perspective }) => (url ?? feature ?? perspective) !== undefined,
  );
  const { places, clipped } = attempt(
    fields,
    () => readPlacesBeside(live.url, fields),
    (found) => found.places.length > 0,
  );
  const [description = '', ...details] = textsAt(fields, aliases.DESCRIPTION);
  const [recommendation = '', ...recommendations] = textsAt(fields, aliases.RECOMMENDATION);
  const summaries = textsAt(fields, aliases.SUMMARY).filter((text) => text !== name);
  const title = toTitle(name ?? description.split('\n', 1)[0] ?? '');
  const id = firstHit(fields, aliases.ID, toId) ?? `#${String(index + 1)}`;
  const rule = firstHit(fields, aliases.RULE, toId);
  const confidence = readConfidence(fields);
  const cwes = readCwes(fields);
  const cvss = readCvss(fields);
  const blocks: readonly Block[] = [
    ...toBlocks('details', [...details, ...summaries]),
    ...aliases.BLOCKS.flatMap(({ kind, paths, style }) => toBlocks(kind, textsAt(fields, paths, style))),
    ...toBlocks('recommendation', recommendations),
  ];
  // The last, since it shows what nothing else has used.
  const others = othersOf(item, fields);
  const allBlocks = others === '' ? blocks : [...blocks, { kind: 'other' as const, text: others }];
  const isClipped =
    clipped ||
    (name ?? '').length > maxTitleLength ||
    [description, recommendation, ...allBlocks.map(({ text }) => text)].some(
      ({ length }) => length > MAX_TEXT,
    );
  return {
    index,
    id,
    title,
    rule,
    severity,
    severityText,
    confidence,
    summary: summaryOf(description),
    description: clip(description, MAX_TEXT),
    blocks: allBlocks.map(({ kind, text }) => ({ kind, text: clip(text, MAX_TEXT) })),
    recommendation: clip(recommendation, MAX_TEXT),
    places: item.inCodePoints === true ? places.map(inCodePoints) : places,
    cwes,
    cvss,
    ...live,
    toolDecision:
      item.suppression === undefined
        ? undefined
        : { state: 'acceptedRisk', note: item.suppression, at: 0, via: 'tool' },
    shortfall: !isObject(item.raw) ? 'unreadable' : isClipped ? 'clipped' : undefined,
    raw: toRaw(item.raw),
  };
}

function inCodePoints(place: Place): Place {
  const isCounted = (place.startColumn ?? place.endColumn ?? place.charOffset) !== undefined;
  return isCounted ? { ...place, inCodePoints: true } : place;
}

/** Beside a URL, a path without a line is part of that URL, even if a file here has the same name. */
function readPlacesBeside(url: string | undefined, fields: Fields): Places {
  const read = readPlaces(fields);
  return url === undefined
    ? read
    : { ...read, places: read.places.filter(({ startLine }) => startLine !== undefined) };
}

/** The different texts under all aliases, in their order. They are not clipped yet. */
function textsAt(fields: Fields, paths: readonly KeyPath[], style?: TextStyle): readonly string[] {
  const texts = new Set<string>();
  for (const { path, value } of hitsAt(fields, paths)) {
    const text = toFreeText(value, style);
    if (text !== '') fields.used?.push(path);
    texts.add(text);
  }
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

function toTitle(text: string): string {
  const line = visibleLine(text.slice(0, maxTitleLength * 2));
  return line.length > maxTitleLength ? `${clip(line, maxTitleLength - 1)}…` : line;
}

function toId(value: unknown): string | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : undefined;
  return typeof value === 'string' ? visibleLine(value.slice(0, maxIdLength)) || undefined : undefined;
}
