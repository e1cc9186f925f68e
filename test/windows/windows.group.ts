import { runTogether } from '../unit/together/together.ts';
import './inWindows.ts';

/**
 * These unit tests are of what is another thing in Windows: paths, files, leases, archives, and
 * commands, as far as Wine can run them. Those that take long there are left to a real Windows.
 */
await runTogether(
  ...[
    'core/files',
    'core/folderWatch',
    'core/paths',
    'api/credentials',
    'findings/agents/mcpConfiguration',
    'findings/importExport/sarif',
    'findings/location/mappings',
    'findings/location/oneFolder',
    'findings/location/pathAttacks',
    'findings/location/workspacePath',
    'run/disk/heldFiles',
    'run/disk/journalLock',
    'run/disk/lease',
    'run/disk/readRuns',
    'run/disk/runStore',
    'upload/archive/archiveChanges',
    'upload/choose/prepareUpload',
    'upload/ignore/repository',
    'upload/select/selectionSystem',
    'workflows/targetFile',
  ].map((name) => `${name}.test.ts`),
);
