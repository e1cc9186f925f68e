import { pathKey } from '../../paths.ts';
import { compact, contains, maxComparedLength, splitLines } from '../drift/lineText.ts';
import type { Identity } from '../identity.ts';
import type { Decode } from '../place/sentFiles.ts';
import { type ComparedFinding, findLaterLines, type LaterLines, type LaterRun } from './laterLines.ts';

/** The finding of an earlier run that a later finding is paired with. */
export interface Pair<T extends ComparedFinding = ComparedFinding> {
  readonly earlier: T;
  /** True if a decision about `earlier` also holds for the later finding. If false, the pair only serves verdicts. */
  readonly carriesDecision: boolean;
}

interface PairingRule {
  /** Only findings with equal keys are paired. Undefined for a finding that the rule does not pair. */
  readonly keyOf: (finding: ComparedFinding) => string | undefined;
  /**
   * The lines of both in the text that the later run was given. `any`: they do not count. `overlap`: both are known and overlap. `unknown`: at least
   * one is not known. Only an `any` rule pairs findings whose known lines do not overlap.
   */
  readonly lines: 'any' | 'overlap' | 'unknown';
  readonly isPair?: (later: ComparedFinding, earlier: ComparedFinding) => boolean;
  readonly carriesDecision: boolean;
}

/**
 * A finding is paired once, by the first rule that fits. A spot is kind and path, a fingerprint is kind, path and quote; for a live application,
 * feature, perspective and address stand for kind and path. In the first four rules, each run has only one finding with the key (`Identity.only`).
 */
const RULES: readonly PairingRule[] = [
  { keyOf: ifUniqueBy('code', fingerprintOf), lines: 'any', carriesDecision: true },
  // A live application has no lines.
  { keyOf: ifUniqueBy('live', titledFingerprintOf), lines: 'any', carriesDecision: true },
  // Without a quote, equal titles may be about different code.
  { keyOf: ifUniqueBy('title', titledFingerprintOf), lines: 'overlap', carriesDecision: true },
  { keyOf: ifUniqueBy('title', titledFingerprintOf), lines: 'unknown', carriesDecision: false },
  // Several findings with the key, or other words: the lines decide.
  { keyOf: (each) => `${spotOf(each)}\0${each.identity.title}`, lines: 'overlap', carriesDecision: false },
  { keyOf: spotOf, lines: 'overlap', carriesDecision: false },
  // Without lines, the most similar ones.
  {
    keyOf: (each) => `${titledFingerprintOf(each)}\0${reportedLineOf(each)}`,
    lines: 'unknown',
    carriesDecision: false,
  },
  {
    keyOf: (each) => `${fingerprintOf(each)}\0${reportedLineOf(each)}`,
    lines: 'unknown',
    carriesDecision: false,
  },
  {
    keyOf: (each) => (each.identity.title === '' ? undefined : titledFingerprintOf(each)),
    lines: 'unknown',
    carriesDecision: false,
  },
  { keyOf: spotOf, lines: 'unknown', isPair: isQuoteWithinOther, carriesDecision: false },
];

/** At most this many findings with one key are paired by a rule, and followed with one spot. */
const maxWithKey = 200;

/** Pairs the findings of a run with findings of earlier runs. */
export async function pairFindings<Later extends ComparedFinding, Earlier extends ComparedFinding>(
  run: LaterRun,
  findings: readonly Later[],
  earlier: readonly Earlier[],
  decode: Decode,
): Promise<ReadonlyMap<Later, Pair<Earlier>>> {
  const pairs = new Map<Later, Pair<Earlier>>();
  const unpairedEarlier = new Set(earlier);
  let lines: LaterLines | undefined;
  for (const rule of RULES) {
    const unpaired = findings.filter((finding) => !pairs.has(finding));
    if (unpaired.length === 0 || unpairedEarlier.size === 0) break;
    if (rule.lines !== 'any') lines ??= await findLines(run, unpaired, [...unpairedEarlier], decode);
    applyRule(rule, unpaired, unpairedEarlier, lines ?? new Map(), pairs);
  }
  return pairs;
}

/** Finds the lines of all findings that share their spot with one of the other side. */
function findLines(
  run: LaterRun,
  later: readonly ComparedFinding[],
  earlier: readonly ComparedFinding[],
  decode: Decode,
): Promise<LaterLines> {
  const earlierBySpot = Map.groupBy(earlier, spotOf);
  const compared = [...Map.groupBy(later, spotOf)].flatMap(([spot, withSpot]) => {
    const earlierWithSpot = earlierBySpot.get(spot) ?? [];
    return earlierWithSpot.length === 0
      ? []
      : [...withSpot.slice(0, maxWithKey), ...earlierWithSpot.slice(0, maxWithKey)];
  });
  return findLaterLines(run, compared, decode);
}

/** Adds to `pairs`, and removes from `unpairedEarlier`. */
function applyRule<Later extends ComparedFinding, Earlier extends ComparedFinding>(
  rule: PairingRule,
  unpaired: readonly Later[],
  unpairedEarlier: Set<Earlier>,
  lines: LaterLines,
  pairs: Map<Later, Pair<Earlier>>,
): void {
  const earlierByKey = Map.groupBy(unpairedEarlier, rule.keyOf);
  for (const [key, findings] of Map.groupBy(unpaired, rule.keyOf)) {
    if (key === undefined) continue;
    const free = (earlierByKey.get(key) ?? []).filter((each) => unpairedEarlier.has(each));
    if (free.length === 0) continue;
    const candidates = sortedByLine(free.slice(0, maxWithKey), lines);
    for (const finding of sortedByLine(findings.slice(0, maxWithKey), lines)) {
      const at = candidates.findIndex((candidate) => isPair(rule, finding, candidate, lines));
      const earlier = candidates[at];
      if (earlier === undefined) continue;
      candidates.splice(at, 1);
      unpairedEarlier.delete(earlier);
      pairs.set(finding, { earlier, carriesDecision: rule.carriesDecision });
    }
  }
}

function isPair(
  rule: PairingRule,
  later: ComparedFinding,
  earlier: ComparedFinding,
  lines: LaterLines,
): boolean {
  const fits = rule.lines === 'any' || rule.lines === overlapOf(lines.get(later), lines.get(earlier));
  return fits && rule.isPair?.(later, earlier) !== false;
}

type LaterRange = ReturnType<LaterLines['get']>;

function overlapOf(later: LaterRange, earlier: LaterRange): 'overlap' | 'unknown' | 'apart' {
  if (later === undefined || earlier === undefined) return 'unknown';
  if (later === 'gone' || earlier === 'gone') return 'apart';
  const doOverlap = earlier.startLine <= later.endLine && later.startLine <= earlier.endLine;
  return doOverlap ? 'overlap' : 'apart';
}

/** By their first line in the later text. Findings without one come last, in their order. */
function sortedByLine<T extends ComparedFinding>(findings: readonly T[], lines: LaterLines): T[] {
  const lineOf = (finding: T): number => {
    const range = lines.get(finding);
    return typeof range === 'object' ? range.startLine : Infinity;
  };
  // The difference of two infinities is NaN, which sorts as equal.
  return findings.toSorted((a, b) => lineOf(a) - lineOf(b) || 0);
}

/** Limits a key to findings that are unique in their run by one of `Identity.only`. */
function ifUniqueBy(
  way: Identity['only'][number],
  keyOf: (finding: ComparedFinding) => string,
): PairingRule['keyOf'] {
  return (finding) => (finding.identity.only.includes(way) ? keyOf(finding) : undefined);
}

function fingerprintOf({ folder = '', identity }: ComparedFinding): string {
  return `${identity.fingerprint}\0${pathKey(folder)}`;
}

function titledFingerprintOf(finding: ComparedFinding): string {
  return `${fingerprintOf(finding)}\0${finding.identity.title}`;
}

function spotOf({ folder = '', identity }: ComparedFinding): string {
  return `${identity.spot}\0${pathKey(folder)}`;
}

function reportedLineOf({ finding }: ComparedFinding): string {
  return String(finding.places[0]?.startLine);
}

/** True if one quote contains the other. */
function isQuoteWithinOther(one: ComparedFinding, other: ComparedFinding): boolean {
  const quotes = [quoteOf(one), quoteOf(other)];
  const [shorter = '', longer = ''] = quotes.sort((a, b) => a.length - b.length);
  if (longer.length > maxComparedLength) return shorter === longer;
  return shorter.length > 8 && contains(longer, shorter) === true;
}

/** Each line of the quote between two line ends, without white space. */
function quoteOf({ finding }: ComparedFinding): string {
  const lines = splitLines(finding.places[0]?.snippet ?? '').map(compact);
  return `\n${lines.filter((line) => line !== '').join('\n')}\n`;
}
