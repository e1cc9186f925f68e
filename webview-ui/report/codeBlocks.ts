import hljs from 'highlight.js/lib/common';
import dockerfile from 'highlight.js/lib/languages/dockerfile';
import http from 'highlight.js/lib/languages/http';
import type { ReportStrings } from '../../src/core/report/protocol.ts';
import type { Clean } from './render.ts';

const copiedShownMs = 2_000;
/** Longer code, or code with longer lines, isn't colored: a grammar's time is not bounded. */
const maxChars = 10_000;
const maxLineChars = 500;

hljs.registerLanguage('dockerfile', dockerfile);
hljs.registerLanguage('http', http);

/** Observes sections rather than their blocks, because each observed element costs time. */
export class BlockFinisher {
  readonly #clean: Clean;
  readonly #near = new Set<Element>();
  readonly #observer: IntersectionObserver;
  readonly #onResize = (): void => this.#near.forEach(markBlocks);

  constructor(clean: Clean) {
    this.#clean = clean;
    const onChange = (entries: readonly IntersectionObserverEntry[]): void => {
      for (const { target, isIntersecting } of entries) {
        if (!isIntersecting) {
          this.#near.delete(target);
          continue;
        }
        this.#near.add(target);
        this.color(target);
        markBlocks(target);
      }
    };
    this.#observer = new IntersectionObserver(onChange, { rootMargin: '400px' });
    window.addEventListener('resize', this.#onResize);
  }

  observe(section: HTMLElement): void {
    this.#observer.observe(section);
  }

  color(section: Element): void {
    for (const pre of section.querySelectorAll<HTMLPreElement>('.code > pre:not([data-colored])')) {
      pre.dataset['colored'] = '';
      const code = pre.querySelector(':scope > code');
      const html = code && highlight(code.textContent, pre.dataset['language'] ?? '');
      if (html !== null && html !== undefined) code?.replaceChildren(this.#clean(html));
    }
  }

  disconnect(): void {
    this.#observer.disconnect();
    window.removeEventListener('resize', this.#onResize);
  }
}

export async function copyCode(button: HTMLElement, strings: ReportStrings): Promise<string> {
  const code = button.closest('.code')?.querySelector('pre');
  let outcome = strings.copied;
  try {
    await navigator.clipboard.writeText(code?.textContent.replace(/\n$/, '') ?? '');
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
    if (code) getSelection()?.selectAllChildren(code);
    outcome = strings.copyFailed;
  }
  button.textContent = outcome;
  setTimeout(() => (button.textContent = strings.copy), copiedShownMs);
  return outcome;
}

/** Returns HTML whose only markup is spans with classes. */
function highlight(code: string, language: string): string | undefined {
  if (!hljs.getLanguage(language) || code.length > maxChars) return undefined;
  if (code.split('\n').some((line) => line.length > maxLineChars)) return undefined;
  return hljs.highlight(code, { language, ignoreIllegals: true }).value;
}

function markBlocks(section: Element): void {
  const blocks = [...section.querySelectorAll<HTMLElement>('.code > pre, .table')];
  // All sizes are read before attributes change: a change between two reads would cost a layout.
  const scrolling = new Set(blocks.filter((block) => block.scrollWidth > block.clientWidth));
  for (const block of blocks) {
    if (scrolling.has(block)) {
      block.tabIndex = 0;
      block.setAttribute('role', 'group');
      block.setAttribute('aria-label', block.dataset['label'] ?? '');
    } else {
      for (const name of ['tabindex', 'role', 'aria-label']) block.removeAttribute(name);
    }
  }
}
