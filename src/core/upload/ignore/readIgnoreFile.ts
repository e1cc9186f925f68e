import { isUtf8 } from 'node:buffer';
import { lstatSync } from 'node:fs';
import { AssessmentError } from '../../errors.ts';
import { readRegularFile } from '../../files.ts';
import { type IgnoreRule, maxRules, type RuleLine } from './ignoreRules.ts';
import { toGitBytes } from './pattern.ts';

export const maxIgnoreFileBytes = 2_000_000;

/**
 * An ignore file with rules that don't apply. Git reads no rules from UTF-16, and ends a rule at a
 * NUL. A file that is only in Git's index isn't read here, although Git applies it.
 */
export interface UnreadRules {
  readonly file: string;
  readonly problem: 'utf16' | 'nul' | 'notOnDisk';
}

export function problemIn(content: Buffer): UnreadRules['problem'] | undefined {
  const isUtf16 = ['fffe', 'feff'].includes(content.toString('hex', 0, 2));
  return isUtf16 ? 'utf16' : content.includes(0) ? 'nul' : undefined;
}

/**
 * Reads a `.whiteboxignore`. Undefined if there is none. Throws `ignoreFileUnreadable` for an
 * unusable file, because it must not count as an empty one.
 */
export function readOwnFile(path: string): Buffer | undefined {
  let content: Buffer | undefined;
  try {
    content = readRegularFile(path, { maxBytes: maxIgnoreFileBytes, followLink: false });
  } catch (error) {
    if (!(error instanceof AssessmentError)) throw error;
    throw unreadable(path, error.data.detail ?? '', error);
  }
  if (content === undefined) {
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return undefined;
    throw unreadable(path, 'EFTYPE');
  }
  if (!isUtf8(content) || content.includes(0)) throw unreadable(path, 'EILSEQ');
  return content;
}

export function unreadable(subject: string, detail: string, cause?: Error): AssessmentError {
  return new AssessmentError('ignoreFileUnreadable', { subject, detail }, { cause });
}

/**
 * Reads the lines that may be rules. As in Git, a BOM, a CR at the end of a line, and the rest of a
 * line after a NUL don't count. Stops one line after `maxRules`, so that callers notice the excess.
 */
export function readLines(content: Uint8Array, from: Omit<IgnoreRule, 'line' | 'pattern'>): RuleLine[] {
  const bom = content[0] === 0xef && content[1] === 0xbb && content[2] === 0xbf;
  const text = Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString('latin1');
  const lines: RuleLine[] = [];
  for (let start = bom ? 3 : 0, line = 1; start < text.length && lines.length <= maxRules; line++) {
    const end = text.indexOf('\n', start);
    let raw = text.slice(start, end < 0 ? undefined : end);
    start = end < 0 ? text.length : end + 1;
    if (raw.endsWith('\r')) raw = raw.slice(0, -1);
    const nul = raw.indexOf('\0');
    if (nul >= 0) raw = raw.slice(0, nul);
    if (raw === '' || raw.startsWith('#')) continue;
    const bytes = Buffer.from(raw, 'latin1');
    lines.push({ ...from, line, pattern: bytes.toString('utf8'), text: toGitBytes(bytes) });
  }
  return lines;
}

export function settingLines(patterns: readonly string[]): RuleLine[] {
  const from = { source: 'setting' } as const;
  return patterns.flatMap((pattern, index) =>
    readLines(Buffer.from(pattern), from).map((line) => ({ ...line, line: index + 1 })),
  );
}
