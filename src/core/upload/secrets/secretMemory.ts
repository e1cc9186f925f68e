import type { Suspicion } from './secretScan.ts';

/** What was found in a version of a file. */
export interface Remembered {
  readonly mark: string;
  readonly suspicions: readonly Suspicion[];
  /** Hex, of its content. */
  readonly sha256: string;
}

/** What the credential check found in files as they were, so that a file that has not changed since is not read again. Kept on no disk. */
export class SecretMemory {
  readonly #roots = new Map<string, Map<string, Remembered>>();

  /** What is known of the files below a root, by path. */
  below(root: string): Map<string, Remembered> {
    const known = this.#roots.get(root) ?? new Map<string, Remembered>();
    this.#roots.set(root, known);
    return known;
  }
}
