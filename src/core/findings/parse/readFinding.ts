import { BLOCKS, DESCRIPTION, ID, RECOMMENDATION, SUMMARY, TITLE } from './aliases.ts';
import type { Block, BlockKind, Finding } from '../finding.ts';
import { type Item, fieldsOf } from './findList.ts';
import { type ListStyle, MAX_TEXT, clip, toProse } from './prose.ts';
import { readCvss, readCwes, readRating } from './rating.ts';
import { readPlaces } from './readPlaces.ts';
import { type JsonObject, type KeyPath, type Look, firstHit } from './readValue.ts';
import { visibleLine } from './visibleText.ts';

const maxTitleLength = 300;
const maxIdLength = 256;
const nothing: readonly string[] = [];

/** What one item of the list says, before it has a position and an id of its own. */
export interface ReadFinding {
  readonly finding: Omit<Finding, 'index' | 'id'> & { readonly givenId: string | undefined };
  /** True when the item is no object, so that only its raw value could be kept. */
  readonly unreadable: boolean;
  /** True when texts or places were cut, and only the raw value has all of them. */
  readonly clipped: boolean;
}

/** Reads one item; every item gives a finding, whatever it is. */
export function readFinding(look: Look, item: Item): ReadFinding {
  const fields = fieldsOf(item);
  if (fields === undefined) return { finding: unreadable(item.raw), unreadable: true, clipped: false };
  const texts = createTexts(look, fields);

  const titled = texts.first(TITLE);
  const [description = '', ...details] = texts.all(DESCRIPTION);
  const summary = texts.all(SUMMARY).filter((text) => text !== titled);
  const [recommendation = '', ...furtherAdvice] = texts.all(RECOMMENDATION);
  const { places, clipped } = readPlaces(look, fields);
  const blocks = toBlocks('details', [...details, ...summary]);
  for (const { kind, paths } of BLOCKS) {
    blocks.push(...toBlocks(kind, texts.all(paths, kind === 'reproductionSteps' ? 'numbers' : 'bullets')));
  }
  blocks.push(...toBlocks('recommendation', furtherAdvice));
  const finding = {
    givenId: firstHit(look, fields, ID, toId),
    title: toTitle(titled ?? firstLine(description)),
    ...readRating(look, fields),
    description,
    blocks,
    recommendation,
    places,
    cwes: readCwes(look, fields),
    cvss: readCvss(look, fields),
    raw: item.raw,
  };
  return {
    finding,
    unreadable: false,
    clipped: clipped || texts.clipped() || (titled ?? '').length > maxTitleLength,
  };
}

/** Whether an object by itself is a finding: it has a name or prose, and a rating or a place. */
export function isLoneFinding(look: Look, object: JsonObject): boolean {
  const { finding } = readFinding(look, { raw: object });
  return finding.title !== '' && (finding.severity !== 'unrated' || finding.places.length > 0);
}

function unreadable(raw: unknown): ReadFinding['finding'] {
  const title = toTitle(typeof raw === 'string' ? raw : '');
  return {
    givenId: undefined,
    title,
    severity: 'unrated',
    description: '',
    blocks: [],
    recommendation: '',
    places: [],
    cwes: [],
    raw,
  };
}

interface Texts {
  first(paths: readonly KeyPath[]): string | undefined;
  /** The different texts under all aliases, in their order. */
  all(paths: readonly KeyPath[], style?: ListStyle): readonly string[];
  clipped(): boolean;
}

function createTexts(look: Look, fields: JsonObject): Texts {
  let clipped = false;
  const textAt = (path: KeyPath, style?: ListStyle): string => {
    const value = look(fields, path);
    const text = value === undefined ? '' : toProse(value, style);
    clipped ||= text.length > MAX_TEXT;
    return clip(text);
  };
  return {
    first: (paths) => {
      for (const path of look.present(fields, paths)) {
        const text = textAt(path);
        if (text !== '') return text;
      }
      return undefined;
    },
    all: (paths, style) => {
      const present = look.present(fields, paths);
      if (present.length === 0) return nothing;
      const found: string[] = [];
      for (const path of present) {
        const text = textAt(path, style);
        if (text !== '' && !found.includes(text)) found.push(text);
      }
      return found;
    },
    clipped: () => clipped,
  };
}

function toBlocks(kind: BlockKind, texts: readonly string[]): Block[] {
  return texts.map((text) => ({ kind, text }));
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
