import { runTogether } from '../unit/together/together.ts';

/** The unit tests of paths, files, journals, archives, and what is decided by folder, as far as Wine can run them. */
await runTogether(
  `{${[
    'core/{errors,files,folderWatch,paths,visibleText,yieldingWork}',
    'api/address',
    'findings/place/{mappings,runPlaces,workspacePath}',
    'run/disk/{heldFiles,journalLock,lease,readRuns,runStore}',
    'upload/choose/{prepareUpload,previewModel}',
    'upload/select/selectionSystem',
    'workflows/{passwordStore,requestChanges,targetFile}',
  ].join(',')}}.test.ts`,
);
