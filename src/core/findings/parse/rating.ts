import * as aliases from './aliases.ts';
import type { Cvss, Finding, Severity } from '../finding.ts';
import { type Fields, fieldsOf, firstHit, hitsAt, isObject, type KeyPath } from '../../json.ts';
import { visibleLine } from '../../visibleText.ts';

const maxWordLength = 200;
const maxCwes = 100;
const maxRatingLength = 40;
const maxRatingWords = 6;

/** Key by key a known word, else a number; else the CVSS score; else unrated. */
export function readRating(finding: Fields): Pick<Finding, 'severity' | 'severityText'> {
  let written: { readonly path: KeyPath; readonly text: string } | undefined;
  const rated = (severity: Severity, path?: KeyPath, text?: string): ReturnType<typeof readRating> => {
    if (path !== undefined) finding.used?.push(path);
    return { severity, severityText: text?.toLowerCase() === severity ? undefined : text };
  };
  for (const { path, value: rating } of hitsAt(finding, aliases.SEVERITY)) {
    const isWord = aliases.SEVERITY_WORDS_ONLY.has(path.join('.'));
    for (const value of ratingValues(rating)) {
      const text = visibleLine(String(value).slice(0, maxWordLength));
      const severity = isWord
        ? aliases.SEVERITY_WORDS.get(text.toLowerCase())
        : (severityOfWords(value) ?? severityOfNumber(value, finding));
      if (severity !== undefined) return rated(severity, path, text);
      if (!isWord && text !== '') written ??= { path, text };
    }
  }
  const score = readCvss(finding)?.score;
  return rated(score === undefined ? 'unrated' : severityOfScore(score), written?.path, written?.text);
}

export function readConfidence(finding: Fields): string | undefined {
  return firstHit(finding, aliases.CONFIDENCE, (value) => {
    const [text] = ratingValues(value);
    return text === undefined ? undefined : visibleLine(String(text).slice(0, maxWordLength)) || undefined;
  });
}

/** Beside a confidence, a number from 0 to 1 is a probability. */
function isScore(finding: Fields, score: number | undefined): score is number {
  return score !== undefined && (score > 1 || hitsAt(finding, aliases.CONFIDENCE).length === 0);
}

export function readCvss(finding: Fields): Cvss | undefined {
  const score = firstHit(finding, aliases.CVSS_SCORE, (value) => {
    const read = toScore(value);
    return isScore(finding, read) ? read : undefined;
  });
  const vector = firstHit(finding, aliases.CVSS_VECTOR, toVector);
  return score === undefined && vector === undefined ? undefined : { score, vector };
}

/** From the first key that has any; each number once, in file order. */
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

/** The only severity among the few words of a rating such as `High Risk` or `S1 - critical`. In prose, "high" need not be a rating. */
function severityOfWords(value: string | number): Severity | undefined {
  if (typeof value !== 'string' || value.length > maxRatingLength) return undefined;
  const words = value.toLowerCase().match(/\p{L}+/gu) ?? [];
  const [first, ...others] = new Set(words.flatMap((word) => aliases.SEVERITY_WORDS.get(word) ?? []));
  return words.length <= maxRatingWords && others.length === 0 ? first : undefined;
}

function severityOfNumber(value: string | number, finding: Fields): Severity | undefined {
  const score = toScore(value);
  return isScore(finding, score) ? severityOfScore(score) : undefined;
}

/** The bands of CVSS 3 and 4. */
function severityOfScore(score: number): Severity {
  if (score >= 9) return 'critical';
  if (score >= 7) return 'high';
  if (score >= 4) return 'medium';
  return score > 0 ? 'low' : 'none';
}

function toScore(value: unknown): number | undefined {
  const score =
    typeof value === 'string' && value.length < maxWordLength && /^\s*\d{1,2}(\.\d{1,20})?\s*$/.test(value)
      ? Number(value)
      : value;
  return typeof score === 'number' && score >= 0 && score <= 10 ? score : undefined;
}

function toVector(value: unknown): string | undefined {
  const looksRight =
    typeof value === 'string' && value.length <= maxWordLength && /[A-Z]{1,3}:[A-Z]/i.test(value);
  return looksRight ? visibleLine(value) : undefined;
}

/** `isBare`: numbers without `CWE-` count, because the key or the object around them says what they are. */
function cwesIn(value: unknown, isBare: boolean): readonly number[] {
  if (typeof value === 'number') return isBare ? validCwes([value]) : [];
  if (typeof value === 'string') {
    const text = value.slice(0, maxWordLength);
    if (isBare && /^\s*\d+\s*$/.test(text)) return validCwes([Number(text)]);
    return validCwes(Array.from(text.matchAll(/cwe[-_/ ]?(\d+)/gi), (match) => Number(match[1])));
  }
  if (Array.isArray(value))
    return value.slice(0, maxCwes).flatMap((item) => (Array.isArray(item) ? [] : cwesIn(item, isBare)));
  if (!isObject(value)) return [];
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

function validCwes(numbers: readonly number[]): readonly number[] {
  return numbers.filter((number) => Number.isInteger(number) && number > 0 && number < 100_000);
}
