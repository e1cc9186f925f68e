import { exactLine } from '../visibleText.ts';
import type { ApplicationInput } from './blackboxInput.ts';

/** The parts of an input that a saved password depends on, besides its login. */
export type InputPart = 'targets' | 'exclusions' | 'loginInstructions' | 'crawlInstructions' | 'preferences';

/** Texts are sorted, so that the input's order doesn't matter. */
export type InputParts = Readonly<Record<InputPart, readonly string[]>>;

/** The parts whose changes a user reads. Credit limits are shown separately. */
export type SentPart = InputPart | 'logins' | 'language' | 'webhooks';

export interface PartChange<Part extends SentPart = SentPart> {
  readonly part: Part;
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

export function partsOf(input: ApplicationInput): InputParts {
  const { target_urls, oos_urls = [], authentication, additional_instructions, preference } = input;
  const preferences = preference?.preferences ?? [];
  return {
    targets: inOrder(target_urls),
    exclusions: inOrder(oos_urls),
    loginInstructions: inOrder([authentication?.additional_instructions]),
    crawlInstructions: inOrder([additional_instructions]),
    preferences: inOrder(preferences.map(({ kind, preference }) => `${kind}: ${preference}`)),
  };
}

function inOrder(texts: readonly (string | undefined)[]): string[] {
  return [...new Set(texts.filter((text) => text !== undefined))].sort();
}

export function sentPartsOf(request: {
  readonly input: ApplicationInput;
  readonly language: string;
  readonly webhookEndpointIds: readonly string[];
}): Readonly<Record<SentPart, readonly string[]>> {
  const logins = request.input.authentication?.credentials ?? [];
  return {
    ...partsOf(request.input),
    logins: inOrder(logins.map(({ id, role }) => `${id} (${role})`)),
    language: [request.language],
    webhooks: inOrder(request.webhookEndpointIds),
  };
}

/** Instructions for a crawl count only if `isCrawl`, since only a crawl sends them. */
export function changesBetween<Part extends SentPart>(
  before: Readonly<Record<Part, readonly string[]>>,
  after: Readonly<Record<Part, readonly string[]>>,
  isCrawl: boolean,
): PartChange<Part>[] {
  return (Object.keys(after) as Part[])
    .filter((part) => isCrawl || part !== 'crawlInstructions')
    .map((part) => ({
      part,
      added: after[part].filter((text) => !before[part].includes(text)),
      removed: before[part].filter((text) => !after[part].includes(text)),
    }))
    .filter(({ added, removed }) => added.length + removed.length > 0);
}

/** Limits for one part's changes in a dialog. The length is in characters. */
export const maxPartLines = 10;
export const maxPartLength = 1000;

const contextLength = 40;

export interface ChangedLine {
  readonly sign: '+' | '−';
  /** The text is one line without hidden characters. “…” stands for more unchanged text. */
  readonly text: string;
  readonly length: number;
}

/** `isLong` means that a dialog has no room for the lines. */
export function changedLines({ added, removed }: Pick<PartChange, 'added' | 'removed'>): {
  readonly lines: readonly ChangedLine[];
  readonly isLong: boolean;
} {
  // Both lists are sorted, so the versions of an edited text usually have the same index.
  const lines =
    added.length === removed.length
      ? added.flatMap((text, index) => editedLines(removed[index] ?? '', text))
      : [...added.map((text) => wholeLine('+', text)), ...removed.map((text) => wholeLine('−', text))];
  const length = lines.reduce((sum, line) => sum + line.length, 0);
  return { lines, isLong: lines.length > maxPartLines || length > maxPartLength };
}

function wholeLine(sign: ChangedLine['sign'], text: string): ChangedLine {
  const line = exactLine(text);
  return { sign, text: line, length: line.length };
}

function editedLines(before: string, after: string): ChangedLine[] {
  const [start, end] = commonEnds(before, after);
  const toLine = (sign: ChangedLine['sign'], text: string): ChangedLine => {
    const cutAt = (index: number): number => (isInPair(text, index) ? index - 1 : index);
    const from = cutAt(Math.max(start - contextLength, 0));
    const to = cutAt(Math.min(text.length - end + contextLength, text.length));
    return {
      sign,
      text: `${from === 0 ? '' : '…'}${exactLine(text.slice(from, to))}${to === text.length ? '' : '…'}`,
      length: exactLine(text.slice(start, text.length - end)).length,
    };
  };
  return [toLine('+', after), toLine('−', before)];
}

/**
 * Returns the lengths of the common prefix and suffix, which don't overlap and split no surrogate
 * pair.
 */
function commonEnds(a: string, b: string): readonly [start: number, end: number] {
  const shorter = Math.min(a.length, b.length);
  let start = 0;
  while (start < shorter && a[start] === b[start]) start += 1;
  if (isInPair(a, start) || isInPair(b, start)) start -= 1;
  let end = 0;
  while (end < shorter - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  if (isInPair(a, a.length - end) || isInPair(b, b.length - end)) end -= 1;
  return [start, end];
}

function isInPair(text: string, index: number): boolean {
  return /[\uDC00-\uDFFF]/.test(text[index] ?? '') && /[\uD800-\uDBFF]/.test(text[index - 1] ?? '');
}
