import type * as vscode from 'vscode';
import type { FindingStore } from '../../src/core/findings/findingStore.ts';
import { addDetails } from '../../src/core/findings/result/resultFile.ts';
import type { ShownFinding } from '../../src/core/findings/shownFinding.ts';
import type { Clock } from '../../src/core/ports.ts';
import type { RunStore } from '../../src/core/run/disk/runStore.ts';
import type { Run } from '../../src/core/run/state/run.ts';

/** A test needs only these members. */
export const partly = <T>(members: { readonly [Key in keyof T]?: unknown } = {}): T => members as T;

export const never = () => ({ dispose: () => undefined });

/** The runs do not change. */
export const storeOfRuns = (...all: readonly Run[]): RunStore =>
  partly<RunStore>({
    all: () => all,
    get: (id: string) => all.find((run) => run.id === id),
    reload: () => Promise.resolve(),
    unread: () => [],
    onDidChange: never,
  });

/** The findings do not change. */
export const storeOfFindings = (
  all: readonly ShownFinding[] = [],
  more: { readonly [Key in keyof FindingStore]?: unknown } = {},
): FindingStore =>
  partly<FindingStore>({
    all: () => all,
    absent: () => [],
    shownRuns: () => [],
    reading: () => [],
    comparison: () => undefined,
    find: () => undefined,
    failureOf: () => undefined,
    countsOf: () => Promise.resolve(undefined),
    withDetails: (some: readonly ShownFinding[]) =>
      addDetails(
        some,
        () => '',
        () => Promise.resolve([]),
      ),
    confirmationsOf: () => Promise.resolve([]),
    sharedDecisions: () => new Map(),
    onDidChange: never,
    ...more,
  });

export const clockAt = (now: number): Clock => ({
  now: () => now,
  monotonic: () => now,
  sleep: () => Promise.resolve(),
});

export function makeMemory(values = new Map<string, unknown>()): vscode.Memento {
  const get = (key: string, fallback?: unknown): unknown => values.get(key) ?? fallback;
  const update = (key: string, value: unknown): Promise<void> => Promise.resolve(void values.set(key, value));
  return { keys: () => [...values.keys()], get, update } as vscode.Memento;
}

export const gitWith = (getRepository: (uri: vscode.Uri) => unknown) => ({
  activate: () => Promise.resolve({ enabled: true, getAPI: () => ({ getRepository }) }),
});
