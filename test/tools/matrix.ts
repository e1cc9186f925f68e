/** Lists the rows of the fault matrix without a test of their number, optionally only `--rows 32-66,83-96`; exits 1 if there are any. `npm test` checks that these tests run. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const here = join(import.meta.dirname, '..');

interface Row {
  readonly number: number;
  readonly title: string;
}

function readRows(text: string): Row[] {
  return [...text.matchAll(/^(\d+)\. (.+)$/gm)].map(([, number, title]) => ({
    number: Number(number),
    title: title ?? '',
  }));
}

/** The numbers in `32-66,83`; throws on anything else. */
function readRanges(text: string): Set<number> {
  const numbers = new Set<number>();
  for (const range of text.split(',')) {
    const [, first, last] = /^\s*(\d+)(?:-(\d+))?\s*$/.exec(range) ?? [];
    if (first === undefined) throw new Error(`Not a range of rows: ${range}`);
    for (let number = Number(first); number <= Number(last ?? first); number += 1) numbers.add(number);
  }
  return numbers;
}

/** The numbers that names of tests start with. */
export function rowsOf(names: Iterable<string>): Set<number> {
  const starts = [...names].map((name) => /^(?:F\d+ )+/.exec(name)?.[0] ?? '');
  return new Set(starts.flatMap((start) => (start.match(/\d+/g) ?? []).map(Number)));
}

/** The rows of the matrix that are not tested, among the `wanted` ones. */
export async function untestedRows(
  tested: ReadonlySet<number>,
  wanted?: ReadonlySet<number>,
): Promise<readonly Row[]> {
  const rows = readRows(await readFile(join(here, 'fixtures', 'faultMatrix.md'), 'utf8'));
  return rows.filter(({ number }) => (wanted?.has(number) ?? true) && !tested.has(number));
}

/** The names of tests in a file, except skipped and todo ones. */
function namesIn(source: string): string[] {
  const calls = source.matchAll(/\b(?:test|it|describe|suite)(?:\.only)?\(\s*['"`](F\d[^'"`]*)/g);
  const inTables = source.matchAll(/\[\s*['"`](F\d[^'"`]*)/g);
  const keys = source.matchAll(/^ *['"`](F\d[^'"`]*)['"`]: \{/gm);
  return [...calls, ...inTables, ...keys].map(([, name = '']) => name);
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { rows: { type: 'string' } } });
  const names: string[] = [];
  for (const name of await readdir(here, { recursive: true }))
    if (name.endsWith('.ts')) names.push(...namesIn(await readFile(join(here, name), 'utf8')));
  const wanted = values.rows === undefined ? undefined : readRanges(values.rows);
  const untested = await untestedRows(rowsOf(names), wanted);
  for (const { number, title } of untested) console.log(`F${number} ${title}`);
  console.log(`${untested.length} rows have no test.`);
  process.exitCode = untested.length === 0 ? 0 : 1;
}
