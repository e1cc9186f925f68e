import assert from 'node:assert/strict';
import type { ReportedFinding } from '../../../../src/core/findings/finding.ts';
import { parseFindings } from '../../../../src/core/findings/parse/parseFindings.ts';

/** Reads an item in a list of findings: alone, one without a place and a rating would be refused. */
export function readOne(item: unknown): ReportedFinding {
  const sure = { title: 'sure', severity: 'low' };
  const { findings } = parseFindings(JSON.stringify([item, sure, sure]));
  assert.equal(findings.length, 3);
  return findings[0]!;
}

/** An object with one value, at a dotted key. */
function at(key: string, value: unknown): Record<string, unknown> {
  return key.split('.').reduceRight<unknown>((inner, part) => ({ [part]: inner }), value) as Record<
    string,
    unknown
  >;
}

/** Objects with a value under each of some keys, in every spelling. */
export function under(keys: string, value: unknown): Record<string, unknown>[] {
  return keys.split(/\s+/).flatMap((key) => {
    const camel = key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    const spellings = [key, camel, key.replaceAll('_', '-').toUpperCase(), key.replaceAll('_', ' ')];
    return [...new Set(spellings)].map((spelling) => at(spelling, value));
  });
}
