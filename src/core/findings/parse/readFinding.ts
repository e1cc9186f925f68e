import { BLOCKS, DESCRIPTION, ID, RECOMMENDATION, SUMMARY, TITLE } from './aliases.ts';
import type { Block, BlockKind, Finding, Place } from '../finding.ts';
import { type Item, fieldsOf } from './findList.ts';
import { type ListStyle, MAX_TEXT, clip, toProse } from './prose.ts';
import { readConfidence, readCvss, readCwes, readRating } from './rating.ts';
import { readPlaces } from './readPlaces.ts';
import { type JsonObject, type KeyPath, type Look, firstHit } from './readValue.ts';
import { visibleLine } from '../../visibleText.ts';

const maxTitleLength = 300;
const maxIdLength = 256;
const maxRawLength = 1_000_000;
const nothing: readonly string[] = [];

/** Makes the id of a finding that has none, from its title and its main place. */
export type MakeId = (title: string, place: Place | undefined) => string;

const blockPaths = BLOCKS.flatMap(({ paths }) => paths);

/** Reads one item, the one at `index`; every item gives a finding, whatever it is. */
export function readFinding(look: Look, item: Item, index: number, makeId: MakeId): Finding {
  const fields = fieldsOf(look, item);
  if (fields === undefined) return unreadable(item.raw, index, makeId);
  const texts = new Texts(look, fields);

  const titled = texts.first(TITLE);
  const descriptions = texts.all(DESCRIPTION);
  const recommendations = texts.all(RECOMMENDATION);
  const { places, clipped } = readPlaces(look, fields);
  const blocks: Block[] = [];
  const addBlocks = (kind: BlockKind, found: readonly string[]): void => {
    for (const text of found) blocks.push({ kind, text });
  };
  addBlocks('details', descriptions.slice(1));
  addBlocks(
    'details',
    texts.all(SUMMARY).filter((text) => text !== titled),
  );
  if (look.present(fields, blockPaths).length > 0) {
    for (const { kind, paths } of BLOCKS) {
      addBlocks(kind, texts.all(paths, kind === 'reproductionSteps' ? 'numbers' : 'bullets'));
    }
  }
  addBlocks('recommendation', recommendations.slice(1));
  const description = descriptions[0] ?? '';
  const title = toTitle(titled ?? firstLine(description));
  const { severity, severityText } = readRating(look, fields);
  const ownId = firstHit(look, fields, ID, toId);
  const isClipped = clipped || texts.clipped || (titled ?? '').length > maxTitleLength;
  return {
    index,
    id: ownId ?? makeId(title, places[0]),
    isIdMade: ownId === undefined,
    title,
    severity,
    severityText,
    confidence: readConfidence(look, fields),
    description,
    blocks,
    recommendation: recommendations[0] ?? '',
    places,
    cwes: readCwes(look, fields),
    cvss: readCvss(look, fields),
    shortfall: isClipped ? 'clipped' : undefined,
    raw: toRaw(item.raw),
  };
}

/** Whether an item by itself is a finding: it has a name or prose, and a rating or a place, or both. */
export function isFinding(look: Look, item: Item, whole: boolean): boolean {
  const fields = fieldsOf(look, item);
  if (fields === undefined) return false;
  const isRated = readRating(look, fields).severity !== 'unrated';
  if (whole && !isRated) return false;
  if ((whole || !isRated) && readPlaces(look, fields).places.length === 0) return false;
  const texts = new Texts(look, fields);
  return texts.first(TITLE) !== undefined || texts.first(DESCRIPTION) !== undefined;
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

function unreadable(raw: unknown, index: number, makeId: MakeId): Finding {
  const title = toTitle(typeof raw === 'string' ? raw : '');
  return {
    index,
    id: makeId(title, undefined),
    isIdMade: true,
    title,
    severity: 'unrated',
    description: '',
    blocks: [],
    recommendation: '',
    places: [],
    cwes: [],
    shortfall: 'unreadable',
    raw: toRaw(raw),
  };
}

/** The prose of a finding. */
class Texts {
  readonly #look: Look;
  readonly #fields: JsonObject;
  /** True when a text that was read had to be cut. */
  clipped = false;

  constructor(look: Look, fields: JsonObject) {
    this.#look = look;
    this.#fields = fields;
  }

  first(paths: readonly KeyPath[]): string | undefined {
    for (const path of this.#look.present(this.#fields, paths)) {
      const text = this.#textAt(path);
      if (text !== '') return text;
    }
    return undefined;
  }

  /** The different texts under all aliases, in their order. */
  all(paths: readonly KeyPath[], style?: ListStyle): readonly string[] {
    const present = this.#look.present(this.#fields, paths);
    if (present.length === 0) return nothing;
    const found: string[] = [];
    for (const path of present) {
      const text = this.#textAt(path, style);
      if (text !== '' && !found.includes(text)) found.push(text);
    }
    return found;
  }

  #textAt(path: KeyPath, style?: ListStyle): string {
    const value = this.#look(this.#fields, path);
    const text = value === undefined ? '' : toProse(value, style);
    this.clipped ||= text.length > MAX_TEXT;
    return clip(text);
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
