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

/** Severities are as read and as written. Locations have their roles. */
const lineOf = ({ title, severity, severityText, cwes, locations }: ReportedFinding): string =>
  [
    title,
    severityText === undefined ? severity : `${severity} (${severityText})`,
    ...cwes,
    ...locations.map(({ path, startLine, endLine, role }) =>
      [path, [startLine, endLine].filter((line) => line !== undefined).join('-'), role ?? '']
        .join(' ')
        .trimEnd(),
    ),
  ].join(' | ');

for (const [sample, lines] of Object.entries({
  'sarif-2.1.0.json': [
    'SQL query built from user-controlled sources | critical (9.1) | 89 | shop/orders.py 41-42 | shop/views.py 12 step | shop/query.py 7 step | shop/orders.py 41 step | shop/views.py 12 related',
    'Weak hash | medium (warning) | 327 | shop/users.py 9',
    'style | low (note)',
  ],
  'semgrep.json': [
    'python.django.security.injection.sql | high (ERROR) | 89 | shop/orders.py 41-42',
    'generic.secrets.password | medium (WARNING) | 798 | settings.py 3-3',
  ],
  'llm-review.json': [
    'authentication_bypass | high | src/session.ts 27',
    'information_exposure | unrated (Showstopper) | src/log.ts 8-10',
  ],
  'whitebox-english.json': [
    'Order lookup is open to SQL injection | critical | 89 | 20 | shop/orders.py 41-42 | shop/views.py 12',
    'Server header names the version | none',
    'Debug mode | low | settings.py 3 | deploy/Dockerfile',
  ],
  'whitebox-japanese.json': [
    'SQLインジェクション | critical (重大) | 89 | shop/注文.py 41',
    '認可の不備 | high (高) | shop/views.py 12-20',
    '弱いハッシュ | medium (中) | shop/users.py 9-11',
    '詳細なエラー | low (低)',
    'バージョンの表示 | none (なし)',
  ],
}))
  test(`the sample ${sample} is read completely`, async () => {
    assert.deepEqual((await readSample(sample)).map(lineOf), lines);
  });

test('the texts and positions of samples are read', async () => {
  const [sarif] = await readSample('sarif-2.1.0.json');
  const details = 'A query that contains user input can be changed by the user.';
  assert.deepEqual(
    [sarif?.description, sarif?.recommendation, sarif?.blocks],
    [
      'This query depends on a user-provided value.',
      'Use **query parameters**.',
      [{ kind: 'details', text: details }],
    ],
  );
  const [main, , joined, , related] = sarif?.locations ?? [];
  assert.deepEqual([main?.startColumn, main?.endColumn, main?.snippet], [5, 30, 'cursor.execute(query)']);
  assert.deepEqual([related?.label, joined?.label], ['user-provided value', 'joined here']);

  const [whitebox] = await readSample('whitebox-english.json');
  assert.deepEqual(whitebox?.blocks, [
    { kind: 'impact', text: 'All orders can be read.' },
    { kind: 'attackScenario', text: 'Send `1 OR 1=1`.' },
    { kind: 'reproductionSteps', text: '1. Sign in.\n2. Open /orders?number=1%20OR%201=1.' },
    { kind: 'other', text: '- ` cvss.version `: 3.1' },
  ]);
  assert.equal(whitebox.recommendation, 'Use parameters.\n1. Change the query.\n2. Add a test.');
});
