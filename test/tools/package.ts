import { globSync } from 'node:fs';
import { chmod, copyFile, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { createVSIX } from '@vscode/vsce';

const projectRoot = path.resolve(import.meta.dirname, '../..');

/**
 * The VSIX consists of these files: `.vscodeignore` excludes everything, and then includes them
 * again. They are looked up one by one, because vsce would look at everything in the project's
 * folder.
 */
export async function packedFiles(root = projectRoot): Promise<readonly string[]> {
  const lines = (await readFile(path.join(root, '.vscodeignore'), 'utf8')).split(/\r?\n/u).filter(Boolean);
  if (lines.shift() !== '**' || !lines.every((line) => line.startsWith('!')))
    throw new Error('.vscodeignore is a list of what is packed: ** first, then lines with !');
  return lines.flatMap((line) => {
    const files = globSync(line.slice(1), { cwd: root });
    if (files.length === 0) throw new Error(`Nothing to pack for ${line}: npm run build makes dist.`);
    return files;
  });
}

interface PackageOptions {
  readonly root?: string;
  /** README's pictures are loaded from this https address. */
  readonly images?: string;
}

/**
 * An odd minor version is a pre-release, as the Marketplace recommends: 1.1.0 comes before 1.2.0.
 */
export function isPreRelease(version: string): boolean {
  return Number(version.split('.')[1]) % 2 === 1;
}

/**
 * An editor loads README's pictures from https addresses only. Without one the text is complete,
 * and the walkthrough has the pictures.
 */
export function withoutPictures(readme: string): string {
  return readme.replaceAll(/^ *!\[.*\]\(.*\)\n\n?/gmu, '');
}

/**
 * Makes the VSIX offline from a project's folder and its `dist`, which `npm run build` fills. The
 * same content gives the same bytes. Returns the path of the VSIX.
 */
export async function packageExtension(
  out: string,
  { root = projectRoot, images }: PackageOptions = {},
): Promise<string> {
  await mkdir(path.dirname(out), { recursive: true });
  const stage = await mkdtemp(path.join(tmpdir(), 'whitebox-package-'));
  try {
    for (const file of [...(await packedFiles(root)), '.vscodeignore']) {
      const copy = path.join(stage, file);
      await mkdir(path.dirname(copy), { recursive: true });
      await copyFile(path.join(root, file), copy);
      // A checkout's own file rights would differ from machine to machine.
      await chmod(copy, 0o644);
    }
    const readme = path.join(stage, 'README.md');
    if (images === undefined) await writeFile(readme, withoutPictures(await readFile(readme, 'utf8')));
    const { version } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')) as {
      version: string;
    };
    // Times would differ, too. With this variable, vsce sorts the entries and gives all of them one
    // time. 1980 is the earliest that a zip can hold.
    process.env['SOURCE_DATE_EPOCH'] = '315532800';
    // Everything that runs is in the bundles: no dependency is packed.
    await createVSIX({
      cwd: stage,
      packagePath: out,
      dependencies: false,
      allowUnusedFilesPattern: true,
      preRelease: isPreRelease(version),
      ...(images === undefined ? {} : { baseImagesUrl: images }),
    });
  } finally {
    await rm(stage, { recursive: true, force: true });
  }
  return out;
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: { out: { type: 'string', default: 'whitebox-assessment.vsix' }, images: { type: 'string' } },
  });
  const { out, images } = values;
  const options = images === undefined ? {} : { images };
  const file = await packageExtension(path.resolve(projectRoot, out), options);
  console.log(`${path.relative(projectRoot, file)}: ${String((await stat(file)).size)} bytes`);
}
