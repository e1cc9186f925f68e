// `npm run test:desktop` runs the integration tests in a desktop VS Code, which
// @vscode/test-electron downloads.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { inspect, parseArgs } from 'node:util';
import { downloadAndUnzipVSCode, runTests } from '@vscode/test-electron';
import { bundleIntegrationTests } from '../integration/runner/bundle.ts';
import { certificateEnvironment } from '../integration/network/certificates.ts';
import { grepVariable, resultsVariable, storageVariable } from '../integration/events.ts';
import { addTallies, followResults, type Tally } from '../integration/runner/results.ts';
import { activationWatchFolder, storageUnder, testWindows } from '../integration/runner/windows.ts';
import { cacheRoot } from './installOnce.ts';
import { writeUserSettings } from './settings.ts';

/**
 * Runs the integration tests in a desktop VS Code of this version (`stable`, `insiders` or 1.X.Y).
 */
async function runDesktop(version: string, grep: string | undefined): Promise<Tally> {
  const vscodeExecutablePath = await download(version);
  const scratch = await mkdtemp(path.join(tmpdir(), 'desktop-'));
  const storage = storageUnder(path.join(scratch, 'User'));
  const results = path.join(scratch, 'results.jsonl');
  await writeUserSettings(path.join(scratch, 'User'), {});
  const said: string[] = [];
  try {
    const tallies: Tally[] = [];
    for (const window of testWindows) {
      const opened = await window.prepare(scratch, storage);
      await writeFile(results, '');
      const stopped = runTests({
        vscodeExecutablePath,
        extensionDevelopmentPath: [path.resolve(import.meta.dirname, '../..'), activationWatchFolder],
        extensionTestsPath: await bundleIntegrationTests(window),
        extensionTestsEnv: {
          ...(await certificateEnvironment(path.join(scratch, 'certificates'))),
          [resultsVariable]: results,
          [grepVariable]: grep,
          [storageVariable]: storage,
        },
        launchArgs: [opened, '--user-data-dir', scratch, '--disable-extensions', '--disable-workspace-trust'],
      });
      const noted = stopped.then(
        (code) => said.push(`VS Code exited with ${code}.`),
        (error: unknown) => said.push(String(error)),
      );
      tallies.push(await followResults(results, noted, () => said.join('\n')));
      // Two windows cannot share a user folder.
      await noted;
    }
    return addTallies(tallies);
  } finally {
    await rm(scratch, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function download(version: string): Promise<string> {
  try {
    return await downloadAndUnzipVSCode({ version, cachePath: path.join(cacheRoot, 'desktop') });
  } catch (cause) {
    const hosts = 'update.code.visualstudio.com and vscode.download.prss.microsoft.com';
    throw new Error(`VS Code ${version} cannot be downloaded: this needs ${hosts}. npm test needs neither.`, {
      cause,
    });
  }
}

const { values } = parseArgs({ options: { version: { type: 'string' }, grep: { type: 'string' } } });
try {
  const tally = await runDesktop(values.version ?? 'stable', values.grep);
  process.stdout.write(`${tally.passed} passed, ${tally.failed} failed, ${tally.skipped} skipped\n`);
  process.exitCode = tally.failed > 0 ? 1 : 0;
} catch (error) {
  process.stderr.write(`${inspect(error)}
`);
  process.exitCode = 1;
}
