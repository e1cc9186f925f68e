import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { extensionId } from '../../../src/editor/runs/runLink.ts';
import { prepareLaterStart } from '../laterStart/workspace.ts';

export const activationWatchFolder = path.resolve(import.meta.dirname, '../../fixtures/activation-watch');

/**
 * `eachVersion` is for the tests that depend on the VS Code version, which are in folders of that
 * name.
 */
export type TestSet = 'all' | 'eachVersion';

export interface TestWindow {
  readonly name: string;
  /** Prepares storage and workspace; returns the folder or `.code-workspace` file to open. */
  prepare(scratch: string, storage: string): Promise<string>;
}

export const testWindows: readonly TestWindow[] = [
  {
    name: 'firstStart',
    prepare: async (scratch) => {
      const folder = path.join(scratch, 'workspace');
      await mkdir(folder, { recursive: true });
      return folder;
    },
  },
  { name: 'laterStart', prepare: prepareLaterStart },
];

/** VS Code keeps the extension's global storage in this folder, under its user folder. */
export function storageUnder(userFolder: string): string {
  return path.join(userFolder, 'globalStorage', extensionId);
}
