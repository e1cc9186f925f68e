import { BLOCKS, DESCRIPTION, RECOMMENDATION } from '../parse/aliases.ts';
import type { BlockKind, Finding } from '../finding.ts';
import type { KeyPath } from '../parse/readValue.ts';

/** A finding under plain names of the reader's own table: `parseFindings` makes the same finding of it again, `raw` aside. */
export function toPlainFinding(finding: Finding): Record<string, unknown> {
  const { severity, severityText, description, recommendation } = finding;
  const blocksOf = (wanted: BlockKind): string[] =>
    finding.blocks.filter(({ kind }) => kind === wanted).map(({ text }) => text);
  const parts: readonly (readonly [string, unknown])[] = [
    ['id', finding.id],
    ['title', finding.title],
    // What could not be read as a rating keeps its own words.
    ['severity', severityText ?? (severity === 'unrated' ? undefined : severity)],
    ...underKeys(DESCRIPTION, [description, ...blocksOf('details')]),
    // Wrapped, so that no text is taken for a rating or a path.
    ...BLOCKS.flatMap(({ kind, paths }) =>
      underKeys(paths, blocksOf(kind)).map(([key, text]) => [key, { text }] as const),
    ),
    ...underKeys(RECOMMENDATION, [recommendation, ...blocksOf('recommendation')]),
    ['locations', finding.places],
    ['cwes', finding.cwes],
    ['cvss', finding.cvss],
  ];
  return Object.fromEntries(parts.filter(([, value]) => value !== undefined && value !== ''));
}

/** Texts under the aliases of one target, in their order; what is left over goes with the last one. */
function underKeys(paths: readonly KeyPath[], texts: readonly string[]): [string, string][] {
  const keys = paths.filter(({ length }) => length === 1).map(([key = '']) => key);
  const last = keys.length - 1;
  return texts
    .slice(0, keys.length)
    .map((text, at) => [keys[at] ?? '', at === last ? texts.slice(at).join('\n\n') : text]);
}
