import type { ReportStrings } from '../../src/core/report/protocol.ts';
import type { Highlight } from './highlight.ts';
import type { Clean } from './sanitize.ts';

const saidForMs = 2_000;

/** Finishes code blocks and tables once they come near the screen: colours, and a tab stop where they scroll sideways. */
export function createBlockFinisher(
  highlight: Highlight,
  clean: Clean,
): { observe(part: ParentNode): void; finish(part: ParentNode): void; disconnect(): void } {
  const visible = new Set<Element>();
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        if (!isIntersecting) {
          visible.delete(target);
          continue;
        }
        visible.add(target);
        colour(target, highlight, clean);
        markScrollable(target);
      }
    },
    { rootMargin: '400px' },
  );
  const onResize = (): void => visible.forEach(markScrollable);
  window.addEventListener('resize', onResize);

  return {
    observe(part) {
      for (const block of part.querySelectorAll('.code > pre, .table')) observer.observe(block);
    },
    finish(part) {
      for (const block of part.querySelectorAll('.code > pre')) colour(block, highlight, clean);
    },
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

function markScrollable(block: Element): void {
  if (!(block instanceof HTMLElement)) return;
  if (block.scrollWidth > block.clientWidth) {
    block.tabIndex = 0;
    block.setAttribute('role', 'group');
    block.setAttribute('aria-label', block.dataset['label'] ?? '');
  } else {
    for (const name of ['tabindex', 'role', 'aria-label']) block.removeAttribute(name);
  }
}
