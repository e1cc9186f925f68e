import { type FolderChoices, leavingOut } from './folderChoices.ts';
import type { Suspicion } from '../secrets/secretScan.ts';
import type { SecretCheck } from '../secrets/secrets.ts';
import type { LeftOut, Reason, SelectedFile, Selection } from '../select/selection.ts';

/** What a person decided about content that looks like a credential, by the content's SHA-256. */
export type SecretDecision = 'send' | 'leaveOut';

/** What happens about files that look like they hold credentials. */
export interface SecretRules {
  /** `block`: what is undecided stays here. */
  readonly mode: 'block' | 'warn' | 'off';
  readonly decisionOf: (sha256: string) => SecretDecision | undefined;
}

/** What the credential check made of a file: suspicions, or the code or word for why nobody could look into it. */
type Verdict = readonly Suspicion[] | string;

/** Everything that is known of a folder's files before a person leaves some out: with it their choices need no other look at the disk. */
export interface Draft {
  /** What ignore files and settings let through, and `include` besides. */
  readonly all: Selection;
  /** The person's choices with which it was selected. */
  readonly include: readonly string[];
  /** By path, for each file that was looked into. */
  readonly verdicts: ReadonlyMap<string, Verdict>;
  /** Hex, of the content that was looked into, by path. */
  readonly hashes: ReadonlyMap<string, string>;
}

/** What would be sent of a draft. */
export interface Decided {
  readonly selection: Selection;
  /** Suspicions that wait for a person. */
  readonly undecided: readonly Suspicion[];
  /** Files to send that nobody has looked into for credentials yet. */
  readonly unchecked: readonly SelectedFile[];
}

const clean: readonly Suspicion[] = [];

/** A draft of which no file was looked into yet. */
export function newDraft(all: Selection, include: readonly string[]): Draft {
  return { all, include, verdicts: new Map(), hashes: new Map() };
}

/** True while a draft knows all that these choices would send. */
export function covers(draft: Draft, { include }: FolderChoices): boolean {
  return draft.include.length === include.length && include.every((path) => draft.include.includes(path));
}

/** A draft that knows, too, what the credential check of these files came to. */
export function withCheck(draft: Draft, files: readonly SelectedFile[], check: SecretCheck): Draft {
  const verdicts = new Map(draft.verdicts);
  const hashes = new Map(draft.hashes);
  for (const { path } of files) {
    verdicts.set(path, clean);
    hashes.delete(path);
  }
  for (const [path, sha256] of check.hashes) hashes.set(path, sha256);
  for (const [path, suspicions] of Map.groupBy(check.suspicions, ({ path }) => path))
    verdicts.set(path, suspicions);
  for (const { path, code, reason } of check.unchecked) verdicts.set(path, code ?? reason);
  return { ...draft, verdicts, hashes };
}

/** A draft without these files, which never stand still between a check and the packing. */
export function withUnsteady(draft: Draft, files: readonly SelectedFile[]): Draft {
  const unchecked = files.map(({ path }) => ({ path, reason: 'changed' as const }));
  return withCheck(draft, files, { suspicions: [], unchecked, hashes: new Map() });
}

/**
 * Applies a person's choices to a draft: what they left out goes; content that somebody decided to send stays, what could not be looked into
 * goes, and what is undecided goes exactly when the rules block it.
 */
export function decide({ all, verdicts }: Draft, choices: FolderChoices, rules: SecretRules): Decided {
  const isLeftOut = leavingOut(choices);
  const files: SelectedFile[] = [];
  const chosen: LeftOut[] = [];
  const suspected: LeftOut[] = [];
  const undecided: Suspicion[] = [];
  const unchecked: SelectedFile[] = [];
  let bytes = 0;
  // One pass: with very many files each one counts, and a person waits.
  for (const file of all.files) {
    const { path } = file;
    if (isLeftOut(path)) {
      chosen.push({ path, reason: { kind: 'choice' } });
      continue;
    }
    const verdict = rules.mode === 'off' ? clean : verdicts.get(path);
    if (verdict === undefined) unchecked.push(file);
    const judged = verdict === undefined || verdict === clean ? undefined : judge(verdict, rules);
    if (judged !== undefined) undecided.push(...judged.undecided);
    if (judged?.reason === undefined) {
      files.push(file);
      bytes += file.bytes;
    } else {
      suspected.push({ path, reason: judged.reason });
    }
  }
  const leftOut = [...all.leftOut, ...chosen, ...suspected];
  return { selection: { ...all, files, bytes, leftOut }, undecided, unchecked };
}

/** Whether a verdict waits for a person, and why its file stays here, if it does. */
function judge(
  verdict: Verdict,
  { mode, decisionOf }: SecretRules,
): { undecided: readonly Suspicion[]; reason?: Reason } {
  if (typeof verdict === 'string') return { undecided: [], reason: { kind: 'unreadable', code: verdict } };
  const [first] = verdict;
  const decision = first === undefined ? 'send' : decisionOf(first.sha256);
  const goes = decision === 'leaveOut' || (decision === undefined && mode === 'block');
  return {
    undecided: decision === undefined ? verdict : [],
    ...(goes ? { reason: { kind: 'secret', suspicions: verdict } } : {}),
  };
}

/** How many files only one of two selections sends, or both in another size. */
export function countDifferences(one: Selection, other: Selection): number {
  const sizes = new Map(one.files.map(({ path, bytes }) => [path, bytes]));
  const same = other.files.filter(({ path, bytes }) => sizes.get(path) === bytes).length;
  const inBoth = other.files.filter(({ path }) => sizes.has(path)).length;
  return one.files.length + other.files.length - inBoth - same;
}
