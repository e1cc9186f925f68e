// Zero-width joiner and non-joiner stay: emoji, Persian and Indic scripts are spelled with them, and they reorder nothing.
// The last two ranges are ignored when they are drawn, though most of them mean nothing; the variation selectors between them draw ideographs.
const invisible = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u{E0000}-\u{E00FF}\u{E01F0}-\u{E0FFF}]/gu;
const plainLine = /^[!-~]+(?: [!-~]+)*$/;
const plainAscii = /^[ -~]*$/;
const harmless = new Set(['\n', '\t', '\u200C', '\u200D']);

/** Makes control, bidi and other invisible characters visible as `\u{202E}`, keeping line breaks and tabs. */
export function visibleText(text: string): string {
  if (plainAscii.test(text)) return text;
  return text
    .replaceAll('\r\n', '\n')
    .replace(invisible, (character) => (harmless.has(character) ? character : escaped(character)));
}

/** `visibleText` on one line: runs of white space become one space, the ends are trimmed. */
export function visibleLine(text: string): string {
  return plainLine.test(text) ? text : visibleText(text.replace(/\s+/g, ' ').trim());
}

/** The name or path of a file on one line: what `visibleText` keeps or joins is a difference between two names. */
export function visibleName(name: string): string {
  return name.replace(invisible, (character) =>
    character === '\u200C' || character === '\u200D' ? character : escaped(character),
  );
}

const inexact = /\\(?=u\{)|⏎|[\p{C}\p{DI}\p{Zl}\p{Zp}]|(?! )\p{Zs}|^ | $|(?<= ) /gu;

/** A text on one line that differs for every two texts: nothing is invisible, and no white space is joined. `⏎` is a line break. */
export function exactLine(text: string): string {
  return text.replace(inexact, (character) => (character === '\n' ? '⏎' : escaped(character)));
}

/** The first `max` UTF-16 units of a text, without half a surrogate pair. */
export function clip(text: string, max: number): string {
  if (text.length <= max) return text;
  const last = text.charCodeAt(max - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? max - 1 : max);
}

function escaped(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}}`;
}

// What JSON allows unescaped in a string; line breaks stand between the values.
const invisibleInJson = /[\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u007F-\u009F\u{E0000}-\u{E00FF}\u{E01F0}-\u{E0FFF}]/gu;

/** JSON, indented, with no invisible character hidden in it: reading it gives the same value. Undefined for one that is nested too deeply to be written. */
export function toVisibleJson(raw: string): string | undefined {
  return indented(raw)?.replace(invisibleInJson, (character) =>
    Array.from({ length: character.length }, (_, at) => escapedUnit(character.charCodeAt(at))).join(''),
  );
}

function indented(raw: string): string | undefined {
  try {
    return JSON.stringify(JSON.parse(raw), undefined, 2);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function escapedUnit(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, '0')}`;
}
