import path from 'node:path';
import { defineConfig } from '@playwright/test';

const root = path.resolve(import.meta.dirname, '../..');
const results = path.join(root, 'test-results');

export default defineConfig({
  projects: [
    { name: 'browser', testMatch: '{browser,tools}/*.test.ts' },
    { name: 'e2e', testMatch: '{demo,e2e,e2e/*}/*.test.ts' },
  ],
  testDir: path.join(root, 'test'),
  workers: 2,
  timeout: 120_000,
  outputDir: path.join(results, 'failed'),
  reporter: [['list'], ['json', { outputFile: path.join(results, 'results.json') }]],
  // Of what failed, a picture of every window and all that was done to it; pictures of every step would take longer than the tests.
  use: {
    screenshot: 'only-on-failure',
    trace: { mode: 'retain-on-failure', snapshots: false, screenshots: false },
  },
});
