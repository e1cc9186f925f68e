/** A code block that its content cannot end. */
export function codeBlock(lines: readonly string[], language = ''): string {
  const mark = '`'.repeat(Math.max(3, longestRun(lines.join('\n')) + 1));
  return ['', `${mark}${language}`, ...lines, mark, ''].join('\n');
}

/** Inline code that its content cannot end. */
export function codeSpan(text: string): string {
  const mark = '`'.repeat(longestRun(text) + 1);
  return `${mark} ${text} ${mark}`;
}

function longestRun(text: string): number {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map(({ length }) => length));
}
