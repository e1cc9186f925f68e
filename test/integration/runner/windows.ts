import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { extensionId } from '../../../src/core/run/state/runLink.ts';
import { prepareLaterStart } from '../laterStart/workspace.ts';

export const activationWatchFolder = path.resolve(import.meta.dirname, '../../fixtures/activation-watch');

/** Which tests run: all of them, or those that depend on the version of VS Code, in the folders `eachVersion`. */
export type TestSet = 'all' | 'eachVersion';

export interface TestWindow {
  readonly name: string;
  /** Makes ready what the window opens, and the extension's storage; returns the folder or `.code-workspace` file to open. */
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

/** The folder in which VS Code keeps the extension's global storage, under its user folder. */
export function storageUnder(userFolder: string): string {
  return path.join(userFolder, 'globalStorage', extensionId);
}
