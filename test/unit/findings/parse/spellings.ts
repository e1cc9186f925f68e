import assert from 'node:assert/strict';
import type { ReportedFinding } from '../../../../src/core/findings/finding.ts';
import { parseFindings } from '../../../../src/core/findings/parse/parseFindings.ts';

/** Reads an item in a list of findings: alone, one without a place and a rating would be refused. */
export function readOne(item: unknown): ReportedFinding {
  const sure = { title: 'sure', severity: 'low' };
  const { findings } = parseFindings(JSON.stringify([item, sure, sure]), { runId: 'run' });
  assert.equal(findings.length, 3);
  return findings[0]!;
}

/** An object with one value, at a dotted key. */
export function at(key: string, value: unknown): Record<string, unknown> {
  return key.split('.').reduceRight<unknown>((inner, part) => ({ [part]: inner }), value) as Record<
    string,
    unknown
  >;
}

/** All spellings of a key. */
export function spellings(key: string): string[] {
  const camel = key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return [...new Set([key, camel, key.replaceAll('_', '-').toUpperCase(), key.replaceAll('_', ' ')])];
}

/** Every spelling of the keys of a row. */
export const keysOf = (row: string): string[] => row.split(/\s+/).flatMap(spellings);
