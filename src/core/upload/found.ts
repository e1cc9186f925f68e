import type { FileFacts } from './fileFacts.ts';
import type { LeftOut, SelectedFile } from './selection.ts';

/** A file that was found; its size and mode are put in when they are known. */
export type FoundFile = { -readonly [Key in keyof SelectedFile]: SelectedFile[Key] };

/** An entry of the walk, or a folder with the entries below it, in the byte order of paths. */
export type Found = FoundFile | LeftOut | { readonly below: readonly Found[] };

/** Stands where a file was that is gone again. */
const nothing: Found = { below: [] };

/** A file of which only the name is known yet. */
export function newFile(path: string): FoundFile {
  return { path, bytes: 0, mode: 0o644 };
}

/**
 * Puts into the files among `found`, from `from` to before `to`, what is known of them now, or in a file's place why it is not sent;
 * `factsOf` is asked with the number of the file among them.
 */
export function learn(
  found: Found[],
  from: number,
  to: number,
  factsOf: (number: number) => FileFacts,
): void {
  let number = 0;
  for (let at = from; at < to; at++) {
    const file = found[at];
    if (file === undefined || !('bytes' in file)) continue;
    const facts = factsOf(number);
    number++;
    if (typeof facts === 'string') found[at] = refused(file.path, facts);
    else {
      file.bytes = facts.bytes;
      if (facts.isExecutable) file.mode = 0o755;
    }
  }
}

function refused(path: string, facts: string): Found {
  // Windows allows names that are not Unicode; they come with U+FFFD in them, and no file is found by such a name.
  if (facts === 'ENOENT' && path.includes('\ufffd')) return { path, reason: { kind: 'unusableName' } };
  if (facts === 'ENOENT') return nothing;
  if (facts === 'link') return { path, reason: { kind: 'link' } };
  if (facts === 'special') return { path, reason: { kind: 'special', type: 'device' } };
  return { path, reason: { kind: 'unreadable', code: facts } };
}
