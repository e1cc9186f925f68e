import { createHash, hash } from 'node:crypto';
import { type BigIntStats, fstatSync, lstatSync } from 'node:fs';
import { join } from 'node:path';
import { systemCode } from '../../errors.ts';
import { finders, formsOf } from './findSecrets.ts';
import { isPublicPem, riskyName } from './riskyNames.ts';
import { findTokens, maskMatch, maskToken, type Match } from './tokenRules.ts';
import { isUnchanged, type Omission, readSource, readAt, type SourceFile } from '../sourceFile.ts';

export interface Suspicion {
  readonly path: string;
  readonly kind: 'name' | 'content';
  readonly rule: string;
  /** Lines count from 1. Absent if the path is suspected, not the content. */
  readonly line?: number;
  /** The result of `maskMatch` (`ghp_…a1`, `DB_PASSWORD=…`). Empty for the kind `name`. */
  readonly masked: string;
  /** In hex. A decision applies to equal content. */
  readonly sha256: string;
}

/** One decision is made for a file, so this many suspicions of a rule are enough. */
const maxPerRule = 20;
/** After this many matches, the rest of a file is skipped: it wouldn't change the decision. */
const maxMatches = 5000;

export interface ScannedFile {
  readonly suspicions: readonly Suspicion[];
  readonly sha256: string;
  /**
   * Identifies the scanned version. Absent if the file could change right after the scan without
   * changing the stamp.
   */
  readonly fileStamp?: string;
}

/**
 * A file may change again within one tick of the file system's clock. A tick lasts up to two
 * seconds.
 */
const stableMs = 3_000;

export function hasFileStamp(root: string, path: string, fileStamp: string): boolean {
  try {
    const stat = lstatSync(join(root, path), { bigint: true, throwIfNoEntry: false });
    return stat !== undefined && toScanStamp(stat) === fileStamp;
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return false;
  }
}

/** Scans the path and, unless the file is binary, the content. */
export function scanFile(root: string, path: string): Promise<ScannedFile | Omission> {
  return readSource(root, path, (source) => {
    const scanned = scanSource(source, path);
    const version = fstatSync(source.fd, { bigint: true });
    if (!isUnchanged(source)) return Promise.resolve(undefined);
    const changedAt = Math.max(Number(version.mtimeMs), Number(version.ctimeMs));
    const isStable = Date.now() - changedAt > stableMs;
    return Promise.resolve(isStable ? { ...scanned, fileStamp: toScanStamp(version) } : scanned);
  });
}

function toScanStamp({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join(':');
}

function scanSource({ fd, stat }: SourceFile, path: string): ScannedFile {
  const start = readAt(fd, Math.min(stat.size, startBytes), 0);
  const sha256 = contentHash(fd, stat.size, start);
  const found = findTokens(path).map((match): Omit<Suspicion, 'sha256'> => ({
    path,
    kind: 'content',
    rule: match.rule,
    masked: maskMatch(match),
  }));
  const name = start.length === 0 ? undefined : riskyName(path);
  if (name !== undefined && !(name === '*.pem' && isPublicPem(start.toString('latin1'))))
    found.push({ path, kind: 'name', rule: name, masked: '' });
  const encoding = textEncoding(start);
  if (encoding !== undefined) found.push(...scanText(textChunks(fd, stat.size, start, encoding), path));
  const suspicions = found
    .sort((a, b) => (a.line ?? 0) - (b.line ?? 0))
    .map((suspicion) => ({ ...suspicion, sha256 }));
  return { suspicions, sha256 };
}

function scanText(chunks: Iterable<TextChunk>, path: string): Omit<Suspicion, 'sha256'>[] {
  const found: Omit<Suspicion, 'sha256'>[] = [];
  const seen = new Set<string>();
  const perRule = new Map<string, number>();
  let matches = 0;
  for (const chunk of chunks) {
    for (const match of scanChunk(chunk, path)) {
      matches++;
      const { rule, line } = match;
      const masked = maskMatch(match);
      // A long secret is listed once per line, even if several rules find it, or if both its text
      // and its decoded form match.
      const key = `${line}:${match.secret.length < 20 ? masked : maskToken(match.secret)}`;
      const isNew = !seen.has(key);
      seen.add(key);
      const count = perRule.get(rule) ?? 0;
      if (!isNew || count >= maxPerRule) continue;
      perRule.set(rule, count + 1);
      found.push({ path, kind: 'content', rule, line, masked });
    }
    if (matches >= maxMatches) break;
  }
  return found;
}

type LineMatch = Match & { readonly line: number };

function scanChunk({ text, end, firstLine }: TextChunk, path: string): LineMatch[] {
  const found: LineMatch[] = [];
  const ends = formsOf(text.slice(0, end)).map(({ length }) => length);
  for (const [number, form] of formsOf(text).entries())
    for (const find of finders) {
      let line = firstLine;
      let at = 0;
      for (const match of find(form, path).sort((a, b) => a.index - b.index)) {
        if (match.index >= (ends[number] ?? end)) break;
        line += linesIn(form, at, match.index);
        at = match.index;
        found.push({ ...match, line });
      }
    }
  return found;
}

function contentHash(fd: number, bytes: number, start: Buffer): string {
  if (start.length === bytes) return hash('sha256', start, 'hex');
  const sha256 = createHash('sha256').update(start);
  for (let position = start.length; position < bytes; position += startBytes)
    sha256.update(readAt(fd, Math.min(startBytes, bytes - position), position));
  return sha256.digest('hex');
}

interface Encoding {
  readonly name: 'utf8' | 'utf16le' | 'utf16be';
  readonly bomBytes: number;
}

interface TextChunk {
  readonly text: string;
  /** A match at or after this index belongs to the next chunk. */
  readonly end: number;
  readonly firstLine: number;
}

const chunkBytes = 256 << 10;
/**
 * A match that begins at the end of a chunk fits in, even a private key of 10,000 characters in
 * UTF-16. A longer match is cut off.
 */
const overlapBytes = 32 << 10;
const headBytes = 8 << 10;

/**
 * Undefined for a binary file. As in Git, a NUL in the first 8 KB makes a file binary, but UTF-16
 * counts as text here.
 */
function textEncoding(start: Buffer): Encoding | undefined {
  const head = start.subarray(0, headBytes);
  const [first, second, third] = head;
  if (first === 0xff && second === 0xfe && !(head[2] === 0 && head[3] === 0))
    return { name: 'utf16le', bomBytes: 2 };
  if (first === 0xfe && second === 0xff) return { name: 'utf16be', bomBytes: 2 };
  const bomBytes = first === 0xef && second === 0xbb && third === 0xbf ? 3 : 0;
  return head.includes(0) ? withoutBom(head) : { name: 'utf8', bomBytes };
}

/** In UTF-16, every other byte of ASCII is zero. */
function withoutBom(head: Buffer): Encoding | undefined {
  const start = head.toString('latin1', 0, 16);
  if (/^(?:[^\0]\0){8}$/.test(start)) return { name: 'utf16le', bomBytes: 0 };
  return /^(?:\0[^\0]){8}$/.test(start) ? { name: 'utf16be', bomBytes: 0 } : undefined;
}

function* textChunks(fd: number, bytes: number, start: Buffer, encoding: Encoding): Generator<TextChunk> {
  let firstLine = 1;
  for (let position = 0; position < Math.max(bytes, 1); position += chunkBytes) {
    const read = position === 0 ? start : readAt(fd, chunkBytes + overlapBytes, position);
    if (read.length === 0) return;
    const skip = position === 0 ? encoding.bomBytes : 0;
    const data = read.subarray(skip);
    const text = decode(data, encoding);
    const isLast = position + chunkBytes >= bytes;
    const end = isLast
      ? text.length
      : decode(data.subarray(0, Math.max(0, chunkBytes - skip)), encoding).length;
    yield { text, end, firstLine };
    if (!isLast) firstLine += linesIn(text, 0, end);
  }
}

const startBytes = chunkBytes + overlapBytes;

function linesIn(text: string, from: number, to: number): number {
  let lines = 0;
  for (let at = text.indexOf('\n', from); at >= 0 && at < to; at = text.indexOf('\n', at + 1)) lines++;
  return lines;
}

function decode(data: Buffer, { name }: Encoding): string {
  if (name === 'utf8') return data.toString('utf8');
  const even = data.subarray(0, data.length & ~1);
  return name === 'utf16be' ? Buffer.from(even).swap16().toString('utf16le') : even.toString('utf16le');
}
