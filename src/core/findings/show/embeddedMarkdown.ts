import { codeSpansOf } from './codeSpans.ts';
import { visibleText } from '../parse/visibleText.ts';

const opening = /^(?:[-*+] {1,4}|\d{1,9}[.)] {1,4})?(`{3,}(?=[^`]*$)|~{3,})/;
/** What some reader may take for the start of a list's item. */
const perhapsMarker = /^(?:[-*+]|\d{1,9}[.)])(?:\s|$)/;
const marker = /^(?:[-*+]|(\d{1,9})[.)]) {1,4}(?=\S)/;

/** A code block; its lines are at least as far in as `column`, and it ends where one is not. */
interface Fence {
  readonly mark: string;
  readonly column: number;
}

/**
 * Untrusted Markdown as a part of a larger document for a view that sanitises: it keeps to its part. Its code blocks end with it,
 * its headings stand below those of the document, its HTML is text. Code stays as it is where every reader takes it for code.
 */
export function embeddedMarkdown(text: string): string {
  const part = new Part();
  for (const line of visibleText(text).split('\n')) part.add(line);
  return part.end();
}

class Part {
  readonly #lines: string[] = [];
  #fence: Fence | undefined;
  /** What a line follows; after a code block, a line continues no paragraph. */
  #before: 'blank' | 'code' | 'text' = 'blank';
  /** True when lines that are indented may belong to a list. */
  #inList = false;
  /** Where the text of the latest item of a list starts, while it goes on for certain. */
  #item: number | undefined;
  /** False after a line of the paragraph that may have left a code span open. */
  #isClear = true;

  add(line: string): void {
    const body = line.trimStart();
    const indent = columnsOf(line.slice(0, line.length - body.length));
    if (this.#fence !== undefined && this.#addToFence(line, body, indent, this.#fence)) return;
    if (body === '') {
      this.#push(line, 'blank');
      this.#isClear = true;
      return;
    }
    const isMarker = this.#isMarker(body, indent);
    if (!isMarker && indent === 0 && this.#before !== 'text') this.#inList = false;
    if (this.#item !== undefined && indent < this.#item) this.#item = undefined;
    const mark = opening.exec(body)?.[1];
    const inner = isMarker ? columnsOf(/^\S+ */.exec(body)?.[0] ?? '') : 0;
    if (perhapsMarker.test(body)) this.#inList = true;
    if (isMarker) this.#item = indent + inner;
    if (mark !== undefined && (isMarker ? inner > 0 : body.startsWith(mark) && this.#mayOpen(indent))) {
      this.#fence = { mark, column: this.#inList ? indent + inner : 0 };
      this.#push(line, 'code');
    } else if (!this.#inList && indent >= 4 && this.#before !== 'text') this.#push(line, 'code');
    else this.#addProse(line);
  }

  /** The whole part, with nothing left open. */
  end(): string {
    if (this.#fence !== undefined) this.#close(this.#fence);
    return this.#lines.join('\n');
  }

  /** False for a line that ends a code block without being part of it. */
  #addToFence(line: string, body: string, indent: number, fence: Fence): boolean {
    const { mark, column } = fence;
    const closing = body.trimEnd();
    if (
      closing.startsWith(mark) &&
      closing === mark.charAt(0).repeat(closing.length) &&
      indent <= column + 3
    ) {
      this.#close(fence);
      return true;
    }
    const isPart = body === '' || indent >= column;
    if (isPart) this.#push(line, 'code');
    else this.#close(fence);
    return isPart;
  }

  #close({ mark, column }: Fence): void {
    this.#push(' '.repeat(column) + mark, 'blank');
    this.#fence = undefined;
    this.#isClear = true;
  }

  /** Whether a line starts an item of a list for certain; a number in the middle of a paragraph is none, unless it is a 1. */
  #isMarker(body: string, indent: number): boolean {
    const found = marker.exec(body);
    if (found === null) return false;
    const isInItem = this.#item !== undefined && indent >= this.#item;
    const fits = indent <= 3 || (isInItem && indent - (this.#item ?? 0) <= 3);
    const interrupts = found[1] === undefined || Number(found[1]) === 1;
    return fits && (interrupts || this.#before !== 'text' || (this.#inList && !isInItem));
  }

  /** Whether a code block may start this far in, for certain, or whatever it starts is code all the same. */
  #mayOpen(indent: number): boolean {
    if (indent <= 3) return true;
    const isInItem = this.#item !== undefined && indent - this.#item <= 3;
    return this.#inList && (isInItem || this.#before !== 'text');
  }

  #addProse(line: string): void {
    const spans = this.#isClear ? codeSpansOf(line) : undefined;
    if (spans === undefined) this.#isClear = false;
    let at = 0;
    let inert = '';
    for (const { start, end } of spans ?? []) {
      const code = line.slice(start, end);
      // In a table, a bar ends what seems to be code.
      inert += inertProse(line.slice(at, start)) + (code.includes('|') ? inertProse(code) : code);
      at = end;
    }
    inert += inertProse(line.slice(at));
    // A line under a text would make that a heading of ours.
    if (this.#before === 'text' && /^ {0,3}-+\s*$/.test(line)) this.#push('', 'blank');
    const isUnderline = this.#before === 'text' && /^ {0,3}=+\s*$/.test(line);
    const lowered = inert.replace(/^ {0,3}(#{1,6})(?=\s|$)/, lower);
    this.#push(isUnderline ? inert.replace('=', '\\=') : lowered, 'text');
  }

  #push(line: string, kind: 'blank' | 'code' | 'text'): void {
    this.#lines.push(line);
    this.#before = kind;
  }
}

/**
 * Letters and marks that may open a tag, a comment or an instruction are text, and so is what may open the definition of a link: that
 * would take the next line for its address or title, the start of a code block, too.
 */
function inertProse(text: string): string {
  return text.replaceAll(/<(?=[a-z/!?])/gi, '&lt;').replaceAll(']:', ']\\:');
}

function lower(heading: string): string {
  return '#'.repeat(Math.min(6, heading.trim().length + 2));
}

function columnsOf(text: string): number {
  let columns = 0;
  for (const letter of text) columns += letter === '\t' ? 4 - (columns % 4) : 1;
  return columns;
}
