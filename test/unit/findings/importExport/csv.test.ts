import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import Papa from 'papaparse';
import { visibleText } from '../../../../src/core/visibleText.ts';
import { toCsv } from '../../../../src/core/findings/importExport/csv.ts';
import { anyItems, anyTriage, sourceOf } from './exportingFindings.ts';
import { propertyRuns } from '../../core/propertyRuns.ts';

/** Removes the marks against formulas. */
const plain = (text: string): string => text.replaceAll(/'+(?=[=+\-@\t\r\n＝＋－＠])/g, '');

function rowsOf(text: string): readonly Record<string, string>[] {
  const { data } = Papa.parse<Record<string, string>>(text.slice(1), { header: true, skipEmptyLines: true });
  return data.map((row) =>
    Object.fromEntries(Object.entries(row).map(([name, cell]) => [name, plain(cell)])),
  );
}

describe('CSV', () => {
  test('lists findings that are no longer reported below the others, each with its verdict', () => {
    const verdict = 'notUploaded' as const;
    const absent = sourceOf([{ title: 'B', cwe: 1 }]).shown.map((each) => ({ ...each, verdict }));
    const rows = rowsOf(toCsv({ ...sourceOf([{ title: 'A', cwe: 1 }]), absent }));
    const verdicts = rows.map((row) => `${row['title'] ?? ''} ${row['verdict'] ?? ''}`);
    assert.deepEqual(verdicts, ['A ', 'B notUploaded']);
  });

  test('has all fields of a finding, without invisible characters that a terminal may obey', () => {
    fc.assert(
      fc.property(anyItems, anyTriage, (items, triage) => {
        const source = sourceOf(items, () => triage);
        const fields = ['title', 'description', 'snippet', 'file', 'triage_note'];
        assert.deepEqual(
          rowsOf(toCsv(source)).map((row) => fields.map((field) => row[field])),
          source.shown.map(({ finding: { title }, details: { description, locations } }) =>
            [title, description, locations[0]?.snippet ?? '', locations[0]?.path ?? '', triage.note].map(
              (each) => plain(visibleText(each)),
            ),
          ),
        );
      }),
      { numRuns: propertyRuns(200) },
    );
  });

  test('F152 has no cell that begins a formula, whatever the separator', () => {
    const signs = ['=', '+', '-', '@', '＝', '＋', '－', '＠'];
    const parts = [...signs, ',', ';', '|', '\t', '\r', '\n', '"', ' ', "'", 'a', '1'];
    const text = fc.array(fc.constantFrom(...parts)).map((chosen) => chosen.join(''));
    fc.assert(
      fc.property(text, text, (title, note) => {
        const decide = () => ({ state: 'acceptedRisk', note, at: 0 }) as const;
        const table = toCsv(sourceOf([{ title, description: 'd', file: 'a.js' }], decide));
        const lines = table.slice(1).split(/[\r\n]+/);
        for (const separator of [',', ';', '\t', '|'])
          for (const cell of lines.flatMap((line) => line.split(separator)))
            assert.doesNotMatch(cell, /^"{0,8}[=+\-@＝＋－＠]/, JSON.stringify([separator, table]));
      }),
      { numRuns: propertyRuns(300) },
    );
  });

  test('is UTF-8 with BOM, one row per finding, with what a live finding has', () => {
    const live = { feature_name: 'Search', perspective: 'XSS', method: 'GET', url: 'https://shop.example/s' };
    const text = toCsv(sourceOf([{ title: 'SQL インジェクション', description: 'a\nb', ...live }]));
    assert.ok(text.startsWith('\uFEFF"id","title","severity",'));
    const [{ title, feature, perspective, method, url } = {}, ...others] = rowsOf(text);
    const seen = [title, feature, perspective, method, url, others];
    assert.deepEqual(seen, ['SQL インジェクション', ...Object.values(live), []]);
  });

  test('cuts cells at the spreadsheet limit', () => {
    const text = toCsv(sourceOf([{ title: 'x', file: 'a.js', description: 'あ'.repeat(60_000) }]));
    assert.equal(rowsOf(text)[0]?.['description']?.length, 32_000);
  });
});
