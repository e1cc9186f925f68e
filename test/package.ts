import { mkdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { createVSIX } from '@vscode/vsce';

const root = path.resolve(import.meta.dirname, '..');

/** Makes the VSIX from what `npm run build` left in `dist`, offline, and returns its path. */
export async function packageExtension(out: string): Promise<string> {
  await mkdir(path.dirname(out), { recursive: true });
  // Everything that runs is in the bundles: no dependency is packed.
  await createVSIX({ cwd: root, packagePath: out, dependencies: false, allowUnusedFilesPattern: true });
  return out;
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { out: { type: 'string', default: 'whitebox-assessment.vsix' } } });
  const file = await packageExtension(path.resolve(root, values.out));
  console.log(`${path.relative(root, file)}: ${String((await stat(file)).size)} bytes`);
}
