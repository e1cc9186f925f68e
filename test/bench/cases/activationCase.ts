import { cp, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { launchBrowser } from '../../host/browser.ts';
import { startVsCode } from '../../host/server.ts';
import { activationWatchFolder } from '../../integration/runner/windows.ts';
import { supportedVersions } from '../../host/vscode.ts';
import { eventually } from '../../host/workbench/eventually.ts';
import { median } from '../pairs.ts';
import type { Row } from '../rows.ts';

const root = join(import.meta.dirname, '../../..');

/**
 * Measures each start of VS Code while no run is live: the loaded bytes, and the script that runs
 * in the host of a new window.
 */
export async function measureActivation(scratch: string, rounds: number): Promise<Row[]> {
  const { size } = await stat(join(root, 'dist/bootstrap.cjs'));
  const ms = median(await activateInWindows(scratch, rounds));
  const common = { corpus: 'no run' } as const;
  return [
    { ...common, what: 'loaded at activation', unit: 'kB', ours: size / 1000, target: { atMost: 40 } },
    { ...common, what: 'script at activation', unit: 'ms', ours: ms, target: { atMost: 15 } },
  ];
}

async function activateInWindows(scratch: string, rounds: number): Promise<readonly number[]> {
  const subject = join(scratch, 'subject.cjs');
  const entryPoints = [join(import.meta.dirname, '../subjects/activationSubject.ts')];
  await build({
    entryPoints,
    outfile: subject,
    bundle: true,
    format: 'cjs',
    platform: 'node',
    external: ['vscode'],
  });
  const notes = join(scratch, 'times');
  await writeFile(notes, '');
  const readTimes = async (): Promise<number[]> =>
    (await readFile(notes, 'utf8')).split('\n').slice(0, -1).map(Number);
  const installed = join(scratch, 'data', 'extensions', 'invented.activation-watch-0.0.1');
  await cp(activationWatchFolder, installed, { recursive: true });
  const server = await startVsCode({
    version: supportedVersions.newest,
    dataDir: join(scratch, 'data'),
    development: true,
    settings: { 'security.workspace.trust.enabled': false },
    env: { ACTIVATION_TIMES: notes },
  });
  const browser = await launchBrowser({ profileDir: join(scratch, 'profile') });
  try {
    const payload = [
      ['extensionDevelopmentPath', server.remoteUri(root)],
      ['extensionTestsPath', server.remoteUri(subject)],
    ] as const;
    const page = await browser.newPage();
    for (let round = 1; round <= rounds; round++) {
      await page.goto(server.urlFor({ folder: scratch, payload }), { waitUntil: 'domcontentloaded' });
      await eventually(readTimes, ({ length }) => length === round);
      // Tells the server to end this window's extension host: the next window gets a new one.
      await page.goto('about:blank');
    }
    return await readTimes();
  } finally {
    await browser.dispose();
    await server.dispose();
  }
}
