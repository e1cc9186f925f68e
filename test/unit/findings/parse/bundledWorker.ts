import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * The findings worker is bundled as CommonJS, which starts several times faster than its sources. A
 * system without esbuild gets it from outside.
 */
export const parseWorker = process.env['BUNDLED_PARSE_WORKER'] ?? (await bundleWorker());

async function bundleWorker(): Promise<string> {
  const { build } = await import('esbuild');
  const folder = mkdtempSync(join(tmpdir(), 'parse-worker-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const outfile = join(folder, 'parseWorker.cjs');
  await build({
    entryPoints: [join(import.meta.dirname, '../../../../src/core/findings/parse/parseWorker.ts')],
    outfile,
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node22',
    logLevel: 'silent',
  });
  return outfile;
}
