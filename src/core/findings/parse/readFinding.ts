import { clip, visibleLine } from '../../visibleText.ts';
import { type Block, type ReportedFinding, summaryOf } from '../finding.ts';
import * as aliases from './aliases.ts';
import { MAX_TEXT, type TextStyle, toFieldList, toFreeText } from './freeText.ts';
import { readConfidence, readCvss, readCwes, readRating } from './rating.ts';
import { readLocations } from './readLocations.ts';
import {
  type Fields,
  fieldsOf,
  firstHit,
  hitsAt,
  isObject,
  type JsonObject,
  type KeyPath,
  normalKey,
} from '../../json.ts';

/** Further locations are only in the finding's raw JSON. */
const maxLocations = 500;
const maxTitleLength = 300;
const maxIdLength = 256;
/** Limits feature names and URLs (docs/api.md, section 8). */
const maxLiveLength = 5_000;

export interface Item {
  readonly raw: unknown;
  /** This is `raw`, joined with what it refers to elsewhere in the file. */
  readonly resolved?: JsonObject | undefined;
  readonly rule?: JsonObject | undefined;
  /** Columns count code points (SARIF 2.1.0, 3.14.27). */
  readonly inCodePoints?: boolean | undefined;
  /** This is the tool's reason to suppress the result, and may be empty. */
  readonly suppression?: string | undefined;
}

export type ReadFinding = Omit<ReportedFinding, 'index' | 'id' | 'raw'> & { readonly id: string | undefined };

export function hasText(raw: unknown): boolean {
  const fields = fieldsOf(raw);
  return [aliases.TITLE, aliases.DESCRIPTION].some((paths) => hitsAt(fields, paths).length > 0);
}

/** True if the check found no problem, or did not apply (SARIF 2.1.0, 3.27.9). */
export function isPass(raw: unknown): boolean {
  return hitsAt(fieldsOf(raw), aliases.OUTCOME).some(
    ({ value }) => typeof value === 'string' && aliases.PASSES.has(normalKey(value)),
  );
}

export function readFinding(item: Item): ReadFinding {
  const fields = fieldsOf(item.resolved ?? item.raw);
  const used: KeyPath[] = [];
  fields.used = used;
  if (item.rule !== undefined) fields.set('rule', item.rule);
  const name =
    firstHit(fields, aliases.TITLE, (value) => toFreeText(value) || undefined) ??
    (typeof item.raw === 'string' ? item.raw : undefined);
  const named = toTitle(name ?? '');
  // A summary that is the title isn't shown again as a text.
  if (used[0]?.[0] === 'summary' && named === name) fields.delete('summary');
  const { severity, severityText } = readRating(fields);
  const usedFirst = used.length;
  const live = readLive(fields);
  // A field whose value is dropped doesn't count as used, so it is shown under “Other fields”.
  if (live === undefined) used.length = usedFirst;
  const usedBefore = used.length;
  // If the finding has a URL, a path without a line is part of that URL, even if a local file has
  // the same name.
  const locations = readLocations(fields).filter(
    ({ startLine }) => live?.url === undefined || startLine !== undefined,
  );
  if (locations.length === 0) used.length = usedBefore;
  const facts = {
    id: firstHit(fields, aliases.ID, toId),
    rule: firstHit(fields, aliases.RULE, toId),
    severity,
    severityText,
    confidence: readConfidence(fields),
    cwes: readCwes(fields),
    cvss: readCvss(fields),
    ...live,
  };
  const texts = readBlocks(fields, item.resolved ?? item.raw);
  const isClipped =
    locations.length > maxLocations ||
    (name ?? '').length > maxTitleLength ||
    texts.some(({ text }) => text.length > MAX_TEXT);
  const blocks = texts.map(({ kind, text }) => ({ kind, text: clip(text, MAX_TEXT) }));
  const main = blocks.find(({ kind }) => kind === 'details');
  const advice = blocks.find(({ kind }) => kind === 'recommendation');
  const description = main?.text ?? '';
  return {
    ...facts,
    title: named || toTitle(description.split('\n', 1)[0] ?? ''),
    summary: summaryOf(description),
    description,
    blocks: blocks.filter((block) => block !== main && block !== advice),
    recommendation: advice?.text ?? '',
    locations: locations
      .slice(0, maxLocations)
      .map((location) => ({ ...location, inCodePoints: item.inCodePoints })),
    toolDecision:
      item.suppression === undefined
        ? undefined
        : { state: 'acceptedRisk', note: item.suppression, at: 0, via: 'tool' },
    shortfall: !isObject(item.raw) ? 'unreadable' : isClipped ? 'clipped' : undefined,
  };
}

/** The last block has the fields that nothing else has used. */
function readBlocks(fields: Fields, object: unknown): readonly Block[] {
  const texts = aliases.BLOCKS.flatMap(({ kind, paths, style }) =>
    textsAt(fields, paths, style).map((text) => ({ kind, text })),
  );
  const used = new Set(fields.used?.map((path) => path.join('.')));
  const other = toFieldList(unused(object, used));
  return other === '' ? texts : [...texts, { kind: 'other', text: other }];
}

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

function toTitle(text: string): string {
  const line = visibleLine(text.slice(0, maxTitleLength * 2));
  return line.length > maxTitleLength ? `${clip(line, maxTitleLength - 1)}…` : line;
}

function toId(value: unknown): string | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : undefined;
  return typeof value === 'string' ? visibleLine(value.slice(0, maxIdLength)) || undefined : undefined;
}

function unused(
  object: unknown,
  used: ReadonlySet<string>,
  at = '',
  shown = '',
): (readonly [name: string, value: unknown])[] {
  return Object.entries(isObject(object) ? object : {}).flatMap(([key, value]) => {
    const path = at + normalKey(key);
    if (used.has(path)) return [];
    const isPart = isObject(value) && [...used].some((each) => each.startsWith(`${path}.`));
    return isPart ? unused(value, used, `${path}.`, `${shown}${key}.`) : [[shown + key, value] as const];
  });
}

function readLive(
  fields: Fields,
): Pick<ReadFinding, 'method' | 'url' | 'feature' | 'perspective'> | undefined {
  const live = {
    // A method is in upper case: `get` is more often the name of a function.
    method: firstHit(fields, aliases.METHOD, lineLike(/^[A-Z]{3,10}$/)),
    url: firstHit(fields, aliases.URL_TEXT, lineLike(/^(?:https?:\/)?\/\S*$/i)),
    feature: firstHit(fields, aliases.FEATURE, lineLike(/\S/)),
    perspective: firstHit(fields, aliases.PERSPECTIVE, lineLike(/^\p{L}[\p{L}\p{N} _-]{0,63}$/u)),
  };
  // One field alone isn't enough: `url` may be a reference, and `feature` a part of the code. But
  // the URL of a `webRequest` is enough.
  const isSure = fields.has('webrequest') && live.url !== undefined;
  return isSure || Object.values(live).filter((value) => value !== undefined).length > 1 ? live : undefined;
}

function lineLike(pattern: RegExp): (value: unknown) => string | undefined {
  return (value) =>
    typeof value === 'string' && value.length <= maxLiveLength && pattern.test(value)
      ? visibleLine(value)
      : undefined;
}
