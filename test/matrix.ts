/** Lists the rows of the fault matrix that no test is named after; `--rows 32-66,83-96` looks at a part. Exits 1 when there are any. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

interface Row {
  readonly number: number;
  readonly title: string;
}

/** The rows of the matrix, as they are numbered. */
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

/** The row numbers that names of tests in a file start with; what is always skipped or still to do tests no row. */
function testedRows(source: string): number[] {
  const names = source.matchAll(/\b(?:test|it|describe|suite)(?:\.only)?\(\s*['"`]((?:F\d+ )+)/g);
  const inTables = source.matchAll(/\[\s*['"`]((?:F\d+ )+)/g);
  return [...names, ...inTables].flatMap(([, numbers = '']) => (numbers.match(/\d+/g) ?? []).map(Number));
}

const { values } = parseArgs({ options: { rows: { type: 'string' } } });
const here = import.meta.dirname;
const rows = readRows(await readFile(join(here, 'fixtures', 'faultMatrix.md'), 'utf8'));
const wanted =
  values.rows === undefined ? new Set(rows.map(({ number }) => number)) : readRanges(values.rows);

const tested = new Set<number>();
for (const name of await readdir(here, { recursive: true })) {
  if (!name.endsWith('.ts')) continue;
  for (const number of testedRows(await readFile(join(here, name), 'utf8'))) tested.add(number);
}

const untested = rows.filter(({ number }) => wanted.has(number) && !tested.has(number));
for (const { number, title } of untested) console.log(`F${number} ${title}`);
console.log(`${untested.length} of ${wanted.size} rows have no test.`);
process.exitCode = untested.length === 0 ? 0 : 1;
