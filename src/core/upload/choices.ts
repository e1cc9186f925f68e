import type { Suspicion } from './secretScan.ts';
import type { SecretCheck } from './secrets.ts';
import type { LeftOut, Reason, SelectedFile, Selection } from './selection.ts';

/** A selection without some of its files, which are listed as left out; `reasonOf` tells why a file goes, or undefined for one that stays. */
export function leaveOut(selection: Selection, reasonOf: (path: string) => Reason | undefined): Selection {
  const files: SelectedFile[] = [];
  const gone: LeftOut[] = [];
  let bytes = 0;
  for (const file of selection.files) {
    const reason = reasonOf(file.path);
    if (reason === undefined) {
      files.push(file);
      bytes += file.bytes;
    } else {
      gone.push({ path: file.path, reason });
    }
  }
  return gone.length === 0
    ? selection
    : { ...selection, files, bytes, leftOut: [...selection.leftOut, ...gone] };
}

/** Tests whether a path is among chosen ones, or below a chosen folder (ending in `/`). */
export function among(chosen: readonly string[]): (path: string) => boolean {
  const files = new Set(chosen.filter((path) => !path.endsWith('/')));
  const folders = chosen.filter((path) => path.endsWith('/'));
  return (path) => files.has(path) || folders.some((folder) => path.startsWith(folder));
}

/** A folder of a selection, with what all of it comes to. */
export interface FolderSum {
  /** Ends in `/`. */
  readonly path: string;
  readonly files: number;
  readonly bytes: number;
}

/** The files and folders directly below a folder (`''`, or ending in `/`), in the order of the selection. */
export function levelBelow(
  files: readonly SelectedFile[],
  folder: string,
): { folders: FolderSum[]; files: SelectedFile[] } {
  const folders = new Map<string, { path: string; files: number; bytes: number }>();
  const direct: SelectedFile[] = [];
  for (const file of files) {
    if (!file.path.startsWith(folder)) continue;
    const end = file.path.indexOf('/', folder.length);
    if (end < 0) {
      direct.push(file);
      continue;
    }
    const path = file.path.slice(0, end + 1);
    const sum = folders.get(path) ?? { path, files: 0, bytes: 0 };
    sum.files += 1;
    sum.bytes += file.bytes;
    folders.set(path, sum);
  }
  return { folders: [...folders.values()], files: direct };
}

/** The line of an ignore file, beside which it stands, that leaves out exactly this path; a folder's path ends in `/`. */
export function toIgnoreLine(path: string): string {
  const escaped = path.replace(/[\\*?[\]]/g, '\\$&').replace(/ (?=$|\/$)/, '\\ ');
  return `/${escaped}`;
}

/** What a person decided about content that looks like a credential, by the content's SHA-256. */
export type SecretDecision = 'send' | 'leaveOut';

/**
 * A selection after the credential check: content somebody decided to send stays, what could not be looked into goes, and what is undecided goes
 * exactly when `block`. `undecided` has the suspicions that wait for a person.
 */
export function withoutSecrets(
  selection: Selection,
  check: SecretCheck,
  decisionOf: (sha256: string) => SecretDecision | undefined,
  block: boolean,
): { selection: Selection; undecided: readonly Suspicion[] } {
  const byPath = Map.groupBy(check.suspicions, ({ path }) => path);
  const unchecked = new Map(check.unchecked.map(({ path, code, reason }) => [path, code ?? reason]));
  const kept = leaveOut(selection, (path) => {
    const code = unchecked.get(path);
    if (code !== undefined) return { kind: 'unreadable', code };
    const suspicions = byPath.get(path) ?? [];
    const [first] = suspicions;
    if (first === undefined) return undefined;
    const decision = decisionOf(first.sha256);
    const goes = decision === 'leaveOut' || (decision === undefined && block);
    return goes ? { kind: 'secret', suspicions } : undefined;
  });
  return {
    selection: kept,
    undecided: check.suspicions.filter(({ sha256 }) => decisionOf(sha256) === undefined),
  };
}
