import { isUtf8 } from 'node:buffer';
import { pathInside, pathKey } from '../../paths.ts';

/** Encodings as VS Code names them. Plain data: a worker gets them with its job. */
export interface Encodings {
  /** Of open documents, by `pathKey`. */
  readonly documents: ReadonlyMap<string, string>;
  /** By absolute folder, from the settings. */
  readonly folders: ReadonlyMap<string, string>;
}

export interface DecodedText {
  readonly text: string;
  /** False if the file has another encoding than it was read in: its lines are right, and its characters may not be. */
  readonly isExact: boolean;
}

/** Decodes a file (absolute path) as the editor does. */
export type Decode = (content: Buffer, file: string) => DecodedText;

export function createDecode({ documents, folders }: Encodings): Decode {
  return (content, file) => {
    const inSettings = [...folders].find(([folder]) => pathInside(folder, file) !== undefined)?.[1];
    return decodeText(content, documents.get(pathKey(file)) ?? inSettings);
  };
}

export const utf8Only: Encodings = { documents: new Map(), folders: new Map() };

/** UTF-8 and UTF-16 are recognized; other files are read in `encoding`. One that the platform lacks is read as Latin-1, which keeps lines apart. */
export function decodeText(content: Buffer, encoding = 'utf8'): DecodedText {
  // NUL is valid UTF-8, but UTF-16 without a byte order mark is full of it.
  if (isUtf8(content) && !content.includes(0)) return { text: content.toString('utf8'), isExact: true };
  try {
    const text = new TextDecoder(markedEncodingOf(content) ?? labelOf(encoding)).decode(content);
    return { text, isExact: !/[\uFFFD\0]/.test(text) };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return { text: content.toString('latin1'), isExact: false };
  }
}

function markedEncodingOf(content: Buffer): string | undefined {
  if (content.length < 2) return undefined;
  const mark = content.readUInt16BE(0);
  return mark === 0xfeff ? 'utf-16be' : mark === 0xfffe ? 'utf-16le' : undefined;
}

/** Where the Encoding Standard has another name than VS Code. */
const labels: Readonly<Record<string, string>> = {
  utf8bom: 'utf-8',
  utf16le: 'utf-16le',
  utf16be: 'utf-16be',
  shiftjis: 'shift_jis',
  eucjp: 'euc-jp',
  euckr: 'euc-kr',
  koi8r: 'koi8-r',
  koi8u: 'koi8-u',
  macroman: 'macintosh',
  cp866: 'ibm866',
  cp950: 'big5',
  big5hkscs: 'big5-hkscs',
};

function labelOf(encoding: string): string {
  return (
    labels[encoding] ??
    encoding.replace(/^iso8859(?=\d+$)/, 'iso-8859-').replace(/^windows(?=\d+$)/, 'windows-')
  );
}
