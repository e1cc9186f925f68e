import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import type { ReportedFinding } from '../../../../src/core/findings/finding.ts';
import { parseFindings } from '../../../../src/core/findings/parse/parseFindings.ts';

async function readSample(name: string): Promise<readonly ReportedFinding[]> {
  const text = await readFile(new URL(`../../../fixtures/findings/${name}`, import.meta.url), 'utf8');
  const { findings, cut } = parseFindings(text);
  assert.equal(cut, undefined);
  for (const { shortfall } of findings) assert.equal(shortfall, undefined);
  return findings;
}

const placesOf = ({ places }: ReportedFinding) =>
  places.map(({ path, startLine, endLine, role }) => [path, startLine, endLine, role]);

test('SARIF 2.1.0: results of all runs are read with texts of their rules', async () => {
  const [injection, hash, style, ...others] = await readSample('sarif-2.1.0.json');
  assert.deepEqual(others, []);
  assert.equal(injection?.title, 'SQL query built from user-controlled sources');
  assert.deepEqual([injection.severity, injection.severityText, injection.cwes], ['critical', '9.1', [89]]);
  assert.equal(injection.description, 'This query depends on a user-provided value.');
  assert.deepEqual(injection.blocks, [
    { kind: 'details', text: 'A query that contains user input can be changed by the user.' },
  ]);
  assert.equal(injection.recommendation, 'Use **query parameters**.');
  assert.deepEqual(placesOf(injection), [
    ['shop/orders.py', 41, 42, undefined],
    ['shop/views.py', 12, undefined, 'step'],
    ['shop/query.py', 7, undefined, 'step'],
    ['shop/orders.py', 41, undefined, 'step'],
    ['shop/views.py', 12, undefined, 'related'],
  ]);
  const [main, , joined, , related] = injection.places;
  assert.deepEqual([main?.startColumn, main?.endColumn, main?.snippet], [5, 30, 'cursor.execute(query)']);
  assert.deepEqual([related?.label, joined?.label], ['user-provided value', 'joined here']);

  assert.deepEqual([hash?.title, hash?.severity, hash?.cwes], ['Weak hash', 'medium', [327]]);
  assert.deepEqual(
    [style?.title, style?.severity, style?.severityText, style?.places],
    ['style', 'low', 'note', []],
  );
});

test('Semgrep JSON: the fields under extra are read', async () => {
  const [injection, password, ...others] = await readSample('semgrep.json');
  assert.deepEqual(others, []);
  assert.equal(injection?.title, 'python.django.security.injection.sql');
  assert.deepEqual([injection.severity, injection.severityText, injection.cwes], ['high', 'ERROR', [89]]);
  assert.equal(injection.description, 'Data from request is passed to execute().');
  assert.equal(injection.recommendation, 'cursor.execute(query, [number])');
  assert.deepEqual(placesOf(injection), [['shop/orders.py', 41, 42, undefined]]);
  assert.deepEqual([injection.places[0]?.startColumn, injection.places[0]?.endColumn], [5, 30]);
  assert.equal(injection.places[0]?.snippet, '    cursor.execute(\n        query)');
  assert.deepEqual(
    [password?.severity, password?.cwes, password && placesOf(password)],
    ['medium', [798], [['settings.py', 3, 3, undefined]]],
  );
});

test('Semgrep JSON: the placeholder that its CLI writes without an account is no snippet', () => {
  const result = {
    check_id: 'a',
    path: 'a.py',
    start: { line: 1 },
    extra: { message: 'm', lines: 'requires login' },
  };
  const { findings } = parseFindings(JSON.stringify({ results: [result] }));
  assert.equal(findings[0]?.places[0]?.snippet, undefined);
});

test('a review by a language model is read', async () => {
  const [bypass, exposure, ...others] = await readSample('llm-review.json');
  assert.deepEqual(others, []);
  assert.deepEqual([bypass?.title, bypass?.severity], ['authentication_bypass', 'high']);
  assert.equal(bypass?.recommendation, 'Compare with timingSafeEqual.');
  assert.deepEqual(bypass.blocks, [{ kind: 'exploitScenario', text: 'Send an empty cookie.' }]);
  assert.deepEqual(placesOf(bypass), [['src/session.ts', 27, undefined, undefined]]);
  assert.deepEqual([exposure?.severity, exposure?.severityText], ['unrated', 'Showstopper']);
  assert.equal(exposure?.recommendation, '- Remove the line.\n- Rotate the passwords.');
  assert.deepEqual(placesOf(exposure), [['src/log.ts', 8, 10, undefined]]);
});

test('the English whitebox sample is read completely', async () => {
  const [injection, header, debug, ...others] = await readSample('whitebox-english.json');
  assert.deepEqual(others, []);
  assert.deepEqual([injection?.id, injection?.severity, injection?.cwes], ['WB-1', 'critical', [89, 20]]);
  assert.deepEqual(injection?.cvss, { score: 9.8, vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H' });
  assert.deepEqual(injection.blocks, [
    { kind: 'impact', text: 'All orders can be read.' },
    { kind: 'attackScenario', text: 'Send `1 OR 1=1`.' },
    { kind: 'reproductionSteps', text: '1. Sign in.\n2. Open /orders?number=1%20OR%201=1.' },
    { kind: 'other', text: '- ` cvss.version `: 3.1' },
  ]);
  assert.equal(injection.recommendation, 'Use parameters.\n1. Change the query.\n2. Add a test.');
  assert.deepEqual(placesOf(injection), [
    ['shop/orders.py', 41, 42, undefined],
    ['shop/views.py', 12, undefined, undefined],
  ]);
  assert.equal(injection.places[1]?.label, 'the number comes from here');
  assert.deepEqual([header?.severity, header?.places], ['none', []]);
  assert.ok(debug);
  assert.equal(debug.severity, 'low');
  assert.deepEqual(placesOf(debug), [
    ['settings.py', 3, undefined, undefined],
    ['deploy/Dockerfile', undefined, undefined, undefined],
  ]);
});

test('the Japanese whitebox sample is read completely', async () => {
  const findings = await readSample('whitebox-japanese.json');
  assert.deepEqual(
    findings.map(({ id, title, severity, severityText }) => [id, title, severity, severityText]),
    [
      ['1', 'SQLインジェクション', 'critical', '重大'],
      ['2', '認可の不備', 'high', '高'],
      ['3', '弱いハッシュ', 'medium', '中'],
      ['4', '詳細なエラー', 'low', '低'],
      ['5', 'バージョンの表示', 'none', 'なし'],
    ],
  );
  assert.equal(findings[0]?.recommendation, 'プレースホルダーを使ってください。');
  assert.deepEqual(
    findings.map((finding) => placesOf(finding)),
    [
      [['shop/注文.py', 41, undefined, undefined]],
      [['shop/views.py', 12, 20, undefined]],
      [['shop/users.py', 9, 11, undefined]],
      [],
      [],
    ],
  );
});
