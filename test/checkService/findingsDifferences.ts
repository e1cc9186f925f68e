import type { BlockKind } from '../../src/core/findings/finding.ts';
import * as aliases from '../../src/core/findings/parse/aliases.ts';
import { type KeyPath, normalKey } from '../../src/core/json.ts';
import { propertiesOf, type Schema } from './schemaDifferences.ts';

/** A finding requires these parts, which are read from these keys. */
const parts: Readonly<Record<string, readonly KeyPath[]>> = {
  id: aliases.ID,
  title: aliases.TITLE,
  severity: [...aliases.SEVERITY, ...aliases.RANK],
  description: aliases.DESCRIPTION,
  recommendation: textPaths((kind) => kind === 'recommendation'),
  'further prose': textPaths((kind) => kind !== 'recommendation' && kind !== 'details'),
  locations: [...aliases.MAIN_LOCATIONS, ...aliases.OTHER_LOCATIONS].flatMap(({ paths }) => paths),
  file: aliases.FILE,
  'start line': [...aliases.START_LINE, ...aliases.START_POSITION, ...aliases.POSITION_LINE],
  'end line': [...aliases.END_LINE, ...aliases.END_POSITION, ...aliases.LINE_RANGE],
  column: [...aliases.START_COLUMN, ...aliases.END_COLUMN, ...aliases.POSITION_COLUMN],
  snippet: aliases.SNIPPET,
  'note on a place': aliases.LOCATION_LABEL,
  target: aliases.TARGET_INDEX,
  CWE: aliases.CWE,
  CVSS: [...aliases.CVSS_SCORE, ...aliases.SCORE, ...aliases.CVSS_VECTOR],
};

function textPaths(isAsked: (kind: BlockKind) => boolean): readonly KeyPath[] {
  return aliases.BLOCKS.filter(({ kind }) => isAsked(kind)).flatMap(({ paths }) => paths);
}

const NEEDED = ['title', 'severity', 'description', 'file', 'start line'];

/**
 * Compares a published findings schema with our reader: what each property is read as, and what is
 * unread or missing.
 */
export function findingsDifferences(
  schema: Schema,
  needed: readonly string[] = NEEDED,
): { read: string[]; unread: string[]; differences: string[] } {
  const keys = [...namedKeys(schema)];
  const readAs = new Map(keys.map((key) => [key, partsOf(key)]));
  const found = new Set([...readAs.values()].flat());
  return {
    read: keys.flatMap((key) => (partsOf(key).length > 0 ? [`${key}: ${partsOf(key).join(', ')}`] : [])),
    unread: keys
      .filter((key) => readAs.get(key)?.length === 0)
      .map((key) => `${key}: read by nothing, shown among the other fields`),
    differences: [
      ...needed.filter((part) => !found.has(part)).map((part) => `${part}: no property that we read it from`),
      ...severityWords(schema)
        .filter((word) => !aliases.SEVERITY_WORDS.has(word.toLowerCase()))
        .map((word) => `severity ${word}: shown as it came, unrated`),
    ],
  };
}

function partsOf(key: string): string[] {
  const normal = normalKey(key);
  return Object.keys(parts).filter((part) => parts[part]?.some((path) => path.at(-1) === normal));
}

function namedKeys(schema: Schema): Set<string> {
  const keys = new Set<string>();
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [name, each] of Object.entries(propertiesOf(value as Schema))) {
      keys.add(name);
      visit(each);
    }
    for (const [word, each] of Object.entries(value)) if (word !== 'properties') visit(each);
  };
  visit(schema);
  return keys;
}

function severityWords(schema: Schema): string[] {
  const words: string[] = [];
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [name, each] of Object.entries(propertiesOf(value as Schema))) {
      const values = each['enum'];
      if (partsOf(name).includes('severity') && Array.isArray(values)) words.push(...values.map(String));
    }
    Object.values(value).forEach(visit);
  };
  visit(schema);
  return words;
}
