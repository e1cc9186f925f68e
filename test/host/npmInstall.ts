import { spawn } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

/**
 * Installs packages into a folder, without development dependencies and without running scripts. If
 * `specs` is empty, installs what the folder's package.json asks for. Rejects with npm's output.
 */
export async function npmInstall(folder: string, specs: readonly string[]): Promise<void> {
  await mkdir(folder, { recursive: true });
  if (specs.length > 0) await writeFile(path.join(folder, 'package.json'), '{ "private": true }\n');
  const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error'];
  await runNpm(folder, ['install', ...specs, '--prefix', folder, '--omit=dev', ...quiet]);
}

function runNpm(cwd: string, args: readonly string[]): Promise<void> {
  // npm run names its own entry; without it, npm is looked up on PATH, where Windows has a .cmd
  // that needs a shell.
  const entry = process.env['npm_execpath'];
  const asScript = entry !== undefined && /npm-cli\.c?js$/u.test(entry);
  const windows = process.platform === 'win32';
  const child = asScript
    ? spawn(process.execPath, [entry, ...args], {
        cwd,
        env: outerEnvironment(),
        stdio: ['ignore', 'pipe', 'pipe'],
      })
    : spawn('npm', windows ? args.map((arg) => `"${arg}"`) : args, {
        cwd,
        env: outerEnvironment(),
        shell: windows,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
  const said: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => said.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => said.push(chunk));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve();
      else
        reject(
          new Error(`npm ${args.join(' ')} in ${cwd} failed:\n${Buffer.concat(said).toString().trim()}`),
        );
    });
  });
}

/** Omits the variables of the outer npm script, which would mislead npm. */
function outerEnvironment(): NodeJS.ProcessEnv {
  const keep = /^npm_config_(registry|cache|userconfig|globalconfig|proxy|https_proxy|noproxy|cafile)$/iu;
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^npm_/iu.test(name) || keep.test(name)),
  );
}
