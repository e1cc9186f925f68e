import { BLOCKS, DESCRIPTION, ID, RECOMMENDATION, SUMMARY, TITLE } from './aliases.ts';
import type { Block, BlockKind, Finding, Place } from '../finding.ts';
import { type Item, fieldsOf } from './findList.ts';
import { type ListStyle, MAX_TEXT, clip, toProse } from './prose.ts';
import { readCvss, readCwes, readRating } from './rating.ts';
import { readPlaces } from './readPlaces.ts';
import { type JsonObject, type KeyPath, type Look, firstHit } from './readValue.ts';
import { visibleLine } from './visibleText.ts';

const maxTitleLength = 300;
const maxIdLength = 256;
const nothing: readonly string[] = [];

/** Makes the id of a finding that has none, from its title and its main place. */
export type MakeId = (title: string, place: Place | undefined) => string;

const blockPaths = BLOCKS.flatMap(({ paths }) => paths);

/** Reads one item, the one at `index`; every item gives a finding, whatever it is. */
export function readFinding(look: Look, item: Item, index: number, makeId: MakeId): Finding {
  const fields = fieldsOf(item);
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
  const isClipped = clipped || texts.clipped || (titled ?? '').length > maxTitleLength;
  return {
    index,
    id: firstHit(look, fields, ID, toId) ?? makeId(title, places[0]),
    title,
    severity,
    severityText,
    description,
    blocks,
    recommendation: recommendations[0] ?? '',
    places,
    cwes: readCwes(look, fields),
    cvss: readCvss(look, fields),
    shortfall: isClipped ? 'clipped' : undefined,
    raw: item.raw,
  };
}

/** Whether an object by itself is a finding: it has a name or prose, and a rating or a place; both when it has a list, as a report without findings has. */
export function isLoneFinding(look: Look, object: JsonObject, hasList: boolean): boolean {
  const { title, severity, places } = readFinding(look, { raw: object }, 0, () => '');
  const [isRated, isPlaced] = [severity !== 'unrated', places.length > 0];
  return title !== '' && (hasList ? isRated && isPlaced : isRated || isPlaced);
}

function unreadable(raw: unknown, index: number, makeId: MakeId): Finding {
  const title = toTitle(typeof raw === 'string' ? raw : '');
  return {
    index,
    id: makeId(title, undefined),
    title,
    severity: 'unrated',
    description: '',
    blocks: [],
    recommendation: '',
    places: [],
    cwes: [],
    shortfall: 'unreadable',
    raw,
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
