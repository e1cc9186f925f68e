import { type Contents, findJumpTargets } from './contents.ts';
import { element } from './element.ts';

/** Writes the page's HTML, a section at a time. Jumps become links within the page. */
export function* writeSavedCopy(
  header: HTMLElement,
  contents: Contents,
  article: HTMLElement,
): Generator<void, string, void> {
  const jumpTarget = findJumpTargets(article);
  const names = new Map<HTMLElement, string>();
  const nameOf = (target: HTMLElement): string => {
    const name = names.get(target) ?? `h-${names.size}`;
    names.set(target, name);
    return name;
  };
  const link = (from: HTMLElement, to: HTMLElement | undefined): void => {
    if (to) from.setAttribute('href', `#${nameOf(to)}`);
  };

  const nav = copy(contents.nav);
  const navLinks = nav.querySelectorAll('a');
  for (const [index, original] of [...contents.nav.querySelectorAll('a')].entries()) {
    const copied = navLinks[index];
    if (copied) link(copied, contents.targets.get(original));
  }
  for (const jump of article.querySelectorAll<HTMLElement>('.jump')) {
    const target = jumpTarget(jump.dataset['jump'] ?? '');
    if (target) nameOf(target);
  }
  nav.querySelector('.skip')?.remove();
  nav.querySelector('details')?.setAttribute('open', '');

  const written: string[] = [];
  for (const section of article.children) {
    const copied = copy(section);
    copied.removeAttribute('style');
    for (const button of copied.querySelectorAll('.copy')) button.remove();
    // Blocks do not scroll in the saved page, so they need no label.
    for (const block of copied.querySelectorAll('[role="group"]')) block.removeAttribute('aria-label');
    for (const jump of copied.querySelectorAll<HTMLElement>('.jump')) {
      link(jump, jumpTarget(jump.dataset['jump'] ?? ''));
    }
    const copies = copied.querySelectorAll<HTMLElement>('*');
    for (const [index, original] of [...section.querySelectorAll<HTMLElement>('*:not(.copy)')].entries()) {
      const name = names.get(original);
      if (name !== undefined) copies[index]?.setAttribute('id', name);
    }
    written.push(copied.outerHTML);
    yield;
  }

  const main = element('main', {}, copy(article, false));
  const columns = contents.nav.hidden
    ? element('div', { class: 'columns' }, main)
    : element('div', { class: 'columns with-contents' }, nav, main);
  const shell = element('div', { class: 'page' }, copy(header), columns);
  return shell.outerHTML.replace('</article>', () => `${written.join('')}</article>`);
}

function copy(original: Element, deep = true): HTMLElement {
  return original.cloneNode(deep) as HTMLElement;
}
