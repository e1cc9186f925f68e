import type { ReportStrings } from '../../src/core/report/protocol.ts';
import type { Highlight } from './highlight.ts';
import type { Clean } from './sanitize.ts';

const saidForMs = 2_000;

/** Finishes code blocks and tables: colours, and a tab stop where they scroll sideways. */
export interface BlockFinisher {
  /** From now on a section's blocks are finished when it comes near the screen; to be told again when the section has grown. */
  observe(section: HTMLElement): void;
  /** Colours a section's code now. */
  colour(section: HTMLElement): void;
  disconnect(): void;
}

/** Makes a finisher; it watches sections, since the browser's work in every frame grows with what is watched. */
export function createBlockFinisher(highlight: Highlight, clean: Clean): BlockFinisher {
  const near = new Set<Element>();
  const colourCode = (section: Element): void => {
    for (const block of section.querySelectorAll('.code > pre')) colour(block, highlight, clean);
  };
  const markBlocks = (section: Element): void => {
    const blocks = [...section.querySelectorAll<HTMLElement>('.code > pre, .table')];
    // All sizes first: an attribute that changes between two of them would cost a layout.
    const scrolling = new Set(blocks.filter((block) => block.scrollWidth > block.clientWidth));
    for (const block of blocks) markScrollable(block, scrolling.has(block));
  };
  const finish = (section: Element): void => {
    colourCode(section);
    markBlocks(section);
  };
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        if (isIntersecting) {
          near.add(target);
          finish(target);
        } else {
          near.delete(target);
        }
      }
    },
    { rootMargin: '400px' },
  );
  const onResize = (): void => near.forEach(markBlocks);
  window.addEventListener('resize', onResize);

  return {
    observe(section) {
      // Told anew of a section, the observer calls when the page has been laid out; to ask for sizes here would lay it out once more each time.
      observer.unobserve(section);
      observer.observe(section);
    },
    colour: colourCode,
    disconnect() {
      observer.disconnect();
      window.removeEventListener('resize', onResize);
    },
  };
}

/** Copies the code of the block that a copy button belongs to; shows on the button, and returns, what happened. */
export async function copyCode(button: HTMLElement, strings: ReportStrings): Promise<string> {
  const code = button.closest('.code')?.querySelector('pre');
  let said = strings.copied;
  try {
    await navigator.clipboard.writeText(code?.textContent.replace(/\n$/, '') ?? '');
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
    if (code) getSelection()?.selectAllChildren(code);
    said = strings.copyFailed;
  }
  button.textContent = said;
  setTimeout(() => (button.textContent = strings.copy), saidForMs);
  return said;
}

function colour(block: Element, highlight: Highlight, clean: Clean): void {
  const code = block.querySelector(':scope > code');
  if (!(block instanceof HTMLPreElement) || !code || block.dataset['coloured'] !== undefined) return;
  block.dataset['coloured'] = '';
  const html = highlight(code.textContent, block.dataset['language'] ?? '');
  if (html !== undefined) code.replaceChildren(clean(html));
}

function markScrollable(block: HTMLElement, scrolls: boolean): void {
  if (scrolls) {
    block.tabIndex = 0;
    block.setAttribute('role', 'group');
    block.setAttribute('aria-label', block.dataset['label'] ?? '');
  } else {
    for (const name of ['tabindex', 'role', 'aria-label']) block.removeAttribute(name);
  }
}
