import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { type FindingIdentity, identityOf } from '../../../../src/core/findings/identity.ts';
import { formatEntry, type TriageEntry } from '../../../../src/core/findings/triage/book.ts';
import { isUndecided, type TriageState } from '../../../../src/core/findings/triage/triage.ts';
import { triagePathsOf } from '../../../../src/core/findings/triage/triageFiles.ts';
import {
  type NewDecision,
  TriageStore,
  type TriageSubject,
  type UndoDecisions,
} from '../../../../src/core/findings/triage/triageStore.ts';
import { FolderCalls } from '../../../../src/core/yieldingWork.ts';
import { silent } from '../../../silentLog.ts';
import { identityFor } from '../shownFindings.ts';

const known = 'abcdefghijklmnopqrstuvwxyz'.split('').map((name) => identityFor(name));

/**
 * Machines have windows and a repository whose decisions are shared. Each letter of `names` is a
 * finding.
 */
export async function setUpTriage(t: TestContext) {
  const root = await mkdtemp(path.join(tmpdir(), 'triage-'));
  t.after(() => rm(root, { recursive: true, force: true }));
  const shop = path.join(root, 'shop');
  const locationOf = (machine: string, isShared = true) =>
    triagePathsOf(shop, path.join(root, machine), isShared);
  const decisions = locationOf('').shared ?? '';
  await mkdir(decisions, { recursive: true });
  const clock = { time: 10_000 };
  const calls: Pick<FolderCalls, 'ask'> = new FolderCalls(silent);
  /** `isShared` is the setting. */
  const open = async (machine = 'mine', isShared = (): boolean => true): Promise<TriageStore> => {
    const store = new TriageStore({
      calls,
      pathsFor: (folder) => triagePathsOf(folder, path.join(root, machine), isShared()),
      clock: { now: () => clock.time, monotonic: () => 0, sleep: () => Promise.resolve() },
      log: silent,
    });
    await store.load([shop]);
    return store;
  };
  const about = (name: string, folder = shop): TriageSubject => ({
    folder,
    ...identityOf(identityFor(name)),
    title: name,
    path: 'src/a.js',
  });
  return {
    root,
    shop,
    book: locationOf('mine').book,
    decisions,
    calls,
    clock,
    open,
    about,
    decide: (store: TriageStore, names: string, state: TriageState, note = ''): Promise<UndoDecisions> => {
      clock.time += 1;
      const subjects = Array.from(names, (name) => about(name));
      return store.set(subjects, state, note);
    },
    /** Returns the state and note of each finding. */
    statesIn: (store: TriageStore, names: string, folder = shop): readonly (string | undefined)[] =>
      names.split('').map((name) => {
        const entry = store.get(folder, about(name));
        return entry && !isUndecided(entry) ? `${entry.state} ${entry.note}`.trim() : undefined;
      }),
    /** Returns new decisions of others about the findings a to z. */
    proposalsIn: (store: TriageStore): readonly NewDecision<FindingIdentity>[] =>
      store.shared(() => known).get(shop) ?? [],
    /** Adds a colleague's decision to the repository, as a pull does; returns its file's text. */
    pull: async (store: TriageStore, name: string, changes: Partial<TriageEntry> = {}, file = name) => {
      const entry = { state: 'falsePositive', note: '', at: 1_000 } as const;
      const text = formatEntry({ ...entry, ...about(name), ...changes });
      const there = path.join(decisions, `${file}.json`);
      await writeFile(there, text);
      clock.time += 1;
      await utimes(there, 0, clock.time / 1_000);
      await store.reload();
      return text;
    },
  };
}
