import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { cacheRoot, installOnce } from './installOnce.ts';
import { npmInstall } from './npmInstall.ts';
import { addWindowsParts, windowsWatcher } from './wine.ts';

/**
 * package.json (engines.vscode) names the oldest VS Code. The environment variable `TESTED_VSCODE`
 * replaces the newest one.
 */
export const supportedVersions: Readonly<Record<'oldest' | 'newest', string>> = {
  oldest: '1.108.2',
  newest: process.env['TESTED_VSCODE'] ?? '1.139.1',
};

export interface VsCode {
  readonly version: string;
  readonly node: string;
  readonly serverMain: string;
}

/**
 * Installs VS Code `version` (1.X.Y) from npm's code-server 4.X.Y, with its dependencies. No
 * install script runs: nothing is compiled, and nothing comes from anywhere but the registry. Later
 * calls, also from other processes, find the installed one.
 */
export async function prepareVsCode(version: string): Promise<VsCode> {
  const folder = path.join(cacheRoot, `vscode-${version}`);
  const product = path.join('node_modules', 'code-server');
  await installOnce(folder, `VS Code ${version}`, async (into) => {
    // npm would refuse a package for another system.
    await npmInstall(into, [`code-server@${version.replace(/^1\./u, '4.')}`, windowsWatcher, '--force']);
    const server = path.join(into, product, 'lib', 'vscode');
    await useRegistryBinaries(server);
    await npmInstall(server, []);
    await addWindowsParts(into, server);
    // This extension needs a TypeScript that the package lacks. It would say so in every window
    // with an open .ts file, and mix its problems with ours.
    await rm(path.join(server, 'extensions', 'typescript-language-features'), { recursive: true });
  });
  const { engines } = await readJson<{ engines: { node: string } }>(
    path.join(folder, product, 'package.json'),
  );
  return {
    version,
    node: await prepareNode(engines.node),
    serverMain: path.join(folder, product, 'lib', 'vscode', 'out', 'server-main.js'),
  };
}

/**
 * Packages of older versions come from GitHub, or fetch a binary from there in an install script.
 * Their successors on the registry have the same interface and carry the binary.
 */
const successors = {
  '@vscode/watcher': 'npm:@parcel/watcher@2.5.6',
  '@vscode/ripgrep': '1.18.0',
} as const;

interface Manifest {
  dependencies: Record<string, string>;
}

interface Shrinkwrap {
  packages: Record<string, Partial<Manifest>>;
}

async function useRegistryBinaries(server: string): Promise<void> {
  const manifestFile = path.join(server, 'package.json');
  const shrinkwrapFile = path.join(server, 'npm-shrinkwrap.json');
  const manifest = await readJson<Manifest>(manifestFile);
  const shrinkwrap = await readJson<Shrinkwrap>(shrinkwrapFile);
  for (const [name, spec] of Object.entries(successors)) {
    if (!(name in manifest.dependencies)) continue;
    manifest.dependencies[name] = spec;
    const root = shrinkwrap.packages['']?.dependencies;
    if (root !== undefined) root[name] = spec;
    const locked = `node_modules/${name}`;
    shrinkwrap.packages = Object.fromEntries(
      Object.entries(shrinkwrap.packages).filter(([at]) => at !== locked && !at.startsWith(`${locked}/`)),
    );
  }
  await writeFile(manifestFile, JSON.stringify(manifest, null, 2));
  await writeFile(shrinkwrapFile, JSON.stringify(shrinkwrap, null, 2));
}

/** Returns the running Node if it has this major version, or else the registry's package. */
async function prepareNode(major: string): Promise<string> {
  if (process.versions.node.split('.')[0] === major) return process.execPath;
  const folder = path.join(cacheRoot, `node-${major}`);
  const windows = process.platform === 'win32';
  // npm's package `node` asks for these names in its install script.
  const prefix = process.platform === 'darwin' && process.arch === 'arm64' ? 'node-bin' : 'node';
  const name = [prefix, windows ? 'win' : process.platform, process.arch].join('-');
  await installOnce(folder, `Node ${major}`, (into) => npmInstall(into, [`${name}@${major}`]));
  return path.join(folder, 'node_modules', name, 'bin', windows ? 'node.exe' : 'node');
}

async function readJson<T>(file: string): Promise<T> {
  return JSON.parse(await readFile(file, 'utf8')) as T;
}
