/**
 * `npm run compare-selection -- FOLDER` compares the files that an upload would contain with those
 * that git would add. Exits 1 on a difference that is not a policy.
 */
import { spawnSync } from 'node:child_process';
import { lstatSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { gitHome } from '../../src/core/upload/ignore/repository.ts';
import { selectFiles } from '../../src/core/upload/select/selectFiles.ts';
import type { Reason } from '../../src/core/upload/select/selection.ts';

const folder = process.argv[2];
if (folder === undefined) {
  console.error('usage: npm run compare-selection -- FOLDER');
  process.exit(2);
}

const start = performance.now();
const surroundings = { home: gitHome(), env: process.env };
const { root, files, excluded } = await selectFiles(folder, {
  exclude: [],
  includeNestedRepositories: false,
  surroundings,
});
const ms = performance.now() - start;
const ours = new Set(files.map(({ path }) => path));
const { files: gits, ms: gitMs } = gitSelects(root);

/** Policy excludes these, although git lists them. */
const policy = new Map(
  excluded.flatMap(({ path, reason }) => (isPolicy(reason) ? [[path, describe(reason)] as const] : [])),
);
const missing: string[] = [];
const byPolicy: string[] = [];
for (const path of gits) {
  if (ours.has(path)) continue;
  const why = policyFor(path);
  if (why === undefined) missing.push(path);
  else byPolicy.push(`${path} (${why})`);
}
const leaked = [...ours].filter((path) => !gits.has(path));

console.log(`ours  ${String(ours.size)} files, ${ms.toFixed(0)} ms`);
console.log(`git's ${String(gits.size)} files, ${gitMs.toFixed(0)} ms`);
print('left out by policy', byPolicy);
print('only git', missing);
print('only ours: LEAKED', leaked);
process.exitCode = missing.length + leaked.length === 0 ? 0 : 1;

function print(title: string, lines: readonly string[]): void {
  console.log(`${title}: ${String(lines.length)}`);
  for (const line of lines) console.log(`  ${JSON.stringify(line)}`);
}

/**
 * Git's own ignore files are no policy: where git selects what their rules exclude, ours are wrong.
 */
function isPolicy(reason: Reason): boolean {
  if (reason.kind !== 'ignored' && reason.kind !== 'ignoredButTracked') return true;
  return reason.rule.source === 'whiteboxignore' || reason.rule.source === 'setting';
}

function describe(reason: Reason): string {
  return reason.kind === 'ignored' ? `${reason.rule.source}: ${reason.rule.pattern}` : reason.kind;
}

function policyFor(path: string): string | undefined {
  for (let at = path.length; at > 0; at = path.lastIndexOf('/', at - 2) + 1) {
    const why = policy.get(path.slice(0, at));
    if (why !== undefined) return why;
  }
  return policy.get('./');
}

/**
 * Runs `git ls-files --others --exclude-standard` with an empty index. Git lists links and nested
 * repositories as entries of their own, which are omitted.
 */
function gitSelects(at: string): { files: Set<string>; ms: number } {
  const scratch = mkdtempSync(join(tmpdir(), 'compare-selection-'));
  const begin = performance.now();
  const bare =
    spawnSync('git', ['rev-parse', '--is-inside-work-tree'], { cwd: at }).status === 0
      ? []
      : outside(scratch, at);
  const git = spawnSync(
    'git',
    ['-c', 'core.fsmonitor=false', ...bare, 'ls-files', '--others', '--exclude-standard', '-z'],
    {
      cwd: at,
      env: { ...process.env, GIT_INDEX_FILE: join(scratch, 'index') },
      maxBuffer: 2 ** 31,
    },
  );
  const took = performance.now() - begin;
  rmSync(scratch, { recursive: true });
  if (git.status !== 0) throw new Error(git.stderr.toString());
  const listed = git.stdout.toString('utf8').split('\0').filter(Boolean);
  const files = listed.filter(
    (path) => !path.endsWith('/') && lstatSync(join(at, path), { throwIfNoEntry: false })?.isFile() !== false,
  );
  return { files: new Set(files), ms: took };
}

/** Makes an empty repository elsewhere, and makes the folder its working tree. */
function outside(scratch: string, at: string): string[] {
  const gitDir = join(scratch, 'git');
  spawnSync('git', ['init', '--quiet', '--bare', gitDir]);
  return [`--git-dir=${gitDir}`, `--work-tree=${at}`];
}
