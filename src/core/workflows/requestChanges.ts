import { exactLine } from '../visibleText.ts';
import type { ApplicationInput } from './application.ts';

/** The parts of an input that decide where passwords go: not logins, limits, pairs and the continued run. */
export type InputPart = 'targets' | 'exclusions' | 'loginInstructions' | 'crawlInstructions' | 'preferences';

/** What an input says in each part, in an order that does not depend on the input's. */
export type InputParts = Readonly<Record<InputPart, readonly string[]>>;

/** The parts of what is sent whose changes a person reads: all but the credit limits, which the question shows by themselves. */
export type SentPart = InputPart | 'logins' | 'language' | 'webhooks';

export interface PartChange<Part extends SentPart = SentPart> {
  readonly part: Part;
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/** What an input says in each part; two inputs with equal parts do not differ. */
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

/** What is sent for a run, besides limits, in each part; passwords are not in it. */
export function sentPartsOf(sent: {
  readonly input: ApplicationInput;
  readonly language: string;
  readonly webhookEndpointIds: readonly string[];
}): Readonly<Record<SentPart, readonly string[]>> {
  const logins = sent.input.authentication?.credentials ?? [];
  return {
    ...partsOf(sent.input),
    logins: inOrder(logins.map(({ id, role }) => `${id} (${role})`)),
    language: [sent.language],
    webhooks: inOrder(sent.webhookEndpointIds),
  };
}

/** The parts in which two inputs differ, with what differs; a crawl's instructions count for a crawl alone, since nothing else sends them. */
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

/** At most this many changed lines of a part, and this many changed characters, are shown in a dialog. */
export const maxPartLines = 10;
export const maxPartLength = 1000;

/** So many characters of an equal start or end are shown beside a change. */
const contextLength = 40;

/** A changed text as a person reads it: what was added or removed, and some of the equal text around it. */
export interface ChangedLine {
  readonly sign: '+' | '−';
  /** One line, in which nothing is hidden; “…” stands for more equal text. */
  readonly text: string;
  /** Characters that changed, as shown. */
  readonly length: number;
}

/** The changed texts of a part, a line each, and whether a dialog has room for them. */
export function changedLines({ added, removed }: Pick<PartChange, 'added' | 'removed'>): {
  readonly lines: readonly ChangedLine[];
  readonly isLong: boolean;
} {
  // Both are sorted: where a text was edited, its versions are at the same index.
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
    const from = wholeCharacter(text, Math.max(start - contextLength, 0));
    const to = wholeCharacter(text, Math.min(text.length - end + contextLength, text.length));
    return {
      sign,
      text: `${from === 0 ? '' : '…'}${exactLine(text.slice(from, to))}${to === text.length ? '' : '…'}`,
      length: exactLine(text.slice(start, text.length - end)).length,
    };
  };
  return [toLine('+', after), toLine('−', before)];
}

/** The lengths of the common start and the common end of two texts, which do not overlap and split no surrogate pair. */
function commonEnds(one: string, other: string): readonly [start: number, end: number] {
  const shorter = Math.min(one.length, other.length);
  let start = 0;
  while (start < shorter && one[start] === other[start]) start += 1;
  if (wholeCharacter(one, start) !== start || wholeCharacter(other, start) !== start) start -= 1;
  let end = 0;
  while (end < shorter - start && one.at(-1 - end) === other.at(-1 - end)) end += 1;
  const isSplit = (text: string): boolean => wholeCharacter(text, text.length - end) !== text.length - end;
  if (isSplit(one) || isSplit(other)) end -= 1;
  return [start, end];
}

/** The index itself, or the one before it where a surrogate pair would be split. */
function wholeCharacter(text: string, index: number): number {
  return /[\uDC00-\uDFFF]/.test(text[index] ?? '') && /[\uD800-\uDBFF]/.test(text[index - 1] ?? '')
    ? index - 1
    : index;
}
