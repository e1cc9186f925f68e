import { readFile } from 'node:fs/promises';
import path from 'node:path';

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

/** The code that the report's sample names. */
export const places = ['src/search.ts:41', 'src/export.ts:7', 'src/plain.ts:3', 'src/検索/入力.ts:8'].map(
  (label, index) => ({
    label,
    index: index + 10,
  }),
);

export const readFidelity = (): Promise<string> => readFile(path.join(fixtures, 'fidelity.md'), 'utf8');

export const readGitHubSample = (): Promise<string> => readFile(path.join(fixtures, 'github.md'), 'utf8');
