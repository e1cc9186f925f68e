import { BLOCKS, DESCRIPTION, RECOMMENDATION, SUMMARY } from '../parse/aliases.ts';
import type { BlockKind, Finding } from '../finding.ts';
import { severityOf } from '../parse/rating.ts';
import { type JsonObject, type KeyPath, isObject } from '../parse/readValue.ts';

/** A finding under names of the reader's own table: `parseFindings` makes the same finding of it again, `raw` aside. */
export function toPlainFinding(finding: Finding): JsonObject {
  const { description, recommendation } = finding;
  const blocksOf = (wanted: BlockKind): string[] =>
    finding.blocks.filter(({ kind }) => kind === wanted).map(({ text }) => text);
  const descriptions = [description, ...blocksOf('details')];
  // A summary stands beside a description that says the same, or that is not there.
  const last = descriptions.pop() ?? '';
  const isSummary = descriptions.includes(last) || descriptions[0] === '';
  const parts: readonly (readonly [KeyPath, unknown])[] = [
    [['id'], finding.id],
    [['title'], finding.title],
    ...Object.entries(writtenRating(finding)).map(([key, text]) => [[key], text] as const),
    ...underPaths(DESCRIPTION, isSummary ? descriptions : [...descriptions, last]),
    ...underPaths(SUMMARY, isSummary ? [last] : []),
    // Wrapped, so that no text is taken for a rating or a path.
    ...BLOCKS.flatMap(({ kind, paths }) =>
      underPaths(paths, blocksOf(kind)).map(([path, text]) => [path, { text }] as const),
    ),
    ...underPaths(RECOMMENDATION, [recommendation, ...blocksOf('recommendation')]),
    [['locations'], finding.places],
    [['cwes'], finding.cwes],
    [['cvss'], finding.cvss],
  ];
  return parts
    .filter(([, value]) => value !== undefined && value !== '')
    .reduce<JsonObject>((plain, [path, value]) => withValue(plain, path, value), {});
}

/** A rating as it was written, under a name where it is read as the same again: a number that is no score counts as a priority. */
export function writtenRating({
  severity,
  severityText,
}: Finding): Partial<Record<'severity' | 'priority', string>> {
  if (severityText === undefined) return severity === 'unrated' ? {} : { severity };
  const read = severityOf(severityText);
  return read === undefined || read === severity ? { severity: severityText } : { priority: severityText };
}

/** Texts under the aliases of one target, in their order: there are no more texts than aliases to read them from. */
function underPaths(paths: readonly KeyPath[], texts: readonly string[]): [KeyPath, string][] {
  return texts.map((text, at) => [paths[at] ?? [], text]);
}

function withValue(object: JsonObject, [key = '', ...deeper]: KeyPath, value: unknown): JsonObject {
  const inner = object[key];
  return {
    ...object,
    [key]: deeper.length === 0 ? value : withValue(isObject(inner) ? inner : {}, deeper, value),
  };
}
