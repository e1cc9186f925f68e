/**
 * Lists the rows of the fault matrix whose number no test has, and exits 1 if there are any. `npm
 * test` checks that the tests with these numbers run.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const here = join(import.meta.dirname, '..');

interface Row {
  readonly number: number;
  readonly title: string;
}

/** Names of tests start with these numbers. */
export function rowsOf(names: Iterable<string>): Set<number> {
  const starts = [...names].map((name) => /^(?:F\d+ )+/.exec(name)?.[0] ?? '');
  return new Set(starts.flatMap((start) => (start.match(/\d+/g) ?? []).map(Number)));
}

export async function untestedRows(tested: ReadonlySet<number>): Promise<readonly Row[]> {
  const text = await readFile(join(here, 'fixtures', 'faultMatrix.md'), 'utf8');
  const rows = [...text.matchAll(/^(\d+)\. (.+)$/gm)];
  return rows
    .map(([, number, title = '']) => ({ number: Number(number), title }))
    .filter(({ number }) => !tested.has(number));
}

/** Skipped and todo tests are omitted. */
function namesIn(source: string): string[] {
  const calls = source.matchAll(/\b(?:test|it|describe|suite)(?:\.only)?\(\s*['"`](F\d[^'"`]*)/g);
  const inTables = source.matchAll(/\[\s*['"`](F\d[^'"`]*)/g);
  const keys = source.matchAll(/^ *['"`](F\d[^'"`]*)['"`]: \{/gm);
  return [...calls, ...inTables, ...keys].map(([, name = '']) => name);
}

if (import.meta.main) {
  const names: string[] = [];
  for (const name of await readdir(here, { recursive: true }))
    if (name.endsWith('.ts')) names.push(...namesIn(await readFile(join(here, name), 'utf8')));
  const untested = await untestedRows(rowsOf(names));
  for (const { number, title } of untested) console.log(`F${number} ${title}`);
  console.log(`${untested.length} rows have no test.`);
  process.exitCode = untested.length === 0 ? 0 : 1;
}
