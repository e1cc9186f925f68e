/**
 * `npm run release -- --tag v1.0.0` runs every step of a release before the uploads, as the Release
 * workflow does. The files to upload are in `dist/release`. With `--dry-run`, the registry need not
 * offer an audit, and `--skip-tests` skips the tests.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { installExtension } from '../host/server.ts';
import { supportedVersions } from '../host/vscode.ts';
import { bundledPackages, checkAudit, requestAudit } from './audit.ts';
import { isPreRelease, packageExtension } from './package.ts';

const root = path.resolve(import.meta.dirname, '../..');

const allowedLicences = [
  ...['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT'],
  '(MPL-2.0 OR Apache-2.0)',
];

interface Manifest {
  readonly publisher: string;
  readonly name: string;
  readonly version: string;
  readonly repository: { readonly url: string };
}

interface Vsce {
  readZip(file: string, isWanted: (name: string) => boolean): Promise<Map<string, Buffer>>;
  readVSIXPackage(file: string): Promise<{
    readonly manifest: Manifest;
    readonly xmlManifest: {
      readonly PackageManifest: {
        readonly Metadata: readonly {
          readonly Properties: readonly {
            readonly Property: readonly { readonly $: { readonly Id: string } }[];
          }[];
        }[];
      };
    };
  }>;
}

interface Bom {
  readonly components: readonly {
    readonly group?: string;
    readonly name: string;
    readonly version: string;
  }[];
}

/** Throws when there are changes without a commit, as `git status --porcelain` prints them. */
export function checkTree(status: string): void {
  if (status.trim() !== '') throw new Error(`commit, undo, or remove these first:\n${status.trimEnd()}`);
}

/** `locked` is the version in package-lock.json. */
export function checkTag(tag: string, version: string, locked: string): void {
  if (!/^\d+\.\d+\.\d+$/u.test(version))
    throw new Error(`the Marketplace takes versions like 1.0.0 only, not ${version}`);
  if (tag !== `v${version}`)
    throw new Error(
      `package.json has version ${version}, not ${tag}: use --tag v${version}, or set the version (docs/release.md, step 2)`,
    );
  if (locked !== version)
    throw new Error(
      `package-lock.json has version ${locked}: run npm version --no-git-tag-version --allow-same-version ${version}`,
    );
}

/**
 * The release notes are the version's section in the changelog, whose heading has a date, and
 * `(pre-release)` if it is one.
 */
export function releaseNotes(changelog: string, version: string): string {
  const heading = /^## (\S+) - (\S+)( \(pre-release\))?\n/u;
  const section = changelog.split(/^(?=## )/mu).find((part) => heading.exec(part)?.[1] === version);
  if (section === undefined) throw new Error(`CHANGELOG.md has no "## ${version} - YYYY-MM-DD"`);
  const [first = '', , date = '', preRelease] = heading.exec(section) ?? [];
  if (!/^\d{4}-\d{2}-\d{2}$/u.test(date))
    throw new Error(`CHANGELOG.md has no date for ${version}: write "## ${version} - YYYY-MM-DD"`);
  checkPairing(version, preRelease !== undefined, 'CHANGELOG.md');
  const notes = section.slice(first.length).trim();
  if (notes === '') throw new Error(`CHANGELOG.md says nothing about ${version}`);
  return `${notes}\n`;
}

/** Throws unless odd minor versions, and no others, are marked as pre-releases. */
function checkPairing(version: string, isMarkedPreRelease: boolean, where: string): void {
  if (isPreRelease(version) === isMarkedPreRelease) return;
  const kind = isMarkedPreRelease
    ? 'an even minor version is no pre-release'
    : 'an odd minor version is a pre-release';
  throw new Error(`${kind}, but ${where} says otherwise of ${version}`);
}

export function pictureAddress(repository: string, tag: string): string {
  const name = /^https:\/\/github\.com\/([^/]+\/[^/]+?)(?:\.git)?$/u.exec(repository)?.[1];
  if (name === undefined) throw new Error(`repository in package.json is not on github.com: ${repository}`);
  return `https://raw.githubusercontent.com/${name}/${tag}`;
}

export function checkSame(one: Buffer, other: Buffer): void {
  if (!one.equals(other)) throw new Error('two builds of the same sources differ');
}

/** Reads a VSIX as `vsce publish` does, and throws unless it is what is to be released. */
export async function checkVsix(
  file: string,
  { publisher, name, version }: Manifest,
  images: string,
): Promise<void> {
  const vsce = createRequire(import.meta.url)('@vscode/vsce/out/zip.js') as Vsce;
  const { manifest, xmlManifest } = await vsce.readVSIXPackage(file);
  const expected = `${publisher}.${name} ${version}`;
  const found = `${manifest.publisher}.${manifest.name} ${manifest.version}`;
  if (found !== expected) throw new Error(`the VSIX is ${found}, not ${expected}`);
  const properties = xmlManifest.PackageManifest.Metadata[0]?.Properties[0]?.Property ?? [];
  const isMarkedPreRelease = properties.some(({ $ }) => $.Id === 'Microsoft.VisualStudio.Code.PreRelease');
  checkPairing(version, isMarkedPreRelease, 'the VSIX');
  const readme = (await vsce.readZip(file, (entry) => entry === 'extension/readme.md')).values().next().value;
  const pictures = [...String(readme).matchAll(/!\[.*?\]\((.*?)\)/gu)].map(([, address = '']) => address);
  const elsewhere = pictures.filter((address) => !address.startsWith(images));
  if (pictures.length === 0 || elsewhere.length > 0)
    throw new Error(`README in the VSIX has no picture, or one outside ${images}: ${elsewhere.join(', ')}`);
}

/** Throws unless the SBOM names the same packages as the notices. */
export function checkComponents(bom: Bom, bundled: readonly { name: string; version: string }[]): void {
  const components = bom.components.map(({ group, name, version }) =>
    [group === undefined ? name : `${group}/${name}`, version].join(' '),
  );
  const noticed = bundled.map(({ name, version }) => `${name} ${version}`);
  const different = [
    ...components.filter((each) => !noticed.includes(each)),
    ...noticed.filter((each) => !components.includes(each)),
  ];
  if (different.length > 0)
    throw new Error(`not in both SBOM and ThirdPartyNotices.txt: ${different.join(', ')}`);
}

export function checkLicences(bundled: readonly { name: string; licence: string }[]): void {
  const others = bundled.filter(({ licence }) => !allowedLicences.includes(licence));
  if (others.length > 0)
    throw new Error(others.map(({ name, licence }) => `${name} is under ${licence}`).join(', '));
}

/** Runs a Node program with its output here; throws when it fails. */
export function runNode(...args: readonly string[]): void {
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' });
  if (status !== 0) throw new Error(`node ${args.join(' ')} failed`);
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      tag: { type: 'string', default: '' },
      'dry-run': { type: 'boolean', default: false },
      'skip-tests': { type: 'boolean', default: false },
    },
  });
  if (values['skip-tests'] && !values['dry-run']) throw new Error('--skip-tests is for --dry-run only');
  const manifest = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')) as Manifest;
  const { version } = manifest;
  const folder = path.join(root, 'dist/release');
  const vsix = path.join(folder, `${manifest.name}.vsix`);
  const sbom = path.join(folder, `${manifest.name}.cdx.json`);
  const step = async <T>(name: string, run: () => T | Promise<T>): Promise<T> => {
    try {
      const result = await run();
      console.log(`✔ ${name}${typeof result === 'string' ? `: ${result}` : ''}`);
      return result;
    } catch (error) {
      console.error(`✖ ${name}: ${error instanceof Error ? error.message : String(error)}`);
      process.exit(1);
    }
  };
  const build = (): void => runNode('esbuild.mjs');

  await step('clean tree', () => {
    checkTree(execFileSync('git', ['status', '--porcelain'], { cwd: root, encoding: 'utf8' }));
  });
  const lock = JSON.parse(await readFile(path.join(root, 'package-lock.json'), 'utf8')) as Manifest;
  await step('tag', () => checkTag(values.tag, version, lock.version));
  const { notes } = await step('changelog', async () => ({
    notes: releaseNotes(await readFile(path.join(root, 'CHANGELOG.md'), 'utf8'), version),
  }));
  const images = await step('pictures', () => pictureAddress(manifest.repository.url, values.tag));
  await step('tests', () => (values['skip-tests'] ? 'skipped' : runNode('test/run.ts')));
  const first = await step('VSIX', async () => {
    build();
    return readFile(await packageExtension(vsix, { images }));
  });
  await step('the same VSIX a second time', async () => {
    build();
    checkSame(first, await readFile(await packageExtension(vsix, { images })));
  });
  await step('VSIX read back', () => checkVsix(vsix, manifest, images));
  await step('VSIX installed', async () => {
    await installExtension(supportedVersions.newest, vsix, path.join(root, 'dist/installed/extensions'));
    return `VS Code ${supportedVersions.newest}`;
  });
  const bundled = await bundledPackages();
  await step('SBOM', async () => {
    const program = 'node_modules/@cyclonedx/cyclonedx-esbuild/bin/cyclonedx-esbuild-cli.js';
    runNode(program, '--output-reproducible', '--validate', '--output-file', sbom, 'dist/metafile.json');
    checkComponents(JSON.parse(await readFile(sbom, 'utf8')) as Bom, bundled);
    return `${bundled.length} components`;
  });
  await step('licences', () => checkLicences(bundled));
  await step('audit', () => checkAudit(bundled, requestAudit(), !values['dry-run']));
  await step('release notes', () => writeFile(path.join(folder, 'notes.md'), notes));
  const flag = isPreRelease(version) ? '--pre-release' : '';
  if (process.env['GITHUB_OUTPUT'] !== undefined)
    appendFileSync(process.env['GITHUB_OUTPUT'], `pre-release=${flag}\n`);
  console.log(`\n${notes}`);
  if (values['dry-run']) {
    const tests = values['skip-tests'] ? ', without its tests' : '';
    console.log(`Rehearsed${tests}. Nothing is uploaded. Next: tag the commit (docs/release.md, step 5).`);
  } else {
    console.log(`Nothing is uploaded yet. To upload, in ${path.relative(root, folder)}:`);
    console.log([vsix, sbom, 'notes.md'].map((file) => path.basename(file)).join(', '), flag);
  }
}
