import { noChoices } from '../../../src/core/upload/choose/folderChoices.ts';
import type { SecretDecision, SecretRules } from '../../../src/core/upload/choose/draft.ts';
import type { PreparationSteps } from '../../../src/core/upload/choose/preparing.ts';
import { Previewing } from '../../../src/core/upload/choose/previewing.ts';
import type { Suspicion } from '../../../src/core/upload/secrets/secretScan.ts';
import type { SelectedFile, Selection } from '../../../src/core/upload/select/selection.ts';

/** Work that nobody cancels or watches. */
export const waiting = { signal: new AbortController().signal, onStep: () => undefined };

/** A file that is as long as its path. */
export function file(path: string): SelectedFile {
  return { path, bytes: path.length, mode: 0o644 };
}

/** These files, selected from an invented folder. */
export function selection(paths: readonly string[]): Selection {
  const files = paths.toSorted().map(file);
  return {
    root: '/invented',
    files,
    leftOut: [],
    bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
    widened: [],
  };
}

/** Of an invented content: by the file's name it holds a secret, cannot be read, or is clean. */
export function suspicionsIn(path: string): Suspicion[] {
  if (!path.endsWith('secret')) return [];
  return [{ path, kind: 'content', rule: 'invented', line: 1, masked: '…', sha256: path.slice(0, 1) }];
}

/** An invented folder: its choices and decisions can be changed, and every look at the disk is counted. */
export function inventedFolder(paths: readonly string[], mode: SecretRules['mode'] = 'block') {
  const folder = {
    choices: noChoices,
    decisions: {} as Record<string, SecretDecision>,
    selections: 0,
    checked: [] as string[],
  };
  const steps: PreparationSteps<string> = {
    choicesOf: () => folder.choices,
    rules: () => ({ mode, decisionOf: (sha256) => folder.decisions[sha256] }),
    select: () => {
      folder.selections++;
      return Promise.resolve(selection(paths));
    },
    check: (_root, files) => {
      folder.checked.push(...files.map(({ path }) => path));
      return Promise.resolve({
        suspicions: files.flatMap(({ path }) => suspicionsIn(path)),
        unchecked: files.flatMap(({ path }) =>
          path.endsWith('locked') ? [{ path, reason: 'unreadable' as const, code: 'EACCES' }] : [],
        ),
        hashes: new Map(files.map(({ path }) => [path, path])),
      });
    },
  };
  const previewing = new Previewing<string>({
    steps,
    show: () => undefined,
    inProgress: (work) => work(waiting),
  });
  return { folder, steps, previewing };
}
