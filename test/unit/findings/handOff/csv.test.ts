import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import Papa from 'papaparse';
import { readCsv, toCsv } from '../../../../src/core/findings/handOff/csv.ts';
import type { Finding } from '../../../../src/core/findings/finding.ts';
import { parseFindings } from '../../../../src/core/findings/parse/parse.ts';
import { anyItems, anyTriage, sourceOf } from '../handOff.ts';

const saidOfFinding = [
  'id',
  'title',
  'severity',
  'severityText',
  'description',
  'recommendation',
  'cwes',
] as const;
const saidOfPlace = ['path', 'startLine', 'endLine', 'startColumn', 'endColumn', 'snippet'] as const;

/** What a row says of a finding. */
function told(finding: Finding): unknown {
  const [place] = finding.places;
  const at = Object.fromEntries(saidOfPlace.map((key) => [key, place?.[key]]));
  const said = Object.fromEntries(saidOfFinding.map((key) => [key, finding[key]]));
  return { ...said, cvss: { ...finding.cvss }, at };
}

function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

describe('CSV', () => {
  test('reading a table gives what its rows say, character by character', () => {
    fc.assert(
      fc.property(anyItems, anyTriage, (items, triage) => {
        const source = sourceOf(items, () => triage);
        const rows = readCsv(toCsv(source));
        const read = parseFindings(JSON.stringify(rows.map((row) => Object.fromEntries(row))), {
          runId: 'run',
        });
        assert.deepEqual(
          read.findings.map((finding) => plain(told(finding))),
          source.shown.map(({ finding }) => plain(told(finding))),
        );
        for (const row of rows) assert.equal(row.get('triage_note') ?? '', triage.note);
      }),
      { numRuns: 1_000 },
    );
  });

  test('no cell begins a formula, in any spelling that spreadsheets know', () => {
    const starts = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];
    const source = sourceOf(
      starts.map((start) => ({
        title: 'x',
        description: 'd',
        impact: 'i',
        file: 'a.js',
        snippet: `${start}HYPERLINK("https://evil.example")`,
      })),
    );
    const { data } = Papa.parse<string[]>(toCsv(source).slice(1).trimEnd());
    assert.equal(data.length, starts.length + 1);
    for (const cell of data.flat()) assert.ok(!/^[=+\-@\t\r\n＝＋－＠]/.test(cell), JSON.stringify(cell));
  });

  test('a table is UTF-8 with a mark that spreadsheets need for Japanese, one row per finding', () => {
    const text = toCsv(
      sourceOf([{ title: 'SQL インジェクション', severity: 'high', file: 'a.js', description: 'a\nb' }]),
    );
    assert.ok(text.startsWith('\uFEFFid,title,severity,'));
    assert.ok(text.includes('SQL インジェクション'));
    assert.equal(readCsv(text).length, 1);
  });

  test('a cell is never longer than a spreadsheet takes', () => {
    const text = toCsv(sourceOf([{ title: 'x', file: 'a.js', description: 'あ'.repeat(60_000) }]));
    assert.equal(readCsv(text)[0]?.get('description')?.length, 32_000);
  });

  for (const text of ['', 'a,b\n1,2', 'title,severity,file\n"open', '\u0000\u0001'])
    test(`a text that is no table of ours is refused: ${JSON.stringify(text)}`, () => {
      assert.throws(() => readCsv(text), { kind: 'malformedFindings' });
    });
});
