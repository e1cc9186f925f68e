import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { context, build } from 'esbuild';
import * as z from 'zod/mini';
import { targetFileSchema } from './src/core/workflows/targetFile.ts';

const watch = process.argv.includes('--watch');

// What an earlier build left, a bundle that is no longer made among it, would be packed.
await rm('dist', { recursive: true, force: true });

/** Minified bytes of what activation loads, at most. */
const maxBootstrapBytes = 40_000;

/** What the MCP server has no use for: it reads files, and talks to the program that started it. */
const network = /^(node:)?(child_process|dgram|dns|http|http2|https|inspector|net|tls)(\/|$)/;

/** The bootstrap loads the main part when it is needed, so the main part is a file of its own. */
const mainPart = {
  name: 'main-part',
  setup: ({ onResolve }) =>
    onResolve({ filter: /^\.\/extension\.ts$/ }, () => ({ path: './main.cjs', external: true })),
};

/** The SDK checks with it what a client's user has filled in, which the server never asks for. */
const withoutAjv = {
  name: 'without-ajv',
  setup: ({ onLoad }) =>
    onLoad({ filter: /[\\/]validation[\\/]ajv-provider\.js$/ }, () => ({
      contents: 'export class AjvJsonSchemaValidator {}',
    })),
};

/** All that the extension needs of the manifest; the MCP server needs its tools, too. */
const shortManifest = {
  name: 'short-manifest',
  setup: ({ onLoad }) =>
    onLoad({ filter: /[\\/]package\.json$/ }, async ({ path: file }) => {
      if (file !== path.resolve('package.json')) return undefined;
      const { publisher, name } = JSON.parse(await readFile(file, 'utf8'));
      return { contents: JSON.stringify({ publisher, name }), loader: 'json' };
    }),
};

const node = {
  bundle: true,
  format: 'cjs',
  platform: 'node',
  // Node of the oldest VS Code in engines.vscode.
  target: 'node22',
  external: ['vscode'],
  // Its CommonJS form requires its parts by names that a bundle does not have.
  alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' },
  minify: !watch,
  sourcemap: watch ? 'linked' : false,
  legalComments: 'none',
  metafile: true,
  logLevel: watch ? 'info' : 'warning',
};

const bundles = [
  {
    ...node,
    entryPoints: { bootstrap: 'src/bootstrap.ts' },
    plugins: [mainPart, shortManifest],
    supported: { 'dynamic-import': false },
    outdir: 'dist',
    outExtension: { '.js': '.cjs' },
  },
  {
    ...node,
    entryPoints: {
      main: 'src/extension.ts',
      archiveWorker: 'src/core/upload/archive/archiveWorker.ts',
      parseWorker: 'src/core/findings/parse/parseWorker.ts',
      secretWorker: 'src/core/upload/secrets/secretWorker.ts',
    },
    plugins: [shortManifest],
    outdir: 'dist',
    outExtension: { '.js': '.cjs' },
  },
  {
    ...node,
    entryPoints: { mcp: 'src/mcp.ts' },
    plugins: [withoutAjv],
    define: { 'import.meta.filename': '__filename' },
    outdir: 'dist',
    outExtension: { '.js': '.cjs' },
  },
  {
    ...node,
    entryPoints: { report: 'webview-ui/report/main.ts' },
    outdir: 'dist/webview',
    format: 'iife',
    platform: 'browser',
    target: 'es2023',
    external: [],
  },
  {
    ...node,
    entryPoints: { report: 'webview-ui/report/report.css', saved: 'webview-ui/report/saved.css' },
    outdir: 'dist/webview',
    platform: 'browser',
    external: [],
  },
];

// VS Code checks target files as they are typed with the schema that reads them before a start.
await mkdir('dist');
const schema = z.toJSONSchema(targetFileSchema, { target: 'draft-7' });
const japanese = JSON.parse(await readFile('l10n/bundle.l10n.ja.json', 'utf8'));
for (const [file, translate] of [
  ['blackbox.schema.json', (text) => text],
  ['blackbox.schema.ja.json', (text) => japanese[text]],
]) {
  const translated = (key, value) =>
    ['description', 'patternErrorMessage'].includes(key) && typeof value === 'string'
      ? translate(value)
      : value;
  await writeFile(`dist/${file}`, JSON.stringify(schema, translated));
}

if (watch) {
  const watched = await Promise.all(bundles.map((bundle) => context(bundle)));
  // Everything is there once before the first word that tasks.json waits for.
  for (const each of watched) await each.rebuild();
  for (const each of watched) await each.watch();
} else {
  const metafile = { inputs: {}, outputs: {} };
  for (const bundle of bundles) {
    const { inputs, outputs } = (await build(bundle)).metafile;
    Object.assign(metafile.inputs, inputs);
    Object.assign(metafile.outputs, outputs);
  }
  const { imports } = metafile.outputs['dist/mcp.cjs'];
  const reaching = imports.filter(({ path: name }) => network.test(name));
  if (reaching.length > 0)
    fail(`The MCP server reaches out by ${reaching.map((each) => each.path).join(', ')}`);
  const inputs = Object.keys(metafile.inputs);
  const inner = await packedInside(inputs);
  await writeFile('dist/ThirdPartyNotices.txt', await noticesOf([...inputs, ...inner]));
  // `npm run release` makes the SBOM of it.
  metafile.outputs['inside other packages'] = {
    inputs: Object.fromEntries(inner.map((file) => [file, { bytesInOutput: 1 }])),
  };
  await writeFile('dist/metafile.json', JSON.stringify(metafile));
  const forbidden = inputs.filter((input) => /node_modules\/(undici|archiver)\//.test(input));
  if (forbidden.length > 0) fail(`Only for development, yet bundled: ${forbidden.join(', ')}`);
  const { size } = await stat('dist/bootstrap.cjs');
  if (size > maxBootstrapBytes) fail(`Activation would load ${size} bytes, more than ${maxBootstrapBytes}`);
  // What the metafile cannot see: a dispatcher that came along inside another package's own bundle.
  for (const file of (await readdir('dist')).filter((name) => name.endsWith('.cjs'))) {
    const text = await readFile(path.join('dist', file), 'utf8');
    if (text.includes('undici.globalDispatcher')) fail(`dist/${file} contains undici`);
  }
}

/**
 * The manifests of packages inside a package that is a bundle itself, as its source map names them.
 * They are installed for their licences.
 */
async function packedInside(inputs) {
  const modules = inputs.filter((input) => input.includes('node_modules/'));
  const inner = modules.map(async (input) => {
    const { sources = [] } = JSON.parse(await readFile(`${input}.map`, 'utf8').catch(() => '{}'));
    return sources.flatMap((source) => /.*(node_modules\/.*)/.exec(source)?.[1] ?? []);
  });
  return packageFolders((await Promise.all(inner)).flat()).map((folder) => `${folder}/package.json`);
}

function packageFolders(files) {
  return [...new Set(files.flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []))];
}

/** The licences of the packages that the bundles contain, as they ask for. */
async function noticesOf(files) {
  const notices = [];
  for (const folder of packageFolders(files)) {
    const { name, version, license } = JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8'));
    const licences = (await readdir(folder)).filter((file) => /^(licen[cs]e|notice)/i.test(file)).sort();
    const texts = await Promise.all(licences.map((file) => readFile(path.join(folder, file), 'utf8')));
    notices.push([`${name} ${version} (${license})`, ...texts.map((text) => text.trim())].join('\n\n'));
  }
  const title = 'This extension contains the following packages, under the licences they name.';
  return `${[title, ...notices.sort()].join(`\n\n${'-'.repeat(80)}\n\n`)}\n`;
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
