import { setImmediate } from 'node:timers/promises';
import { pathKey } from '../../paths.ts';
import { inSlices } from '../../yieldingWork.ts';
import { compact, contains, maxComparedLength, splitLines } from '../drift/lineText.ts';
import type { Identity } from '../identity.ts';
import type { Decode, RunSource } from '../place/sentFiles.ts';
import type { RunFinding } from './findingsOfRun.ts';
import { findLaterLines, type LaterLines } from './laterLines.ts';

/** The finding of an earlier run that a later finding is paired with. */
export interface Pair {
  readonly earlier: RunFinding;
  /** True if a decision about `earlier` also holds for the later finding. If false, the pair only serves verdicts. */
  readonly carriesDecision: boolean;
}

interface PairingRule {
  /** Only findings with equal keys are paired. Undefined for a finding that the rule does not pair. */
  readonly keyOf: (finding: RunFinding) => string | undefined;
  /**
   * The lines of both in the text that the later run was given. `any`: they do not count. `overlap`: both are known and overlap. `unknown`: at least
   * one is not known. Only an `any` rule pairs findings whose known lines do not overlap.
   */
  readonly lines: 'any' | 'overlap' | 'unknown';
  readonly isPair?: (later: RunFinding, earlier: RunFinding) => boolean;
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

/** Pairs findings, which may be of several runs, with the findings of one earlier run. */
export async function pairFindings(
  findings: readonly RunFinding[],
  earlier: readonly RunFinding[],
  decode: Decode,
): Promise<ReadonlyMap<RunFinding, Pair>> {
  const pairs = new Map<RunFinding, Pair>();
  const unpairedEarlier = new Set(earlier);
  let lines: LinesByRun | undefined;
  for (const rule of RULES) {
    const unpaired = findings.filter((finding) => !pairs.has(finding));
    if (unpaired.length === 0 || unpairedEarlier.size === 0) break;
    await setImmediate();
    if (rule.lines !== 'any') lines ??= await findLines(unpaired, [...unpairedEarlier], decode);
    await inSlices(applyRule(rule, unpaired, unpairedEarlier, lines ?? new Map(), pairs));
  }
  return pairs;
}

/** By the run of the later findings: lines in the text that this run was given. */
type LinesByRun = ReadonlyMap<RunSource, LaterLines>;

/** Finds the lines of all findings that share their spot with one of the other side. */
async function findLines(
  later: readonly RunFinding[],
  earlier: readonly RunFinding[],
  decode: Decode,
): Promise<LinesByRun> {
  const lines = new Map<RunSource, LaterLines>();
  const earlierBySpot = Map.groupBy(earlier, spotOf);
  for (const [source, findings] of Map.groupBy(later, (finding) => finding.source)) {
    const compared = [...Map.groupBy(findings, spotOf)].flatMap(([spot, withSpot]) => {
      const earlierWithSpot = earlierBySpot.get(spot) ?? [];
      return earlierWithSpot.length === 0
        ? []
        : [...withSpot.slice(0, maxWithKey), ...earlierWithSpot.slice(0, maxWithKey)];
    });
    lines.set(source, await findLaterLines(source, compared, decode));
  }
  return lines;
}

/** Adds to `pairs`, and removes from `unpairedEarlier`. */
function* applyRule(
  rule: PairingRule,
  unpaired: readonly RunFinding[],
  unpairedEarlier: Set<RunFinding>,
  linesByRun: LinesByRun,
  pairs: Map<RunFinding, Pair>,
): Generator<undefined, void> {
  const earlierByKey = Map.groupBy(unpairedEarlier, rule.keyOf);
  for (const [source, ofRun] of Map.groupBy(unpaired, (finding) => finding.source)) {
    const lines: LaterLines = linesByRun.get(source) ?? new Map();
    for (const [key, findings] of Map.groupBy(ofRun, rule.keyOf)) {
      if (key === undefined) continue;
      const free = (earlierByKey.get(key) ?? []).filter((each) => unpairedEarlier.has(each));
      if (free.length === 0) continue;
      const candidates = sortedByLine(free.slice(0, maxWithKey), lines);
      for (const finding of sortedByLine(findings.slice(0, maxWithKey), lines)) {
        yield;
        const at = candidates.findIndex((candidate) => isPair(rule, finding, candidate, lines));
        const earlier = candidates[at];
        if (earlier === undefined) continue;
        candidates.splice(at, 1);
        unpairedEarlier.delete(earlier);
        pairs.set(finding, { earlier, carriesDecision: rule.carriesDecision });
      }
    }
  }
}

function isPair(rule: PairingRule, later: RunFinding, earlier: RunFinding, lines: LaterLines): boolean {
  const fits = rule.lines === 'any' || rule.lines === compareLines(lines.get(later), lines.get(earlier));
  return fits && rule.isPair?.(later, earlier) !== false;
}

type LaterRange = ReturnType<LaterLines['get']>;

function compareLines(later: LaterRange, earlier: LaterRange): 'overlap' | 'unknown' | 'apart' {
  if (later === undefined || earlier === undefined) return 'unknown';
  if (later === 'gone' || earlier === 'gone') return 'apart';
  const doOverlap = earlier.startLine <= later.endLine && later.startLine <= earlier.endLine;
  return doOverlap ? 'overlap' : 'apart';
}

/** By their first line in the later text. Findings without one come last, in their order. */
function sortedByLine(findings: readonly RunFinding[], lines: LaterLines): RunFinding[] {
  const lineOf = (finding: RunFinding): number => {
    const range = lines.get(finding);
    return typeof range === 'object' ? range.startLine : Infinity;
  };
  // The difference of two infinities is NaN, which sorts as equal.
  return findings.toSorted((a, b) => lineOf(a) - lineOf(b) || 0);
}

/** Limits a key to findings that are unique in their run by one of `Identity.only`. */
function ifUniqueBy(
  way: Identity['only'][number],
  keyOf: (finding: RunFinding) => string,
): PairingRule['keyOf'] {
  return (finding) => (finding.identity.only.includes(way) ? keyOf(finding) : undefined);
}

function fingerprintOf({ folder = '', identity }: RunFinding): string {
  return `${identity.fingerprint}\0${pathKey(folder)}`;
}

function titledFingerprintOf(finding: RunFinding): string {
  return `${fingerprintOf(finding)}\0${finding.identity.title}`;
}

function spotOf({ folder = '', identity }: RunFinding): string {
  return `${identity.spot}\0${pathKey(folder)}`;
}

function reportedLineOf({ finding }: RunFinding): string {
  return String(finding.places[0]?.startLine);
}

/** True if one quote contains the other. */
function isQuoteWithinOther(one: RunFinding, other: RunFinding): boolean {
  const quotes = [quoteOf(one), quoteOf(other)];
  const [shorter = '', longer = ''] = quotes.sort((a, b) => a.length - b.length);
  if (longer.length > maxComparedLength) return shorter === longer;
  return shorter.length > 8 && contains(longer, shorter) === true;
}

/** Each line of the quote between two line ends, without white space. */
function quoteOf({ finding }: RunFinding): string {
  const lines = splitLines(finding.places[0]?.snippet ?? '').map(compact);
  return `\n${lines.filter((line) => line !== '').join('\n')}\n`;
}
