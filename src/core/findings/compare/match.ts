import { setImmediate } from 'node:timers/promises';
import { followLines, isEditOf } from '../drift/drift.ts';
import {
  compact,
  compactEach,
  contains,
  type LineRange,
  maxComparedLength,
  splitLines,
} from '../drift/lineText.ts';
import { anchorIn } from '../drift/trackedFile.ts';
import { inSlices } from '../../yieldingWork.ts';
import type { Finding } from '../finding.ts';
import type { Identity } from '../identity.ts';
import {
  type Decode,
  readSentText,
  type RunSource,
  type SentFile,
  sentFileOf,
  sentIn,
} from '../place/sentFiles.ts';

/** A finding as it is compared with those of other runs. */
export interface NamedFinding {
  readonly finding: Finding;
  /** Equal code in two folders is two findings. */
  readonly folder: string | undefined;
  readonly identity: Identity;
  readonly source: RunSource;
}

/** Of more findings of one kind in one file that nothing tells apart for sure, the others are taken for different ones. */
const maxGroup = 200;

type KeyOf = (named: NamedFinding) => string | undefined;
type IsPair = (one: NamedFinding, other: NamedFinding) => boolean;

/**
 * The former finding of each finding, each at most once: first those that are surely the same, as `isSameFinding` has it; then, of one kind and path, those
 * whose lines are the same in the text that the later run was given; last, where these lines are not known, what quote, title and reported line tell.
 */
export async function pairFindings(
  found: readonly NamedFinding[],
  former: readonly NamedFinding[],
  decode: Decode,
): Promise<ReadonlyMap<NamedFinding, NamedFinding>> {
  const pairs = new Map<NamedFinding, NamedFinding>();
  const free = new Set(former);
  const pair = (one: NamedFinding, other: NamedFinding): void => {
    pairs.set(one, other);
    free.delete(other);
  };
  const pairBy = (
    some: readonly NamedFinding[],
    others: Iterable<NamedFinding>,
    keyOf: KeyOf,
    isPair: IsPair = () => true,
  ): void => {
    const byKey = Map.groupBy(
      [...others].filter((each) => free.has(each)),
      keyOf,
    );
    for (const one of some.filter((each) => !pairs.has(each))) {
      const key = keyOf(one);
      const candidates = (key !== undefined && byKey.get(key)) || [];
      const at = candidates.findIndex((each) => isPair(one, each));
      const [other] = at < 0 ? [] : candidates.splice(at, 1);
      if (other !== undefined) pair(one, other);
    }
  };
  pairBy(found, former, (each) => (each.identity.only.includes('code') ? keyIn(each) : undefined));
  await setImmediate();
  pairBy(found, former, (each) => (each.identity.only.includes('title') ? titledKeyIn(each) : undefined));

  await setImmediate();
  const left = Map.groupBy(free, spotIn);
  const groups = Map.groupBy(
    found.filter((each) => !pairs.has(each) && left.has(spotIn(each))),
    (each) => `${spotIn(each)}\0${each.source.run.id}`,
  );
  for (const all of groups.values()) {
    const group = all.slice(0, maxGroup);
    const others = group.slice(0, 1).flatMap((each) => left.get(spotIn(each)) ?? []);
    const candidates = others.filter((each) => free.has(each)).slice(0, maxGroup);
    const known = await knownLines(group, candidates, decode);
    await setImmediate();
    for (const [one, other] of overlaps(group, candidates, known)) pair(one, other);
    // Where the lines of both are known and differ, they are two findings.
    const mayBe: IsPair = (one, other) => !known.has(one) || !known.has(other);
    pairBy(group, candidates, (each) => `${titledKeyIn(each)}\0${lineIn(each)}`, mayBe);
    pairBy(group, candidates, (each) => `${keyIn(each)}\0${lineIn(each)}`, mayBe);
    pairBy(group, candidates, (each) => (each.identity.title === '' ? undefined : titledKeyIn(each)), mayBe);
    const quotes = new Map([...group, ...candidates].map((each) => [each, quoteOf(each)]));
    const isQuoteOfOther: IsPair = (one, other) => isPartOf(quotes.get(one) ?? '', quotes.get(other) ?? '');
    pairBy(group, candidates, spotIn, (one, other) => mayBe(one, other) && isQuoteOfOther(one, other));
  }
  return pairs;
}

function keyIn({ folder = '', identity }: NamedFinding): string {
  return `${identity.fingerprint}\0${folder}`;
}

function titledKeyIn(named: NamedFinding): string {
  return `${keyIn(named)}\0${named.identity.title}`;
}

function spotIn({ folder = '', identity }: NamedFinding): string {
  return `${identity.spot}\0${folder}`;
}

function lineIn({ finding }: NamedFinding): string {
  return String(finding.places[0]?.startLine);
}

/** The lines that a finding quotes, each between two line ends. */
function quoteOf({ finding }: NamedFinding): string {
  const lines = splitLines(finding.places[0]?.snippet ?? '').map(compact);
  return `\n${lines.filter((line) => line !== '').join('\n')}\n`;
}

/** Whether the lines of one quote stand in the other. */
function isPartOf(one: string, other: string): boolean {
  const [shorter, longer] = one.length < other.length ? [one, other] : [other, one];
  if (longer.length > maxComparedLength) return one === other;
  return shorter.length > 8 && contains(longer, shorter) === true;
}

type Lines = ReadonlyMap<NamedFinding, LineRange | undefined>;

/**
 * The lines of findings of one kind and path, all in the text that the run of `found` was given, undefined for code that is gone there; without those
 * whose lines nobody knows.
 */
async function knownLines(
  found: readonly NamedFinding[],
  former: readonly NamedFinding[],
  decode: Decode,
): Promise<Lines> {
  const known = new Map<NamedFinding, LineRange | undefined>();
  const to = found[0]?.source;
  if (to === undefined) return known;
  // One kind and path is one file, but the findings may come from several runs.
  for (const some of Map.groupBy([...found, ...former], ({ source }) => source).values()) {
    const source = some[0]?.source ?? to;
    const [place] = some[0]?.finding.places ?? [];
    const then = place && (await sentFileOf(source, place));
    if (then === undefined) continue;
    const now = sentIn(to, source.run.targets[then.target]?.folder, then.file.path);
    if (now === 'unknown') continue;
    const text = await readSentText(source, then, decode);
    const lines = text === undefined ? undefined : splitLines(text);
    const anchor = lines && anchorIn(lines);
    const compactAt = compactEach(lines ?? []);
    const follow = now && (await followSent(text, then.file, now.file, () => readSentText(to, now, decode)));
    const followEach = function* (): Generator<undefined, void> {
      for (const each of some) {
        yield;
        const [main] = each.finding.places;
        const { startLine, endLine = startLine } = main ?? {};
        const reported =
          startLine === undefined || endLine === undefined ? undefined : { startLine, endLine };
        const anchored = main && anchor ? anchor(main) : reported;
        const range = anchored && withQuote(anchored, main?.snippet, compactAt);
        if (now === undefined) known.set(each, undefined);
        else {
          const there = range && follow?.(range);
          if (there !== undefined) known.set(each, there === 'gone' ? undefined : there);
        }
      }
    };
    await inSlices(followEach());
  }
  return known;
}

/** The lines of a place with all that its quote has of context around them. */
function withQuote(
  { startLine, endLine }: LineRange,
  snippet: string | undefined,
  compactAt: (at: number) => string,
): LineRange {
  const quoted = splitLines(snippet?.trim() ?? '').map(compact);
  const [first = ''] = quoted;
  const above = quoted.findIndex((_, at) => contains(compactAt(startLine - 1 - at), first) === true);
  if (first === '' || above < 0) return { startLine, endLine };
  const start = startLine - above;
  return { startLine: start, endLine: Math.max(endLine, start + quoted.length - 1) };
}

/** Finds lines of one sent file in another: undefined for those of which nobody knows what they have become. */
async function followSent(
  before: string | undefined,
  { sha256 }: SentFile,
  now: SentFile,
  readNow: () => Promise<string | undefined>,
): Promise<((range: LineRange) => LineRange | 'gone' | undefined) | undefined> {
  if (now.sha256 === sha256) return (range) => range;
  const text = before === undefined ? undefined : await readNow();
  if (before === undefined || text === undefined) return undefined;
  const [lines, linesNow] = [splitLines(before), splitLines(text)];
  const follow = followLines(lines)(linesNow);
  const textOf = (some: readonly string[], { startLine, endLine }: LineRange): readonly string[] =>
    some.slice(startLine - 1, endLine);
  return (range) => {
    const { drift, ...there } = follow(range);
    if (drift === 'unknown') return undefined;
    if (drift !== 'changed') return drift === 'gone' ? 'gone' : there;
    // Other code may stand in its place.
    const isEdit = isEditOf(textOf(linesNow, there), textOf(lines, range));
    return isEdit === false ? 'gone' : isEdit && there;
  };
}

/** Pairs of findings that have a line in common, those of one title first, from the top down, each in one pair at most. */
function* overlaps(
  found: readonly NamedFinding[],
  former: readonly NamedFinding[],
  known: Lines,
): Generator<readonly [NamedFinding, NamedFinding]> {
  const ordered = (some: readonly NamedFinding[]): { named: NamedFinding; range: LineRange }[] =>
    some
      .flatMap((named) => {
        const range = known.get(named);
        return range === undefined ? [] : [{ named, range }];
      })
      .sort((one, other) => one.range.startLine - other.range.startLine);
  const waiting = ordered(former);
  let left = ordered(found);
  for (const titleOf of [({ identity }: NamedFinding) => identity.title, () => '']) {
    const unpaired = [];
    for (const each of left) {
      const { named, range } = each;
      const at = waiting.findIndex(
        (other) =>
          titleOf(other.named) === titleOf(named) &&
          other.range.startLine <= range.endLine &&
          range.startLine <= other.range.endLine,
      );
      const [other] = at < 0 ? [] : waiting.splice(at, 1);
      if (other === undefined) unpaired.push(each);
      else yield [named, other.named];
    }
    left = unpaired;
  }
}
