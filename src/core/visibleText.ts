// Emoji keep characters that aren't drawn by themselves: variation selector 16, joiners between
// emoji, and the tags of a flag.
const pictograph = String.raw`\p{ExtPict}(?:\uFE0F|\p{EMod})?`;
const flag = String.raw`\u{1F3F4}[\u{E0061}-\u{E007A}]{2}[\u{E0030}-\u{E0039}\u{E0061}-\u{E007A}]{1,3}\u{E007F}`;
const emoji = String.raw`${flag}|${pictograph}(?:\u200D${pictograph})*|[0-9#*]\uFE0F\u20E3`;
// The zero-width joiner and non-joiner are harmless: Persian and Indic scripts need them, and they
// reorder nothing. The last two ranges aren't drawn; the variation selectors between them are part
// of ideographs.
const hidden = String.raw`(?![\u200C\u200D])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u{E0000}-\u{E00FF}\u{E01F0}-\u{E0FFF}]`;
const toPeople = new RegExp(`(${emoji})|${hidden}`, 'gu');
const toAgents = new RegExp(String.raw`(${emoji})|${hidden}|\p{DI}`, 'gu');
const plainLine = /^[!-~]+(?: [!-~]+)*$/;
const plainAscii = /^[ -~]*$/;

/** Escapes invisible characters as in `\u{202E}`. Keeps `\n` and tabs. */
export function visibleText(text: string): string {
  return plainAscii.test(text) ? text : escapeLines(text, toPeople);
}

/** Also escapes invisible characters of writing systems: they could carry text to an agent. */
export function visibleToAgents(text: string): string {
  return plainAscii.test(text) ? text : escapeLines(text, toAgents);
}

function escapeLines(text: string, shown: RegExp): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(shown, (character, kept: string | undefined) =>
      character === '\n' || character === '\t' ? character : (kept ?? escaped(character)),
    );
}

/** Returns `visibleText` on one line, trimmed, with a single space for any white space. */
export function visibleLine(text: string): string {
  return plainLine.test(text) ? text : visibleText(text.replace(/\s+/g, ' ').trim());
}

/** Shows a name or path on one line. Keeps spaces, in which two names may differ. */
export function visibleName(name: string): string {
  return name.replace(toPeople, (character, kept: string | undefined) => kept ?? escaped(character));
}

const inexact = /\\(?=u\{)|⏎|[\p{C}\p{DI}\p{Zl}\p{Zp}]|(?! )\p{Zs}|^ | $|(?<= ) /gu;

/** Returns a different line for each text, without invisible characters. `⏎` is a line break. */
export function exactLine(text: string): string {
  return text.replace(inexact, (character) => (character === '\n' ? '⏎' : escaped(character)));
}

/** Returns at most `max` UTF-16 units, without half a surrogate pair. */
export function clip(text: string, max: number): string {
  if (text.length <= max) return text;
  const last = text.charCodeAt(max - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? max - 1 : max);
}

function escaped(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}}`;
}

// JSON allows these unescaped in a string. Line breaks stay, because they are between the values.
const invisibleInJson = /[\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u007F-\u009F\u{E0000}-\u{E00FF}\u{E01F0}-\u{E0FFF}]/gu;

/** Indents, and escapes invisible characters. Undefined if the JSON is nested too deeply. */
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

/** The content can't end the block. */
export function codeBlock(lines: readonly string[], language = ''): string {
  const fence = '`'.repeat(Math.max(3, longestRun(lines.join('\n')) + 1));
  return ['', `${fence}${language}`, ...lines, fence, ''].join('\n');
}

/** Backticks in the text can't end the code. */
export function codeSpan(text: string): string {
  const fence = '`'.repeat(longestRun(text) + 1);
  return `${fence} ${text} ${fence}`;
}

function longestRun(text: string): number {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map(({ length }) => length));
}
