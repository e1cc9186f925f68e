import type { PathChoices } from '../../../src/core/upload/choose/choices.ts';
import type {
  PreparationSteps,
  SecretDecision,
  SecretRules,
} from '../../../src/core/upload/choose/prepareUpload.ts';
import { PreviewModel } from '../../../src/core/upload/choose/previewModel.ts';
import type { ScannedFile } from '../../../src/core/upload/secrets/scanFile.ts';
import type { Omission } from '../../../src/core/upload/sourceFile.ts';
import type { SelectedFile, Selection } from '../../../src/core/upload/select/selection.ts';

/** The progress has no cancellation. */
export const progress = { signal: new AbortController().signal, onStep: () => undefined };

export function file(path: string): SelectedFile {
  return { path, bytes: path.length, mode: 0o644 };
}

export function selection(paths: readonly string[]): Selection {
  const files = paths.toSorted().map(file);
  return {
    root: '/invented',
    files,
    excluded: [],
    bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
    unreadRules: [],
    unreadIndexes: [],
  };
}

/** A file is unreadable by its name, and secret or clean by its content. */
export function checked(path: string, content = path): ScannedFile | Omission {
  if (path.endsWith('locked')) return { path, reason: 'unreadable', code: 'EACCES' };
  const suspicion = {
    path,
    kind: 'content',
    rule: 'invented',
    line: 1,
    masked: '…',
    sha256: content,
  } as const;
  return { suspicions: content.endsWith('secret') ? [suspicion] : [], sha256: content };
}

/** The invented folder has adjustable choices and decisions, and counts disk accesses. */
export function inventedFolder(paths: readonly string[], mode: SecretRules['mode'] = 'block') {
  const folder = {
    choices: {} as PathChoices,
    decisions: {} as Record<string, SecretDecision>,
    selections: 0,
    checked: [] as string[],
  };
  const steps: PreparationSteps<string> = {
    choicesOf: () => folder.choices,
    rules: () => ({ mode, decisionOf: (sha256) => folder.decisions[sha256.slice(0, 1)] }),
    select: () => {
      folder.selections++;
      return Promise.resolve(selection(paths));
    },
    check: (_root, files) => {
      folder.checked.push(...files.map(({ path }) => path));
      return Promise.resolve(new Map(files.map(({ path }) => [path, checked(path)])));
    },
    forget: () => undefined,
  };
  const preview = new PreviewModel<string>({
    steps,
    show: () => undefined,
    inProgress: (work) => work(progress),
  });
  return { folder, steps, preview };
}
