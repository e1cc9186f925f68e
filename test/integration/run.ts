import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { launchBrowser } from '../host/browser.ts';
import { startVsCode } from '../host/server.ts';
import type { Settings } from '../host/settings.ts';
import { supportedVersions } from '../host/vscode.ts';
import { bundleIntegrationTests } from './bundle.ts';
import { grepVariable, resultsVariable } from './events.ts';
import { followResults, type Tally } from './results.ts';

/** What an integration run needs to know. */
export interface IntegrationOptions {
  readonly version: string;
  /** What the tests read from process.env in the extension host, such as the address of a service. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** User settings beside the quiet ones. */
  readonly settings?: Settings;
  /** The folder to open; an empty one of its own unless given. */
  readonly folder?: string;
  /** Only tests whose title contains this. */
  readonly grep?: string;
}

/** All of a run must be over by then. */
const maxMs = 10 * 60_000;

/** Runs `test/integration/*.test.ts` in the extension host of a real VS Code with our extension, and prints each test. */
export async function runIntegration(options: IntegrationOptions): Promise<Tally> {
  const tests = await bundleIntegrationTests();
  const scratch = await mkdtemp(path.join(tmpdir(), 'integration-'));
  const folder = options.folder ?? path.join(scratch, 'workspace');
  const results = path.join(scratch, 'results.jsonl');
  await mkdir(folder, { recursive: true });
  await writeFile(results, '');
  const server = await startVsCode({
    version: options.version,
    dataDir: path.join(scratch, 'data'),
    development: true,
    settings: { 'security.workspace.trust.enabled': false, ...options.settings },
    env: { ...options.env, [resultsVariable]: results, [grepVariable]: options.grep },
  });
  const browser = await launchBrowser({ profileDir: path.join(scratch, 'profile') });
  try {
    const page = await browser.newPage();
    const said: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error') said.push(message.text().split('\n')[0] ?? '');
    });
    const stopped = new Promise<void>((resolve) => {
      // The workbench calls these when the tests' module has returned, and for what it printed.
      void page.exposeFunction('codeAutomationExit', () => resolve());
      setTimeout(resolve, maxMs).unref();
    });
    const extension = path.resolve(import.meta.dirname, '../..');
    const payload = [
      ['extensionDevelopmentPath', server.remoteUri(extension)],
      ['extensionTestsPath', server.remoteUri(tests)],
    ] as const;
    await page.goto(server.urlFor({ folder, payload }), { waitUntil: 'domcontentloaded' });
    return await followResults(results, stopped, () => `${server.output()}\n${said.slice(-20).join('\n')}`);
  } finally {
    await browser.dispose();
    await server.dispose();
    await rm(scratch, { recursive: true, force: true, maxRetries: 5 });
  }
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { version: { type: 'string' }, grep: { type: 'string' } } });
  const { version = supportedVersions.newest, grep } = values;
  const tally = await runIntegration({ version, ...(grep === undefined ? {} : { grep }) });
  process.stdout.write(`${tally.passed} passed, ${tally.failed} failed, ${tally.skipped} skipped\n`);
  process.exitCode = tally.failed > 0 ? 1 : 0;
}
