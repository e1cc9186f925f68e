import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { TrendContent } from '../../src/core/report/protocol.ts';

const fixtures = path.join(import.meta.dirname, '..', 'fixtures', 'report');

export const facts = [
  { label: 'State', value: 'Succeeded' },
  { label: 'Duration', value: '3 h 12 min' },
];

export const severities = [
  { severity: 'critical', label: 'Critical', count: 1 },
  { severity: 'high', label: 'High', count: 7 },
  { severity: 'low', label: 'Low', count: 0 },
] as const;

export const changes = {
  label: 'Since the run from Nov 3, 2026',
  counts: [
    { label: 'New', count: 3 },
    { label: 'Fixed', count: 2 },
    { label: 'Unchanged', count: 0 },
  ],
};

/** The report's sample names these locations. */
export const locations = ['src/search.ts:41', 'src/export.ts:7', 'src/plain.ts:3', 'src/検索/入力.ts:8'].map(
  (label, index) => ({
    label,
    index: index + 10,
  }),
);

export const readFidelity = (): Promise<string> => readFile(path.join(fixtures, 'fidelity.md'), 'utf8');

export const readGitHubSample = (): Promise<string> => readFile(path.join(fixtures, 'github.md'), 'utf8');

const critical = { kind: 'critical', label: 'Critical', count: 2 } as const;
export const trend: TrendContent = {
  notes: ['The counts use today’s triage decisions.'],
  headings: ['Run', 'Reported', 'Of these, closed', 'Cause unknown', 'Code changed'],
  legend: 'Findings by run',
  rows: [
    {
      label: 'Nov 3, 2026',
      notes: ['Covers 1 of 2 folders.'],
      counts: ['2 (Critical: 2)', '0', '3', '5'],
      segments: [
        critical,
        { kind: 'unexplained', label: 'Cause unknown', count: 3 },
        { kind: 'review', label: 'Code changed', count: 5 },
      ],
    },
    {
      label: 'Nov 1, 2026',
      notes: [],
      counts: ['20 (Critical: 2, High: 18)', '5', '0', '0'],
      segments: [
        critical,
        { kind: 'high', label: 'High', count: 13 },
        { kind: 'closed', label: 'Closed', count: 5 },
      ],
    },
  ],
};
