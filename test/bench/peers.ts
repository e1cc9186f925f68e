import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';

/** Ours is compared with these native tools. Each returns how long it took, in ms. */
export interface Peers {
  /** Lists what git would add, index included; the list is read, as a caller would. */
  readonly select: () => number;
  /** Writes the archive of the same content, and says how large it is. */
  readonly zip: (to: string) => Packed;
  readonly tarGz: (to: string) => Packed;
  /** If this is false, tar.gz is packed by `gzip`, with one thread. */
  readonly hasPigz: boolean;
}

export interface Packed {
  readonly ms: number;
  readonly bytes: number;
}

/**
 * The content is committed, packed as a clone would be, in a repository in `scratch`, so that the
 * folder's own stays as it is.
 */
export function peersFor(root: string, scratch: string): Peers {
  const gitDir = join(scratch, 'git');
  const list = join(scratch, 'list');
  const git = (...args: string[]): string[] => [`--git-dir=${gitDir}`, `--work-tree=${root}`, ...args];
  const identity = ['-c', 'user.name=bench', '-c', 'user.email=bench@example.invalid'];
  run('git', ['init', '--quiet', '--bare', gitDir], root);
  run('git', git('-c', 'core.safecrlf=false', 'add', '--all', '.'), root);
  run('git', git(...identity, 'commit', '--quiet', '--allow-empty', '-m', 'bench'), root);
  run('git', git('repack', '-adq'), root);
  const hasPigz = spawnSync('pigz', ['--version']).status === 0;
  shell(`git --git-dir="${gitDir}" ls-files -z > "${list}"`, root);

  return {
    hasPigz,
    select: () => timed(() => run('git', git('ls-files', '-co', '--exclude-standard'), root)),
    zip: (to) => packed(to, () => run('git', git('archive', '--format=zip', '-6', '-o', to, 'HEAD'), root)),
    tarGz: (to) => {
      const gzip = hasPigz ? 'pigz -p2' : 'gzip';
      return packed(to, () => shell(`tar --null -T "${list}" -cf - | ${gzip} > "${to}"`, root));
    },
  };
}

/** Returns undefined without `curl`. */
export function curl(file: string, url: string): number | undefined {
  if (spawnSync('curl', ['--version']).status !== 0) return undefined;
  return timed(() => run('curl', ['--silent', '--fail', '--upload-file', file, url], '.'));
}

function packed(to: string, write: () => void): Packed {
  const ms = timed(write);
  return { ms, bytes: statSync(to).size };
}

function timed(action: () => void): number {
  const start = performance.now();
  action();
  return performance.now() - start;
}

function shell(script: string, cwd: string): void {
  run('sh', ['-c', script], cwd);
}

function run(program: string, args: readonly string[], cwd: string): void {
  const { status, stderr, error } = spawnSync(program, args, { cwd, maxBuffer: 2 ** 31 });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${error?.message ?? stderr.toString()}`);
}
