import { visibleText } from '../parse/visibleText.ts';

const fence = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/;

/**
 * Untrusted Markdown as a part of a larger document for a view that sanitises: it keeps to its part. Its code blocks end with it,
 * its headings stand below those of the document, its HTML is text.
 */
export function embeddedMarkdown(text: string): string {
  let end: string | undefined;
  const lines = visibleText(text)
    .split('\n')
    .map((line) => {
      const mark = fence.exec(line)?.[1];
      if (end !== undefined) {
        if (mark?.startsWith(end) === true && line.trim() === mark) end = undefined;
        return line;
      }
      end = mark;
      if (mark !== undefined) return line;
      // Letters and marks that may open a tag, a comment or an instruction.
      return line.replace(/^ {0,3}(#{1,6})(?=\s|$)/, lowered).replaceAll(/<(?=[a-z/!?])/gi, '&lt;');
    });
  return [...lines, ...(end === undefined ? [] : [end])].join('\n');
}

function lowered(heading: string): string {
  return '#'.repeat(Math.min(6, heading.trim().length + 2));
}
