import * as aliases from './aliases.ts';
import type { Cvss, Finding, Severity } from '../finding.ts';
import { type Fields, fieldsOf, firstHit, hitsAt, isObject } from '../../json.ts';
import { visibleLine } from '../../visibleText.ts';

const maxWordLength = 200;
const maxCwes = 100;
const maxRatingLength = 40;
const maxRatingWords = 6;

/**
 * The first known word or score under a severity key counts, else a known word under a rank key,
 * else the CVSS score.
 */
export function readRating(finding: Fields): Pick<Finding, 'severity' | 'severityText'> {
  const ratings = hitsAt(finding, aliases.SEVERITY).flatMap(({ path, value }) => {
    const toNumber = path.at(-1) === aliases.SECURITY_SEVERITY ? toCvssScore : toScore;
    return ratingValues(value).map((each) => ({
      path,
      text: visibleLine(String(each).slice(0, maxWordLength)),
      severity: severityOfWords(each) ?? severityOfScore(toNumber(each, finding)),
    }));
  });
  const { path, text, severity } = ratings.find((each) => each.severity !== undefined) ?? {
    ...ratings.find((each) => each.text !== ''),
    severity: firstHit(finding, aliases.RANK, onlyWord) ?? severityOfScore(readCvss(finding)?.score),
  };
  if (path !== undefined) finding.used?.push(path);
  const isRated = text?.toLowerCase() === severity;
  return { severity: severity ?? 'unrated', severityText: isRated ? undefined : text };
}

export function readConfidence(finding: Fields): string | undefined {
  return firstHit(finding, aliases.CONFIDENCE, (value) => {
    const [text] = ratingValues(value);
    return text === undefined ? undefined : visibleLine(String(text).slice(0, maxWordLength)) || undefined;
  });
}

export function readCvss(finding: Fields): Cvss | undefined {
  const score =
    firstHit(finding, aliases.CVSS_SCORE, toCvssScore) ??
    firstHit(finding, aliases.SCORE, (value) => toScore(value, finding));
  const vector = firstHit(finding, aliases.CVSS_VECTOR, toVector);
  return score === undefined && vector === undefined ? undefined : { score, vector };
}

export function readCwes(finding: Fields): readonly number[] {
  const read = (value: unknown, isBare: boolean): readonly number[] | undefined => {
    const numbers = cwesIn(value, isBare);
    return numbers.length > 0 ? [...new Set(numbers)] : undefined;
  };
  return (
    firstHit(finding, aliases.CWE, (value) => read(value, true)) ??
    firstHit(finding, aliases.CWE_AMONG, (value) => read(value, false)) ??
    []
  );
}

function ratingValues(value: unknown): readonly (string | number)[] {
  const parts = isObject(value)
    ? hitsAt(fieldsOf(value), aliases.SEVERITY_PARTS).map((part) => part.value)
    : [value];
  return parts.filter((part) => typeof part === 'string' || typeof part === 'number');
}

function onlyWord(value: unknown): Severity | undefined {
  return typeof value === 'string' ? aliases.SEVERITY_WORDS.get(value.trim().toLowerCase()) : undefined;
}

/** Returns the only severity in a short rating such as `S1 - critical`. Prose isn't a rating. */
function severityOfWords(value: string | number): Severity | undefined {
  if (typeof value !== 'string' || value.length > maxRatingLength) return undefined;
  const words = value.toLowerCase().match(/\p{L}+/gu) ?? [];
  const [first, ...others] = new Set(words.flatMap((word) => aliases.SEVERITY_WORDS.get(word) ?? []));
  return words.length <= maxRatingWords && others.length === 0 ? first : undefined;
}

/** CVSS 3 and 4 have these bands. */
function severityOfScore(score: number | undefined): Severity | undefined {
  if (score === undefined) return undefined;
  if (score >= 9) return 'critical';
  if (score >= 7) return 'high';
  return score >= 4 ? 'medium' : 'low';
}

/** Ignores 0, which tools write for an unknown score. */
function toCvssScore(value: unknown): number | undefined {
  const isText = typeof value === 'string' && /^\s*\d{1,2}(\.\d{1,20})?\s*$/.test(value);
  const score = isText ? Number(value) : value;
  return typeof score === 'number' && score >= 0.1 && score <= 10 ? score : undefined;
}

/**
 * Ignores a whole number, which may be a rank. If the finding has a confidence, also ignores a
 * number up to 1, which may be a probability.
 */
function toScore(value: unknown, finding: Fields): number | undefined {
  const score = String(value).includes('.') ? toCvssScore(value) : undefined;
  const isProbability = (score ?? 0) <= 1 && hitsAt(finding, aliases.CONFIDENCE).length > 0;
  return isProbability ? undefined : score;
}

function toVector(value: unknown): string | undefined {
  const looksRight =
    typeof value === 'string' && value.length <= maxWordLength && /[A-Z]{1,3}:[A-Z]/i.test(value);
  return looksRight ? visibleLine(value) : undefined;
}

/** If `isBare`, numbers without `CWE-` count, too. An object's kind, if any, overrides `isBare`. */
function cwesIn(value: unknown, isBare: boolean): readonly number[] {
  if (Array.isArray(value))
    return value.slice(0, maxCwes).flatMap((item) => (Array.isArray(item) ? [] : cwesIn(item, isBare)));
  if (typeof value === 'number' || typeof value === 'string') {
    const text = String(value).slice(0, maxWordLength);
    const isNumber = isBare && /^\s*\d+\s*$/.test(text);
    const texts = isNumber ? [text] : Array.from(text.matchAll(/cwe[-_/ ]?(\d+)/gi), (match) => match[1]);
    return texts.map(Number).filter((number) => number > 0 && number < 100_000);
  }
  const fields = fieldsOf(value);
  const kind = firstHit(fields, aliases.CWE_KIND, (text) =>
    typeof text === 'string' ? text.trim().toLowerCase() : undefined,
  );
  for (const { value: part } of hitsAt(fields, aliases.CWE_PARTS)) {
    if (typeof part !== 'string' && typeof part !== 'number') continue;
    const found = cwesIn(part, kind === undefined ? isBare : kind === 'cwe');
    if (found.length > 0) return found;
  }
  return [];
}
