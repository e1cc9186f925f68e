import { runTogether } from '../unit/together/together.ts';
import './inWindows.ts';

/**
 * These unit tests are of what is another thing in Windows: paths, files, leases, archives, and
 * commands, as far as Wine can run them. Those that take long there are left to a real Windows.
 */
await runTogether(
  `{${[
    'core/{files,folderWatch,paths}',
    'api/credentials',
    'findings/agents/mcpConfiguration',
    'findings/importExport/sarif',
    'findings/place/{mappings,oneFolder,pathAttacks,workspacePath}',
    'run/disk/{heldFiles,journalLock,lease,readRuns,runStore}',
    'upload/archive/archiveChanges',
    'upload/choose/prepareUpload',
    'upload/ignore/repository',
    'upload/select/selectionSystem',
    'workflows/targetFile',
  ].join(',')}}.test.ts`,
);
