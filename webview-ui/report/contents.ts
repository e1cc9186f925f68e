import { element } from './element.ts';

/** Later entries wait for the end of rendering: a longer list would cost time in every frame. */
const maxEarlyEntries = 200;
const headings = 'h1, h2, h3, h4, h5, h6';

export type Contents = ReturnType<typeof createContents>;

export function createContents(label: string, sectionCount: number) {
  const list = element('ol');
  /** The keys are the links that lead to the headings. */
  const targets = new Map<HTMLElement, HTMLElement>();
  const bySection = Array.from({ length: sectionCount }, (): HTMLElement[] => []);
  const toggle = element('summary', { id: 'contents-label' }, label);
  const details = element('details', {}, toggle, list);
  // The list is open if there is room next to the text. report.css has the same width.
  const wide = matchMedia('(min-width: 64rem)');
  const unfold = (): void => void (details.open = wide.matches);
  wide.addEventListener('change', unfold);
  unfold();
  list.addEventListener('click', ({ target }) => {
    const heading = target instanceof HTMLElement ? targets.get(target) : undefined;
    if (heading) goTo(heading);
  });
  const nav = element('nav', { 'aria-labelledby': 'contents-label', hidden: '' }, details);

  const flush = (): void => {
    let next: HTMLElement | null = null;
    // Entries in the list stay there and keep the focus.
    for (const item of bySection.flat().reverse()) {
      if (!item.parentNode) list.insertBefore(item, next);
      next = item;
    }
    if (!nav.hidden || next === null) return;
    nav.hidden = false;
    nav.parentElement?.classList.add('with-contents');
  };

  return {
    nav,
    targets,
    dispose: (): void => wide.removeEventListener('change', unfold),
    add(section: number, part: ParentNode): void {
      for (const heading of part.querySelectorAll<HTMLElement>('h1, h2, h3')) {
        const text = heading.textContent.trim();
        if (text === '') continue;
        const link = element('a', { role: 'link', tabindex: '0' }, text);
        const item = element('li', { 'data-level': heading.tagName.slice(1) }, link);
        targets.set(link, heading);
        bySection[section]?.push(item);
      }
      if (list.childElementCount < maxEarlyEntries) flush();
    },
    flush,
  };
}

export function goTo(target: HTMLElement): void {
  target.scrollIntoView({ block: 'start' });
  target.setAttribute('tabindex', '-1');
  target.focus({ preventScroll: true });
}

/** Finds the target of `#name`: a named anchor, or a heading by its GitHub slug. */
export function findJumpTargets(root: ParentNode): (fragment: string) => HTMLElement | undefined {
  const targets = new Map<string, HTMLElement>();
  const add = (name: string, target: HTMLElement): void => {
    if (!targets.has(name)) targets.set(name, target);
  };
  for (const anchor of root.querySelectorAll<HTMLElement>('[data-anchor]')) {
    add(anchor.dataset['anchor']?.toLowerCase() ?? '', anchor);
  }
  const seen = new Map<string, number>();
  for (const heading of root.querySelectorAll<HTMLElement>(headings)) {
    const slug = heading.textContent
      .trim()
      .toLowerCase()
      .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
      .replaceAll(' ', '-');
    const count = seen.get(slug) ?? 0;
    seen.set(slug, count + 1);
    add(count === 0 ? slug : `${slug}-${count}`, heading);
  }
  return (fragment) => targets.get(withoutEscapes(fragment).toLowerCase());
}

export function withoutEscapes(url: string): string {
  try {
    return decodeURIComponent(url);
  } catch (error) {
    if (error instanceof URIError) return url;
    throw error;
  }
}
