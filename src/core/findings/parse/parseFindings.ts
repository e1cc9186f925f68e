import { AssessmentError } from '../../errors.ts';
import { readJson } from '../../json.ts';
import { type ReportedFinding, severityRank } from '../finding.ts';
import { findList } from './findList.ts';
import { withoutFence } from './freeText.ts';
import { isPass, readFinding } from './readFinding.ts';
import { itemsOfSarif } from './sarif.ts';

/**
 * Reads a findings file. `sarif` resolves the results of a SARIF log; in any other file, `findList`
 * finds the findings by what they look like. `readFinding` reads an item; fields that it doesn't
 * use go to the block “Other fields”. `rating`, `readLocations`, and `freeText` read the values
 * under the names in `aliases`.
 */

export const maxFindingsBytes = 64 * 1024 * 1024;
const maxFindings = 10_000;
/** Limits the characters of all findings. A file may repeat one text in many locations. */
const maxLength = 256 * 1024 * 1024;
/** Each finding, block, and location counts as this many characters besides its texts. */
const overheadLength = 48;
const maxRawLength = 1_000_000;

export interface ParsedFindings {
  readonly findings: readonly ReportedFinding[];
  readonly isSarif: boolean;
  readonly cut: Cut | undefined;
}

/** Only the `shown` most severe of `total` findings were kept. */
export interface Cut {
  readonly shown: number;
  readonly total: number;
}

/** Throws `malformedFindings` if no list of findings can be read, and `findingsTooLarge`. */
export function parseFindings(text: string): ParsedFindings {
  const root = readJson(withoutFence(text));
  const results = itemsOfSarif(root)?.map((item) => ({ raw: item.raw, finding: readFinding(item) }));
  const list = (results ?? findList(root))?.filter(({ raw }) => !isPass(raw));
  if (list === undefined) throw new AssessmentError('malformedFindings');
  const findings = list
    .map((found, index) => ({ ...found, index, rank: severityRank(found.finding.severity) }))
    .sort((one, other) => one.rank - other.rank)
    .slice(0, maxFindings)
    .sort((one, other) => one.index - other.index)
    .map(({ raw, finding, index }) => {
      const id = finding.id ?? `#${String(index + 1)}`;
      return { ...finding, index, id, raw: toRaw(raw) };
    });
  if (findings.reduce((length, finding) => length + lengthOf(finding), 0) > maxLength)
    throw new AssessmentError('findingsTooLarge');
  const [shown, total] = [findings.length, list.length];
  return { findings, isSarif: results !== undefined, cut: shown < total ? { shown, total } : undefined };
}

function toRaw(raw: unknown): string | undefined {
  try {
    const text = JSON.stringify(raw);
    return text.length > maxRawLength ? undefined : text;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function lengthOf(finding: ReportedFinding): number {
  const { title, description, recommendation, raw = '' } = finding;
  let length = title.length + description.length + recommendation.length + raw.length + overheadLength;
  for (const { text } of finding.blocks) length += text.length + overheadLength;
  for (const { path, snippet = '', label = '' } of finding.locations)
    length += path.length + snippet.length + label.length + overheadLength;
  return length;
}
