/**
 * `npm run audit` exits 1 if the registry knows of a vulnerability in a package that the bundles
 * contain. Bundled packages are development dependencies, which `npm audit --omit=dev` skips. No
 * other package reaches a user.
 */
import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '../..');

interface BundledPackage {
  readonly name: string;
  readonly version: string;
  readonly licence: string;
}

interface AuditReport {
  readonly vulnerabilities?: Readonly<
    Record<string, { readonly severity: string; readonly range: string; readonly nodes: readonly string[] }>
  >;
}

export async function bundledPackages(
  file = path.join(root, 'dist/ThirdPartyNotices.txt'),
): Promise<readonly BundledPackage[]> {
  const notices = await readFile(file, 'utf8');
  const headings = notices.matchAll(/^((?:@[\w.-]+\/)?[\w.-]+) (\d+\.\d+\.\d+\S*) \((.+)\)$/gm);
  const bundled = [...headings].map(([, name = '', version = '', licence = '']) => ({
    name,
    version,
    licence,
  }));
  if (bundled.length === 0) throw new Error(`${file} names no package: build first.`);
  return bundled;
}

export function requestAudit(): AuditReport {
  const { stdout } = spawnSync('npm audit --json', { cwd: root, shell: true, encoding: 'utf8' });
  return JSON.parse(stdout || '{}') as AuditReport;
}

/**
 * Throws when a bundled package is known to be vulnerable, or the registry offers no audit where
 * one is required; returns what to print.
 */
export function checkAudit(
  bundled: readonly BundledPackage[],
  { vulnerabilities }: AuditReport,
  isRequired = false,
): string {
  if (vulnerabilities === undefined && isRequired) throw new Error('the registry offers no audit');
  if (vulnerabilities === undefined)
    return `skipped: the registry offers no audit, so ${bundled.length} bundled packages are not audited`;
  // A nested package with this name belongs to a tool.
  const found = bundled.filter(({ name }) => vulnerabilities[name]?.nodes.includes(`node_modules/${name}`));
  if (found.length === 0) return `none of ${bundled.length} bundled packages is known to be vulnerable`;
  const lines = found.map(
    ({ name }) => `${name} ${vulnerabilities[name]?.range ?? ''}: ${vulnerabilities[name]?.severity ?? ''}`,
  );
  throw new Error(`known to be vulnerable: ${lines.join(', ')}`);
}

if (import.meta.main) console.log(checkAudit(await bundledPackages(), requestAudit()));
