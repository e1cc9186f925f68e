import path from 'node:path';
import { defineConfig } from '@playwright/test';
import type { OfFile } from './fixtures.ts';

const root = path.resolve(import.meta.dirname, '../..');
const results = path.join(root, 'test-results');
const failed = path.join(results, 'failed');

/**
 * The web workbench sometimes starts its extension host twice, and then shows nothing that the
 * first one registered. `test/run.ts` lists the tests that passed only in the retry.
 */
const retries = 1;

export default defineConfig<object, OfFile>({
  // The folders are separate, since a run empties its folder at the start.
  projects: [
    { name: 'browser', testMatch: '{browser,tools}/*.test.ts', outputDir: path.join(failed, 'browser') },
    {
      name: 'e2e',
      testMatch: '{demo,e2e,e2e/*}/*.test.ts',
      outputDir: path.join(failed, 'e2e'),
      retries,
    },
    {
      name: 'windowsE2e',
      // The whole job with its report after a reload, and a live application, are tested in
      // Windows, too.
      testMatch: 'e2e/{runs/mainJob,blackbox/liveApplication}.test.ts',
      grep: /the demo|restored after a reload/,
      // A process in Wine starts several times slower.
      timeout: 600_000,
      outputDir: path.join(failed, 'windowsE2e'),
      retries,
      workers: 1,
      use: { windows: true },
    },
  ],
  testDir: path.join(root, 'test'),
  workers: 2,
  timeout: 300_000,
  reporter: [['list'], ['json', { outputFile: path.join(results, 'results.json') }]],
  // Failures have a screenshot of every window and a trace; screenshots of every step would take
  // longer than the tests.
  use: {
    screenshot: 'only-on-failure',
    trace: { mode: 'retain-on-failure', snapshots: false, screenshots: false },
  },
});
