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
  let blockEnd: ((line: string) => boolean) | undefined;
  let afterBlank = true;
  let afterDefinition = false;

  for (let at = 0; at < source.length;) {
    const newline = source.indexOf('\n', at);
    const next = newline === -1 ? source.length : newline + 1;
    const line = source.slice(at, newline === -1 ? source.length : newline);

    if (blockEnd) {
      if (blockEnd(line)) blockEnd = undefined;
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
      blockEnd = blockOpenedBy(line);
    }
    afterBlank = line.trim() === '';
    at = next;
  }
  sections.push(source.slice(sectionStart));
  return { sections, definitions: definitions.join('\n') };
}

function blockOpenedBy(line: string): ((line: string) => boolean) | undefined {
  const fence = fenceStart.exec(line)?.[1];
  if (fence !== undefined) {
    const close = new RegExp(`^ {0,3}${fence.startsWith('~') ? '~' : '`'}{${fence.length},}[ \\t]*$`);
    return (later) => close.test(later);
  }
  const html = rawHtml.find(([start]) => start.test(line));
  if (!html || html[1].test(line)) return undefined;
  return (later) => html[1].test(later);
}
