import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { startKept, type KeptProcess } from './keptProcess.ts';
import { writeUserSettings, type Settings } from './settings.ts';
import { prepareVsCode } from './vscode.ts';
import { toWindowsPath, type Windows } from './wine.ts';

/** Missing folders are created. */
export interface VsCodeOptions {
  readonly version: string;
  /** The server's state has user settings, global and workspace storage, and logs. */
  readonly dataDir: string;
  /** These user settings override the quiet ones. */
  readonly settings?: Settings;
  /** Extensions are installed in this folder, by default `extensions` under `dataDir`. */
  readonly extensionsDir?: string;
  /**
   * If this is true, windows take a `payload` (an extension under development, its tests). VS Code
   * then draws no notification toasts and no modal dialogs during extension tests, so leave it out
   * where a user's view is tested.
   */
  readonly development?: boolean;
  /**
   * The server and its extension hosts get these environment variables, too; undefined removes one.
   */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /**
   * The server and its extension hosts run in this Windows instead of on this machine. Paths of
   * this machine are translated.
   */
  readonly windows?: Windows | undefined;
}

/**
 * A window opens a folder or a `.code-workspace` file (absolute paths), with entries of the
 * workbench's `payload`.
 */
export interface WindowTarget {
  readonly folder?: string;
  readonly workspace?: string;
  readonly payload?: readonly (readonly [string, string])[];
}

export interface VsCodeServer {
  urlFor(target: WindowTarget): string;
  /** Names an absolute path as the workbench does. */
  remoteUri(file: string): string;
  /** Omits warnings about the server's missing native log. */
  output(): string;
  dispose(): Promise<void>;
}

const common = ['--accept-server-license-terms', '--telemetry-level', 'off'];

/**
 * Installs a packaged extension into a folder for `VsCodeOptions.extensionsDir`, which can be
 * copied afterwards.
 */
export async function installExtension(version: string, vsix: string, extensionsDir: string): Promise<void> {
  const code = await prepareVsCode(version);
  const folders = ['--server-data-dir', path.dirname(extensionsDir), '--extensions-dir', extensionsDir];
  const args = [code.serverMain, '--install-extension', vsix, ...common, ...folders];
  const installer = startKept(code.node, args, hostEnvironment({}));
  const said = collectOutput(installer);
  await installer.ended;
  if (!said.some((line) => line.includes('was successfully installed')))
    throw new Error(`VS Code ${code.version} did not install ${vsix}:\n${said.join('\n')}`);
}

/**
 * Starts VS Code on a free loopback port and resolves when it accepts windows. `dispose()` ends all
 * its processes.
 */
export async function startVsCode(options: VsCodeOptions): Promise<VsCodeServer> {
  const code = await prepareVsCode(options.version);
  const extensionsDir = options.extensionsDir ?? path.join(options.dataDir, 'extensions');
  await mkdir(extensionsDir, { recursive: true });
  await writeUserSettings(path.join(options.dataDir, 'data', 'User'), options.settings ?? {});
  // Settings of scope "machine" are read from here alone once the window knows that it is a remote
  // one.
  await writeUserSettings(path.join(options.dataDir, 'data', 'Machine'), options.settings ?? {});
  const env = hostEnvironment(options.env ?? {});
  const { windows } = options;
  const there = windows === undefined ? (file: string): string => file : toWindowsPath;
  const folders = ['--server-data-dir', there(options.dataDir), '--extensions-dir', there(extensionsDir)];

  const network = ['--host', '127.0.0.1', '--port', '0', '--without-connection-token'];
  const switches = ['--disable-telemetry', '--disable-update-check'];
  // Without it the workbench ignores the payload without a word.
  if (options.development === true) switches.push('--enable-smoke-test-driver');
  const args = [there(code.serverMain), ...network, ...switches, ...common, ...folders];
  const server = windows?.startNode(args, env) ?? startKept(code.node, args, env);
  const said = collectOutput(server);
  const authority = `127.0.0.1:${await listeningPort(server, said)}`;
  const origin = `http://${authority}`;
  const remoteUri = (file: string): string =>
    `vscode-remote://${authority}${encodeURI(slashed(there(file)))}`;
  return {
    remoteUri,
    urlFor: ({ folder, workspace, payload }) => {
      const url = new URL(origin);
      if (folder !== undefined) url.searchParams.set('folder', slashed(there(folder)));
      if (workspace !== undefined) url.searchParams.set('workspace', slashed(there(workspace)));
      if (payload !== undefined) url.searchParams.set('payload', JSON.stringify(payload));
      return url.href;
    },
    output: () => said.join('\n'),
    dispose: () => server.stop(),
  };
}

function listeningPort(server: KeptProcess, said: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    createInterface({ input: server.stdout }).on('line', (line) => {
      const port = /^Extension host agent listening on (\d+)/u.exec(line)?.[1];
      if (port !== undefined) resolve(Number(port));
    });
    server.ended.then(
      () => reject(new Error(`The VS Code server did not start:\n${said.join('\n')}`)),
      reject,
    );
  });
}

/**
 * Collects both outputs by line, except what the server says about @vscode/spdlog, whose binding is
 * not built.
 */
function collectOutput(server: KeptProcess): readonly string[] {
  const said: string[] = [];
  let skipping = false;
  const take = (line: string): void => {
    if (line.includes('Could not locate the bindings file')) skipping = true;
    if (!skipping) said.push(line);
    if (line === '}') skipping = false;
  };
  createInterface({ input: server.stdout }).on('line', (line) => said.push(line));
  createInterface({ input: server.stderr }).on('line', take);
  return said;
}

/** Omits variables for npm, Node's test runner, an outer VS Code, or a proxy. */
function hostEnvironment(extra: Readonly<Record<string, string | undefined>>): NodeJS.ProcessEnv {
  const steering = /^(npm_|NODE_|VSCODE_|ELECTRON_|(https?|all|no)_proxy$)/iu;
  const own = Object.entries(process.env).filter(([name]) => !steering.test(name));
  // With an empty gallery, the workbench looks up no extensions.
  return { ...Object.fromEntries(own), EXTENSIONS_GALLERY: '{}', ...extra };
}

function slashed(file: string): string {
  const forward = file.replaceAll('\\', '/');
  return forward.startsWith('/') ? forward : `/${forward}`;
}
