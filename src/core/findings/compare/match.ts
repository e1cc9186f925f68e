import { setImmediate } from 'node:timers/promises';
import { inSlices } from '../../yieldingWork.ts';
import { compact, contains, type LineRange, maxComparedLength, splitLines } from '../drift/lineText.ts';
import type { Identity } from '../identity.ts';
import type { Decode, RunSource } from '../place/sentFiles.ts';
import type { RunFinding } from './findingsOfRun.ts';
import { findLaterLines, type LaterLines } from './laterLines.ts';

/** A finding of an earlier run that a later finding is paired with. */
export interface Pair {
  readonly former: RunFinding;
  /** Whether a decision about it holds for the later finding. Every pair serves verdicts. */
  readonly isSame: boolean;
}

/** A way to pair a finding with one of an earlier run. */
interface PairingRule {
  /** Both findings have this key; a finding without one is not paired by the rule. */
  readonly keyOf: (each: RunFinding) => string | undefined;
  /**
   * What is known of their lines in the text that the later run was given: `same` have a line in common, `notKnown` are those of which nobody knows one or the other.
   * Where both are known and differ, they are two findings.
   */
  readonly lines: 'any' | 'same' | 'notKnown';
  /** What else is needed. */
  readonly isPair?: (one: RunFinding, other: RunFinding) => boolean;
  readonly serves: 'verdict and decision' | 'verdict';
}

/** The rules in their order: a finding is paired by the first one that fits, and once. Key and spot are of kind and path; a key has the quote, too. */
const RULES: readonly PairingRule[] = [
  // Each run has this quote once.
  { keyOf: onlyBy('code', keyOf), lines: 'any', serves: 'verdict and decision' },
  // A live application has no lines; each run has this title once.
  { keyOf: onlyBy('live', titledKeyOf), lines: 'any', serves: 'verdict and decision' },
  // Each run has this title once, but may mean other code by it.
  { keyOf: onlyBy('title', titledKeyOf), lines: 'same', serves: 'verdict and decision' },
  { keyOf: onlyBy('title', titledKeyOf), lines: 'notKnown', serves: 'verdict' },
  // One of several, or in other words: the lines say which.
  { keyOf: (each) => `${spotOf(each)}\0${each.identity.title}`, lines: 'same', serves: 'verdict' },
  { keyOf: spotOf, lines: 'same', serves: 'verdict' },
  // Without lines, what is most alike.
  { keyOf: (each) => `${titledKeyOf(each)}\0${lineOf(each)}`, lines: 'notKnown', serves: 'verdict' },
  { keyOf: (each) => `${keyOf(each)}\0${lineOf(each)}`, lines: 'notKnown', serves: 'verdict' },
  {
    keyOf: (each) => (each.identity.title === '' ? undefined : titledKeyOf(each)),
    lines: 'notKnown',
    serves: 'verdict',
  },
  { keyOf: spotOf, lines: 'notKnown', isPair: isQuotedByOther, serves: 'verdict' },
];

/** At most this many findings with one key are paired by a rule, and followed of one kind in one file. */
const maxOfKey = 200;

/** Pairs findings, which may be of several runs, with those of one run before these, by the rules. */
export async function pairFindings(
  found: readonly RunFinding[],
  former: readonly RunFinding[],
  decode: Decode,
): Promise<ReadonlyMap<RunFinding, Pair>> {
  const pairs = new Map<RunFinding, Pair>();
  const free = new Set(former);
  let lines: LinesByRun | undefined;
  for (const rule of RULES) {
    const unpaired = found.filter((each) => !pairs.has(each));
    if (unpaired.length === 0 || free.size === 0) break;
    await setImmediate();
    if (rule.lines !== 'any') lines ??= await linesOf(unpaired, [...free], decode);
    await inSlices(applyRule(rule, unpaired, free, lines ?? new Map(), pairs));
  }
  return pairs;
}

/** By the run that a later finding is of: lines in the text that this run was given. */
type LinesByRun = ReadonlyMap<RunSource, LaterLines>;

/** Finds the lines of all findings that share their spot with one of the other side. */
async function linesOf(
  found: readonly RunFinding[],
  former: readonly RunFinding[],
  decode: Decode,
): Promise<LinesByRun> {
  const lines = new Map<RunSource, LaterLines>();
  const formerBySpot = Map.groupBy(former, spotOf);
  for (const [source, some] of Map.groupBy(found, (each) => each.source)) {
    const compared = [...Map.groupBy(some, spotOf)].flatMap(([spot, group]) => {
      const others = formerBySpot.get(spot) ?? [];
      return others.length === 0 ? [] : [...group.slice(0, maxOfKey), ...others.slice(0, maxOfKey)];
    });
    lines.set(source, await findLaterLines(source, compared, decode));
  }
  return lines;
}

function* applyRule(
  rule: PairingRule,
  unpaired: readonly RunFinding[],
  free: Set<RunFinding>,
  lines: LinesByRun,
  pairs: Map<RunFinding, Pair>,
): Generator<undefined, void> {
  const formerByKey = Map.groupBy(free, rule.keyOf);
  for (const [source, ofRun] of Map.groupBy(unpaired, (each) => each.source)) {
    const known = lines.get(source) ?? new Map<RunFinding, LineRange | undefined>();
    for (const [key, some] of Map.groupBy(ofRun, rule.keyOf)) {
      if (key === undefined) continue;
      const candidates = (formerByKey.get(key) ?? []).filter((each) => free.has(each)).slice(0, maxOfKey);
      if (candidates.length === 0) continue;
      const others = fromTop(candidates, known);
      for (const one of fromTop(some.slice(0, maxOfKey), known)) {
        yield;
        const at = others.findIndex(
          (other) => fitsLines(rule, one, other, known) && rule.isPair?.(one, other) !== false,
        );
        const [other] = at < 0 ? [] : others.splice(at, 1);
        if (other === undefined) continue;
        free.delete(other);
        pairs.set(one, { former: other, isSame: rule.serves === 'verdict and decision' });
      }
    }
  }
}

function fitsLines({ lines }: PairingRule, one: RunFinding, other: RunFinding, known: LaterLines): boolean {
  if (lines === 'any') return true;
  if (!known.has(one) || !known.has(other)) return lines === 'notKnown';
  const [here, there] = [known.get(one), known.get(other)];
  const isOverlap =
    here !== undefined &&
    there !== undefined &&
    there.startLine <= here.endLine &&
    here.startLine <= there.endLine;
  return lines === 'same' && isOverlap;
}

/** By their first line in the later text; those without one last, in their order. */
function fromTop(some: readonly RunFinding[], known: LaterLines): RunFinding[] {
  const lineIn = (each: RunFinding): number => known.get(each)?.startLine ?? Infinity;
  // The difference of two infinities is NaN, which sorts as equal.
  return some.toSorted((one, other) => lineIn(one) - lineIn(other) || 0);
}

/** Limits a key to findings that nothing else in their run has it by. */
function onlyBy(
  way: Identity['only'][number],
  keyOfEach: (each: RunFinding) => string,
): PairingRule['keyOf'] {
  return (each) => (each.identity.only.includes(way) ? keyOfEach(each) : undefined);
}

function keyOf({ folder = '', identity }: RunFinding): string {
  return `${identity.fingerprint}\0${folder}`;
}

function titledKeyOf(each: RunFinding): string {
  return `${keyOf(each)}\0${each.identity.title}`;
}

function spotOf({ folder = '', identity }: RunFinding): string {
  return `${identity.spot}\0${folder}`;
}

function lineOf({ finding }: RunFinding): string {
  return String(finding.places[0]?.startLine);
}

/** Whether one quote is part of the other. */
function isQuotedByOther(one: RunFinding, other: RunFinding): boolean {
  const quotes = [quoteOf(one), quoteOf(other)];
  const [shorter = '', longer = ''] = quotes.sort((a, b) => a.length - b.length);
  if (longer.length > maxComparedLength) return shorter === longer;
  return shorter.length > 8 && contains(longer, shorter) === true;
}

/** The lines that a finding quotes, each between two line ends. */
function quoteOf({ finding }: RunFinding): string {
  const lines = splitLines(finding.places[0]?.snippet ?? '').map(compact);
  return `\n${lines.filter((line) => line !== '').join('\n')}\n`;
}
