/** Sections shorter than this are joined with the next: sanitising has a cost per call. */
const minChars = 4_000;
/** From here on a section also ends at an ordinary paragraph, so that no piece of work grows with the report. */
const maxChars = 24_000;

const fenceStart = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/;
const rawHtml: readonly (readonly [RegExp, RegExp])[] = [
  [/^ {0,3}<(?:script|pre|style|textarea)(?:[\s>]|$)/i, /<\/(?:script|pre|style|textarea)>/i],
  [/^ {0,3}<!--/, /-->/],
  [/^ {0,3}<\?/, /\?>/],
  [/^ {0,3}<!\[CDATA\[/, /\]\]>/],
  [/^ {0,3}<![a-z]/i, />/],
];
const heading = /^#{1,6}(?:[ \t]|$)/;
/** A line in the first column that ends every list, quote and table before it when a blank line precedes it. */
const freshStart = /^[^\s\-+*\d>|<]/;
const listItem = /^ {0,3}(?:[-+*]|\d{1,9}[.)])(?:\s|$)/;
const definition = /^ {0,3}\[(?:[^[\]\\]|\\.)+\]:/;

/** A report's source in pieces that can be read on their own, and its link definitions, which hold for all of them. */
export interface ReportSource {
  readonly sections: readonly string[];
  readonly definitions: string;
}

/** Cuts Markdown where no block can reach across the cut, in one pass over the lines. */
export function splitSections(markdown: string): ReportSource {
  const source = markdown.replace(/\r\n?/g, '\n');
  const sections: string[] = [];
  const definitions: string[] = [];
  let sectionStart = 0;
  let block: OpenBlock | undefined;
  let inList = false;
  let afterBlank = true;
  let afterDefinition = false;

  for (let at = 0; at < source.length;) {
    const newline = source.indexOf('\n', at);
    const next = newline === -1 ? source.length : newline + 1;
    const line = source.slice(at, newline === -1 ? source.length : newline);

    const isFlush = /^\S/.test(line);
    if (block?.endsAtFlush === true && isFlush) block = undefined;
    if (block) {
      if (block.end.test(line)) block = undefined;
    } else {
      const length = at - sectionStart;
      const fresh = length >= maxChars ? freshStart.test(line) : length >= minChars && heading.test(line);
      if (afterBlank && fresh) {
        sections.push(source.slice(sectionStart, at));
        sectionStart = at;
      }
      if ((afterBlank || afterDefinition) && definition.test(line)) {
        definitions.push(line);
        afterDefinition = true;
      } else {
        afterDefinition = false;
      }
      if (listItem.test(line)) inList = true;
      else if (isFlush && afterBlank) inList = false;
      block = blockOpenedBy(line, inList);
    }
    afterBlank = line.trim() === '';
    at = next;
  }
  sections.push(source.slice(sectionStart));
  return { sections, definitions: definitions.join('\n') };
}

/** A block in which blank lines and headings mean nothing. */
interface OpenBlock {
  readonly end: RegExp;
  /** It is inside a list item, and so ends with the list where a line starts in the first column. */
  readonly endsAtFlush: boolean;
}

function blockOpenedBy(line: string, inList: boolean): OpenBlock | undefined {
  const endsAtFlush = inList && line.startsWith(' ');
  const fence = fenceStart.exec(line)?.[1];
  if (fence !== undefined) {
    const mark = fence.startsWith('~') ? '~' : '`';
    return { end: new RegExp(`^ {0,3}${mark}{${fence.length},}[ \\t]*$`), endsAtFlush };
  }
  const html = rawHtml.find(([start]) => start.test(line));
  return html && !html[1].test(line) ? { end: html[1], endsAtFlush } : undefined;
}
