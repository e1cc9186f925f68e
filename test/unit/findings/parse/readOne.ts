import assert from 'node:assert/strict';
import type { ReportedFinding } from '../../../../src/core/findings/finding.ts';
import { parseFindings } from '../../../../src/core/findings/parse/parseFindings.ts';

/**
 * Reads an item in a list of findings: alone, one without a location and a rating would be refused.
 */
export function readOne(item: unknown): ReportedFinding {
  const sure = { title: 'sure', severity: 'low' };
  const { findings } = parseFindings(JSON.stringify([item, sure, sure]));
  assert.equal(findings.length, 3);
  return findings[0]!;
}
