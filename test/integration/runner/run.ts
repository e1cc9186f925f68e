import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { launchBrowser } from '../../host/browser.ts';
import { startVsCode } from '../../host/server.ts';
import { setUp } from '../../host/setUp.ts';
import { supportedVersions } from '../../host/vscode.ts';
import { bundleIntegrationTests } from './bundle.ts';
import { certificateEnvironment } from '../network/certificates.ts';
import { grepVariable, type IntegrationEvent, resultsVariable, storageVariable } from '../events.ts';
import { addTallies, followResults, type Tally } from './results.ts';
import { activationWatchFolder, storageUnder, type TestSet, testWindows } from './windows.ts';

export interface IntegrationOptions {
  readonly version: string;
  readonly set?: TestSet;
  readonly grep?: string;
  readonly onTest?: (event: IntegrationEvent) => void;
}

/** The tests of a window may take this long. */
const maxMs = 30 * 60_000;

/**
 * Runs the tests of every window in the extension host of a real VS Code with our extension, and
 * prints each test.
 */
export async function runIntegration({ version, set, grep, onTest }: IntegrationOptions): Promise<Tally> {
  const { made, dispose } = await setUp(async (onUndo) => {
    const scratch = await mkdtemp(path.join(tmpdir(), 'integration-'));
    onUndo(() => rm(scratch, { recursive: true, force: true, maxRetries: 5 }));
    const dataDir = path.join(scratch, 'data');
    const storage = storageUnder(path.join(dataDir, 'data', 'User'));
    const results = path.join(scratch, 'results.jsonl');
    // The server takes only one extension under development, so the watch is installed.
    await cp(activationWatchFolder, path.join(dataDir, 'extensions', 'invented.activation-watch-0.0.1'), {
      recursive: true,
    });
    const server = await startVsCode({
      version,
      dataDir,
      development: true,
      settings: { 'security.workspace.trust.enabled': false },
      env: {
        ...(await certificateEnvironment(path.join(scratch, 'certificates'))),
        [resultsVariable]: results,
        [grepVariable]: grep,
        [storageVariable]: storage,
      },
    });
    onUndo(() => server.dispose());
    const browser = await launchBrowser({ profileDir: path.join(scratch, 'profile') });
    onUndo(() => browser.dispose());
    return { scratch, storage, results, server, browser };
  });
  const { scratch, storage, results, server, browser } = made;
  try {
    const extension = server.remoteUri(path.resolve(import.meta.dirname, '../../..'));
    const tallies: Tally[] = [];
    for (const window of testWindows) {
      const opened = await window.prepare(scratch, storage);
      await writeFile(results, '');
      const tests = server.remoteUri(await bundleIntegrationTests(window, set));
      const payload = [
        ['extensionDevelopmentPath', extension],
        ['extensionTestsPath', tests],
      ] as const;
      const target = opened.endsWith('.code-workspace') ? { workspace: opened } : { folder: opened };
      const page = await browser.newPage();
      const said: string[] = [];
      page.on('console', (message) => {
        if (message.type() === 'error') said.push(message.text().split('\n')[0] ?? '');
      });
      const stopped = new Promise<void>((resolve) => {
        // The workbench calls this when the test module has returned.
        void page.exposeFunction('codeAutomationExit', () => resolve());
        setTimeout(resolve, maxMs).unref();
      });
      await page.goto(server.urlFor({ ...target, payload }), { waitUntil: 'domcontentloaded' });
      const reason = (): string => `${server.output()}\n${said.slice(-20).join('\n')}`;
      tallies.push(await followResults(results, stopped, reason, onTest));
      // Tells the server to end this window's extension host before the next one starts.
      await page.goto('about:blank');
    }
    return addTallies(tallies);
  } finally {
    await dispose();
  }
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { version: { type: 'string' }, grep: { type: 'string' } } });
  const { version = supportedVersions.newest, grep } = values;
  const tally = await runIntegration({ version, ...(grep === undefined ? {} : { grep }) });
  process.stdout.write(`${tally.passed} passed, ${tally.failed} failed, ${tally.skipped} skipped\n`);
  process.exitCode = tally.failed > 0 ? 1 : 0;
}
