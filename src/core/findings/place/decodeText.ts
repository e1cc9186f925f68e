import { isUtf8 } from 'node:buffer';

/** Turns the content of a file (absolute path), which is not UTF-8, into text as the editor reads it. */
export type Decode = (content: Uint8Array, file: string) => Promise<string>;

/** A file's text, so that it is the one which an editor shows: in another encoding, lines would seem to be others than they are. */
export async function toText(content: Buffer, file: string, decode: Decode): Promise<string> {
  // A NUL is UTF-8, and yet what UTF-16 without a mark looks like.
  if (isUtf8(content) && !content.includes(0)) return content.toString('utf8');
  try {
    return await decode(content, file);
  } catch {
    return content.toString('utf8'); // the editor shows no text of a binary file
  }
}
