/** Anything but a link that ends where it seems to, after `](`, may take a backtick for its own, and so may a link's definition. */
const oddLink = /\]\((?![^\s()`<>"']*\))|\]:/;

/**
 * The code spans of a line of Markdown, or undefined when readers may disagree about them, or about those of the lines that follow: a
 * backtick is escaped, stands in a link, or waits for another line.
 */
export function codeSpansOf(
  line: string,
): readonly { readonly start: number; readonly end: number }[] | undefined {
  if (line.includes('\\`') || oddLink.test(line)) return undefined;
  const marks = [...line.matchAll(/`+/g)];
  const spans: { start: number; end: number }[] = [];
  for (let at = 0; at < marks.length; at += 1) {
    const [mark, start] = [marks[at]?.[0], marks[at]?.index ?? 0];
    const close = marks.findIndex((each, index) => index > at && each[0] === mark);
    if (close < 0) return undefined;
    spans.push({ start, end: (marks[close]?.index ?? 0) + (mark?.length ?? 0) });
    at = close;
  }
  return spans;
}
