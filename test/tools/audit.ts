/**
 * Exits 1 when the registry knows of a vulnerability in a package that the bundles contain: `npm run audit`. These are
 * development dependencies, which `npm audit --omit=dev` passes over; of all others nothing reaches a user.
 */
import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';

interface Audit {
  readonly vulnerabilities?: Readonly<
    Record<string, { readonly severity: string; readonly range: string; readonly nodes: readonly string[] }>
  >;
}

const root = path.resolve(import.meta.dirname, '../..');
const notices = await readFile(path.join(root, 'dist/ThirdPartyNotices.txt'), 'utf8');
const bundled = [...notices.matchAll(/^((?:@[\w.-]+\/)?[\w.-]+) \d+\.\d+\.\d+\S* \(.+\)$/gm)].map(
  ([, name = '']) => name,
);
if (bundled.length === 0) throw new Error('dist/ThirdPartyNotices.txt names no package: build first.');

const { stdout } = spawnSync('npm audit --json', { cwd: root, shell: true, encoding: 'utf8' });
const { vulnerabilities } = JSON.parse(stdout || '{}') as Audit;
if (vulnerabilities === undefined) {
  console.log(`The registry offers no audit: ${bundled.length} bundled packages are not audited.`);
} else {
  // A package with this name further below belongs to a tool.
  const found = bundled.filter((name) => vulnerabilities[name]?.nodes.includes(`node_modules/${name}`));
  for (const name of found)
    console.log(`${name} ${vulnerabilities[name]?.range ?? ''}: ${vulnerabilities[name]?.severity ?? ''}`);
  console.log(`${found.length} of ${bundled.length} bundled packages are known to be vulnerable.`);
  process.exitCode = found.length === 0 ? 0 : 1;
}
