import assert from 'node:assert/strict';
import type { IgnoreRule } from '../../../src/core/upload/ignore/ignoreRules.ts';
import { type SelectOptions, selectFiles } from '../../../src/core/upload/select/selectFiles.ts';
import type { Selection } from '../../../src/core/upload/select/selection.ts';
import { gitSelects, options, type TestTree } from './trees.ts';

/** Selects a folder without the machine's git configuration. */
export async function select(at: TestTree, more: Partial<SelectOptions> = {}): Promise<Selection> {
  return selectFiles(at.root, options(at, more));
}

export async function paths(at: TestTree, more: Partial<SelectOptions> = {}): Promise<string[]> {
  return (await select(at, more)).files.map(({ path }) => path);
}

/** Each excluded path is one line with the reason. */
export async function excluded(at: TestTree, more: Partial<SelectOptions> = {}): Promise<string[]> {
  return (await select(at, more)).excluded.map(({ path, reason }) => {
    switch (reason.kind) {
      case 'ignoredButTracked':
        return `${path}: tracked, ${ruleName(reason.rule)}`;
      case 'ignored':
        return `${path}: ${ruleName(reason.rule)}`;
      case 'unreadable':
        return `${path}: unreadable ${reason.code} ${reason.file ?? ''}`.trimEnd();
      default:
        return `${path}: ${reason.kind}`;
    }
  });
}

function ruleName({ source, file = '', line, pattern }: IgnoreRule): string {
  return `${source} ${file}:${line} ${pattern}`;
}

/** Returns the selected paths of a folder, after comparing them with git's. */
export async function sameAsGit(at: TestTree, folder = at.root): Promise<string[]> {
  const ours = (await selectFiles(folder, options(at))).files.map(({ path }) => path);
  assert.deepEqual(ours, gitSelects(at, folder));
  return ours;
}
