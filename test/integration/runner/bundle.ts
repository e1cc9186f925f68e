import { globSync } from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';
import type { TestSet, TestWindow } from './windows.ts';

/**
 * Bundles `index.ts` with the `*.test.ts` of a window's folders, in the order of their paths, into
 * one CommonJS file that VS Code can load, and returns that file. Packages are not bundled: the
 * extension host finds them in the project's node_modules.
 */
export async function bundleIntegrationTests(window: TestWindow, set: TestSet = 'all'): Promise<string> {
  const folder = path.resolve(import.meta.dirname, '..');
  const outfile = path.resolve(folder, `../../dist/test/integration/${window.name}.cjs`);
  const pattern = `${window.name}/${set === 'all' ? '**' : set}/*.test.ts`;
  const tests = globSync(pattern, { cwd: folder }).sort();
  if (tests.length === 0) throw new Error(`There are no integration tests in ${window.name}.`);
  await build({
    entryPoints: [path.join(import.meta.dirname, 'index.ts')],
    outfile,
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node22',
    sourcemap: 'inline',
    logLevel: 'warning',
    plugins: [
      {
        name: 'integration-tests',
        setup: (bundle) => {
          bundle.onResolve({ filter: /^integration-tests$/ }, ({ path: name }) => ({
            path: name,
            namespace: 'tests',
          }));
          // Uses `require`, because mocha's globals must exist before a test file is evaluated.
          bundle.onLoad({ filter: /.*/, namespace: 'tests' }, () => ({
            contents: `export function loadTests(before) { ${tests.map(load).join(' ')} }`,
            resolveDir: folder,
          }));
          bundle.onResolve({ filter: /^[^.]/ }, ({ path: name, kind }) =>
            kind === 'entry-point' || path.isAbsolute(name) ? undefined : { path: name, external: true },
          );
        },
      },
    ],
  });
  return outfile;
}

function load(file: string): string {
  const name = file.replaceAll('\\', '/');
  return `before(${JSON.stringify(name)}); require(${JSON.stringify(`./${name}`)});`;
}
