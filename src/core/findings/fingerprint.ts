import { hash } from 'node:crypto';
import type { Finding } from './finding.ts';
import { compact } from './drift/lineText.ts';
import type { Subject } from './place/subjects.ts';

/** The way these names are made; another way gets another number, so that old and new names are never taken for each other. */
const scheme = '1';
const maxSnippet = 10_000;

/**
 * Names that stay the same from run to run while code moves: of CWE, else title (which is the rule’s where a tool has rules), of path, and of the snippet with white space aside,
 * counted among equals from the top of the file down. They depend on nothing but the findings file and what was sent, so that they are the
 * same on every machine that knows both. One for each finding, in their order; `subjects` are what the findings are about.
 */
export function* fingerprintsOf(
  findings: readonly Finding[],
  subjects: readonly Subject[],
): Generator<undefined, readonly string[]> {
  const groups = new Map<string, { readonly name: string; readonly members: number[] }>();
  for (const [index, finding] of findings.entries()) {
    const { folder = '', path = '' } = subjects[index] ?? {};
    const name = JSON.stringify([
      kindOf(finding),
      path,
      compact(finding.places[0]?.snippet ?? '').slice(0, maxSnippet),
    ]);
    const key = `${name}${folder}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { name, members: [index] });
    else group.members.push(index);
    yield;
  }
  const lineOf = (index: number): number => findings[index]?.places[0]?.startLine ?? 0;
  const fingerprints: string[] = [];
  for (const { name, members } of groups.values()) {
    // Their lines only say which comes first: that stays when code above them grows.
    members.sort((one, other) => lineOf(one) - lineOf(other) || one - other);
    for (const [ordinal, index] of members.entries()) {
      const digits = hash('sha256', `${name}${String(ordinal)}`, 'hex');
      fingerprints[index] = `${scheme}:${digits.slice(0, 32)}`;
      yield;
    }
  }
  return fingerprints;
}

function kindOf({ cwes: [cwe], title }: Finding): string {
  return cwe === undefined ? title : `CWE-${String(cwe)}`;
}
