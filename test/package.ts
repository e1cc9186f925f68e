import { chmod, copyFile, mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { createVSIX, listFiles, PackageManager } from '@vscode/vsce';

const projectRoot = path.resolve(import.meta.dirname, '..');

/** Makes the VSIX from a project's folder and what `npm run build` left in its `dist`, offline, the same to the byte for the same content; returns its path. */
export async function packageExtension(out: string, root = projectRoot): Promise<string> {
  await mkdir(path.dirname(out), { recursive: true });
  const stage = await mkdtemp(path.join(tmpdir(), 'whitebox-package-'));
  try {
    // Everything that runs is in the bundles: no dependency is packed.
    const files = await listFiles({ cwd: root, packageManager: PackageManager.None });
    for (const file of [...files, '.vscodeignore']) {
      const copy = path.join(stage, file);
      await mkdir(path.dirname(copy), { recursive: true });
      await copyFile(path.join(root, file), copy);
      // A checkout's own file rights would differ from machine to machine.
      await chmod(copy, 0o644);
    }
    // So would times: with this, vsce sorts the entries and gives all of them one time, 1980 being the first that a zip can hold.
    process.env['SOURCE_DATE_EPOCH'] = '315532800';
    await createVSIX({ cwd: stage, packagePath: out, dependencies: false, allowUnusedFilesPattern: true });
  } finally {
    await rm(stage, { recursive: true, force: true });
  }
  return out;
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { out: { type: 'string', default: 'whitebox-assessment.vsix' } } });
  const file = await packageExtension(path.resolve(projectRoot, values.out));
  console.log(`${path.relative(projectRoot, file)}: ${String((await stat(file)).size)} bytes`);
}
