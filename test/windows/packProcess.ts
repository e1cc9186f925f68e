import { pathToFileURL } from 'node:url';
import type { ArchiveFormat } from '../../src/core/upload/archive/packing.ts';
import { writeArchive } from '../../src/core/upload/archive/writeArchive.ts';
import { selectFiles } from '../../src/core/upload/select/selectFiles.ts';

/** Packs a folder as the extension does, and prints the paths that were packed. Arguments: folder, format, archive. */
const [folder = '', format = 'zip', to = ''] = process.argv.slice(2);
const surroundings = { home: folder, env: { GIT_CONFIG_NOSYSTEM: '1' } };
const { root, files } = await selectFiles(folder, {
  exclude: [],
  includeNestedRepositories: false,
  surroundings,
});
const { manifest, omitted } = await writeArchive({
  root,
  files,
  format: format as ArchiveFormat,
  to,
  maxBytes: 1e9,
  workerFile: new URL('../../src/core/upload/archive/archiveWorker.ts', pathToFileURL(import.meta.filename)),
});
process.stdout.write(JSON.stringify({ paths: [...manifest].map(({ path }) => path), omitted }));
