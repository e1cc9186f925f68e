import { runTogether } from '../unit/together/together.ts';

/**
 * The unit tests of paths, files, journals, archives, commands, and what is decided by folder, as far as Wine can run them. Those that take long there
 * are left to a real Windows.
 */
await runTogether(
  `{${[
    'core/{errors,files,folderWatch,paths,visibleText,yieldingWork}',
    'api/{address,credentials}',
    'findings/agents/mcpConfiguration',
    'findings/drift/followFile',
    'findings/importExport/{issueTracker,sarif}',
    'findings/place/{mappings,oneFolder,pathAttacks,runPlaces,severalFolders,workspacePath}',
    'findings/view/{filter,groups,problems}',
    'run/disk/{heldFiles,journalLock,lease,readRuns,runStore}',
    'upload/archive/archiveChanges',
    'upload/choose/{checkPacked,choices,prepareUpload,previewModel}',
    'upload/ignore/repository',
    'upload/select/selectionSystem',
    'workflows/{passwordStore,requestChanges,targetFile}',
  ].join(',')}}.test.ts`,
);
