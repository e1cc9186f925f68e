import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { installedVariable, installPackaged } from '../../e2e/stage.ts';
import { prepareBrowser } from '../../host/chromium.ts';
import type { JSONReport, JSONReportSuite } from '@playwright/test/reporter';
import type { Tally } from '../../integration/runner/results.ts';
import { literally } from './nodeTests.ts';
import type { Results } from './result.ts';

/** Runs a Playwright project; failures have a screenshot and a trace. */
export async function runPlaywright(project: string, results: Results, grep?: string): Promise<Tally> {
  // The extension is installed once, for all stages to copy.
  if (project !== 'browser') {
    const installed = await mkdtemp(path.join(tmpdir(), 'installed-'));
    await installPackaged(installed);
    process.env[installedVariable] = installed;
  }
  // The browser is prepared before the time limits of tests begin.
  await prepareBrowser();
  const reportFile = 'test-results/results.json';
  await rm(reportFile, { force: true });
  const { resolve } = createRequire(import.meta.url);
  const cli = path.join(path.dirname(resolve('@playwright/test/package.json')), 'cli.js');
  const args = ['--config', 'test/e2e', '--project', project, '--pass-with-no-tests'];
  if (grep !== undefined) args.push('--grep', literally(grep));
  const playwright = spawn(process.execPath, [cli, 'test', ...args], { stdio: 'inherit' });
  // After SIGINT, Playwright ends its browsers and servers.
  process.once('exit', () => playwright.kill('SIGINT'));
  await once(playwright, 'exit');
  const report = JSON.parse(await readFile(reportFile, 'utf8')) as JSONReport;
  noteSuites(report.suites, path.relative('', report.config.rootDir), results);
  for (const { message } of report.errors) results.fail(project, message);
  // Tests after a failed one in a serial suite count as skipped.
  const { expected, unexpected, skipped, flaky } = report.stats;
  return { passed: expected + flaky, failed: unexpected + report.errors.length, skipped };
}

function noteSuites(suites: readonly JSONReportSuite[], root: string, results: Results): void {
  for (const suite of suites) {
    for (const { title, tests } of suite.specs) {
      if (tests.every(({ status }) => status === 'expected' || status === 'flaky'))
        results.passedNames.add(title);
      for (const { status, results: runs } of tests) {
        if (status === 'unexpected') results.fail(title, runs.at(-1)?.error?.message);
        if (status === 'flaky') results.passAgain(title);
        for (const { duration } of runs) results.took(path.join(root, suite.file), duration);
      }
    }
    noteSuites(suite.suites ?? [], root, results);
  }
}
