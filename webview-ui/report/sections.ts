/** A section ends at the first heading after this length: sanitizing short sections is slow. */
const minChars = 4_000;
/** After this length, a section ends at any block, so no piece of work grows with the report. */
const maxChars = 24_000;
/** A longer block is shown as text: parsing time grows faster than its length. */
const maxBlockChars = 64_000;
const maxBlockLines = 4_000;
const maxRunChars = 10_000;

const fenceStart = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/;
const rawHtml: readonly (readonly [RegExp, RegExp])[] = [
  [/^ {0,3}<(?:script|pre|style|textarea)(?:[\s>]|$)/i, /<\/(?:script|pre|style|textarea)>/i],
  [/^ {0,3}<!--/, /-->/],
  [/^ {0,3}<\?/, /\?>/],
  [/^ {0,3}<!\[CDATA\[/, /\]\]>/],
  [/^ {0,3}<![a-z]/i, />/],
];
const heading = /^#{1,6}(?:[ \t]|$)/;
/** After a blank line, a line that matches ends every list, quote, and table. */
const freshStart = /^[^\s\-+*\d>|<]/;
const listItem = /^ {0,3}(?:[-+*]|\d{1,9}[.)])(?:\s|$)/;
export const footnoteStart = /^ {0,3}\[\^([^\]\s]{1,100})\]:/;

export interface Section {
  readonly source: string;
  readonly isText: boolean;
}

/** Removes a fence around the whole report, which language models sometimes write. */
export function withoutFence(markdown: string): string {
  const whole = markdown.trim();
  const [firstEnd, lastStart] = [whole.indexOf('\n'), whole.lastIndexOf('\n') + 1];
  const first = whole.slice(0, Math.max(0, firstEnd)).trim();
  const opening = fenceStart.exec(first)?.[1];
  const language = first.slice(opening?.length).trim();
  if (opening === undefined || !/^(?:markdown|md|gfm)?$/i.test(language)) return markdown;
  if (!closes(whole.slice(lastStart), opening)) return markdown;
  const content = whole.slice(firstEnd + 1, Math.max(firstEnd + 1, lastStart));
  // Outside nested code blocks, a line that can close a bare fence ends it. In a fence marked as
  // Markdown, the same line opens a nested code block.
  let inner: string | undefined;
  for (const line of content.split('\n')) {
    const fence = fenceStart.exec(line)?.[1];
    if (fence === undefined) continue;
    if (inner !== undefined) inner = closes(line, inner) ? undefined : inner;
    else if (language === '' && closes(line, opening)) return markdown;
    else inner = fence;
  }
  return inner === undefined ? content : markdown;
}

function closes(line: string, opening: string): boolean {
  const fence = line.trim();
  return fence.startsWith(opening) && fence === fence.charAt(0).repeat(fence.length);
}

const pictureData =
  /(\]\(\s*<?|\]:\s*<?|\b(?:src|srcset|href)\s*=\s*)("data:image\/[^"]*"|'data:image\/[^']*'|data:image\/[^\s"'<>)]*)/gi;
const dataStart = /^data:(image\/[\w.+-]+)((?:;[\w.=+-]+)*),/i;
/** Shorter data may be evidence in code. */
const maxDataChars = 1_000;

/** Replaces long picture data, which nobody reads, with its size. */
export function withoutPictureData(markdown: string): string {
  if (!markdown.includes('data:image/')) return markdown;
  return markdown.replace(pictureData, (whole: string, before: string, value: string) => {
    const quote = /^["']/.exec(value)?.[0] ?? '';
    const picture = value.length > maxDataChars ? pictureIn(value.slice(quote.length)) : undefined;
    return picture === undefined ? whole : `${before}${quote}data:${picture.type};${picture.bytes},${quote}`;
  });
}

export function pictureIn(url: string): { readonly type: string; readonly bytes: number } | undefined {
  const [start = '', type, parameters = ''] = dataStart.exec(url) ?? [];
  if (type === undefined) return undefined;
  const length = url.length - start.length;
  const size = /;(\d{1,12})$/.exec(parameters)?.[1];
  const bytes = /;base64$/i.test(parameters) ? Math.floor((length * 3) / 4) : length;
  return { type, bytes: size === undefined ? bytes : Number(size) };
}

export function splitSections(markdown: string) {
  const source = markdown.replace(/\r\n?/g, '\n');
  const sections = new Sections(source);
  const footnoteLabels = new Set<string>();
  let block: OpenBlock | undefined;
  let inList = false;
  let afterBlank = true;

  for (let at = 0; at < source.length;) {
    const newline = source.indexOf('\n', at);
    const next = newline === -1 ? source.length : newline + 1;
    const line = source.slice(at, newline === -1 ? source.length : newline);
    const body = line.trimStart();
    const first = body.charAt(0);

    const isFlush = body !== '' && body.length === line.length;
    if (block?.endsAtFlush === true && isFlush) block = undefined;
    if (block) {
      if (block.end.test(line)) block = undefined;
    } else {
      const isItem = listItem.test(line);
      if (afterBlank && isFlush && (freshStart.test(line) || (isItem && !inList)))
        sections.startBlock(at, first === '#' && heading.test(line));
      const footnote = first === '[' ? footnoteStart.exec(line)?.[1] : undefined;
      if (footnote !== undefined) footnoteLabels.add(footnote.toLowerCase());
      if (isItem) inList = true;
      else if (isFlush && afterBlank) inList = false;
      block = first === '`' || first === '~' || first === '<' ? blockOpenedBy(line, inList) : undefined;
    }
    sections.addLine(line);
    afterBlank = body === '';
    at = next;
  }
  return { sections: sections.end(), footnoteLabels };
}

class Sections {
  readonly #source: string;
  readonly #sections: Section[] = [];
  #sectionStart = 0;
  #blockStart = 0;
  #blockLines = 0;
  #hasLongRun = false;

  constructor(source: string) {
    this.#source = source;
  }

  startBlock(at: number, isHeading: boolean): void {
    this.#endBlock(at);
    const length = at - this.#sectionStart;
    if (length >= (isHeading ? minChars : maxChars)) this.#cut(at);
  }

  addLine(line: string): void {
    this.#blockLines += 1;
    this.#hasLongRun ||= hasLongRun(line);
  }

  end(): readonly Section[] {
    const { length } = this.#source;
    this.#endBlock(length);
    if (this.#sectionStart < length || this.#sections.length === 0) this.#cut(length);
    return this.#sections;
  }

  #endBlock(at: number): void {
    const length = at - this.#blockStart;
    const isText = length > maxBlockChars || this.#blockLines > maxBlockLines || this.#hasLongRun;
    if ((isText || length > maxChars) && this.#sectionStart < this.#blockStart) this.#cut(this.#blockStart);
    if (isText) this.#cutText(at);
    this.#blockStart = at;
    this.#blockLines = 0;
    this.#hasLongRun = false;
  }

  #cut(at: number): void {
    this.#sections.push({ source: this.#source.slice(this.#sectionStart, at), isText: false });
    this.#sectionStart = at;
  }

  /** Cuts text into pieces, at line ends if possible, because a long block is slow to lay out. */
  #cutText(end: number): void {
    while (this.#sectionStart < end) {
      const start = this.#sectionStart;
      const limit = Math.min(end, start + maxBlockChars);
      // Only the piece is searched, because a line may be 20 MB long.
      const lineEnd = limit === end ? 0 : this.#source.slice(start, limit).lastIndexOf('\n') + 1;
      this.#sectionStart = lineEnd > 0 ? start + lineEnd : limit;
      this.#sections.push({ source: this.#source.slice(start, this.#sectionStart), isText: true });
    }
  }
}

/**
 * A run is text without spaces. Looks back from where each run would be too long, because listing
 * all words of a line of 20 MB takes seconds.
 */
function hasLongRun(line: string): boolean {
  for (let start = 0; start + maxRunChars < line.length;) {
    let at = start + maxRunChars;
    while (at >= start && !/\s/.test(line.charAt(at))) at -= 1;
    if (at < start) return true;
    start = at + 1;
  }
  return false;
}

/** Blank lines and headings have no meaning in a code fence or HTML block. */
interface OpenBlock {
  readonly end: RegExp;
  /** In a list item, the block ends with the list, at a line that starts in the first column. */
  readonly endsAtFlush: boolean;
}

function blockOpenedBy(line: string, inList: boolean): OpenBlock | undefined {
  const endsAtFlush = inList && line.startsWith(' ');
  const fence = fenceStart.exec(line)?.[1];
  if (fence !== undefined) {
    const fenceCharacter = fence.startsWith('~') ? '~' : '`';
    return { end: new RegExp(`^ {0,3}${fenceCharacter}{${fence.length},}[ \\t]*$`), endsAtFlush };
  }
  const html = rawHtml.find(([start]) => start.test(line));
  return html && !html[1].test(line) ? { end: html[1], endsAtFlush } : undefined;
}
