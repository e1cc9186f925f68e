import { element } from './element.ts';

/** The parts of the page that go into a saved copy. */
export interface SavedParts {
  readonly header: HTMLElement;
  readonly nav: HTMLElement;
  readonly article: HTMLElement;
  readonly sections: readonly HTMLElement[];
  /** Where the links in `nav` lead. */
  readonly contents: ReadonlyMap<HTMLElement, HTMLElement>;
  /** Where a fragment of the report leads. */
  readonly jumpTarget: (fragment: string) => HTMLElement | undefined;
}

/** Writes the page as HTML that stands on its own, a section at a time: jumps are links within the page, nothing else can be clicked. */
export function* writeSavedCopy(parts: SavedParts): Generator<void, string, void> {
  const names = new Map<HTMLElement, string>();
  const nameOf = (target: HTMLElement): string => {
    const name = names.get(target) ?? `h-${names.size}`;
    names.set(target, name);
    return name;
  };
  const link = (from: HTMLElement, to: HTMLElement | undefined): void => {
    if (to) from.setAttribute('href', `#${nameOf(to)}`);
  };

  const nav = copy(parts.nav);
  const navLinks = nav.querySelectorAll('a');
  for (const [index, live] of [...parts.nav.querySelectorAll('a')].entries()) {
    const copied = navLinks[index];
    if (copied) link(copied, parts.contents.get(live));
  }
  for (const jump of parts.article.querySelectorAll<HTMLElement>('.jump')) {
    const target = parts.jumpTarget(jump.dataset['jump'] ?? '');
    if (target) nameOf(target);
  }
  nav.querySelector('.skip')?.remove();
  nav.querySelector('details')?.setAttribute('open', '');

  const written: string[] = [];
  for (const section of parts.sections) {
    const copied = copy(section);
    copied.removeAttribute('style');
    for (const button of copied.querySelectorAll('.copy')) button.remove();
    // They do not scroll on paper, nor in the saved page.
    for (const block of copied.querySelectorAll('[role="group"]')) block.removeAttribute('aria-label');
    for (const jump of copied.querySelectorAll<HTMLElement>('.jump')) {
      link(jump, parts.jumpTarget(jump.dataset['jump'] ?? ''));
    }
    const copies = copied.querySelectorAll<HTMLElement>('*');
    for (const [index, live] of [...section.querySelectorAll<HTMLElement>('*:not(.copy)')].entries()) {
      const name = names.get(live);
      if (name !== undefined) copies[index]?.setAttribute('id', name);
    }
    written.push(copied.outerHTML);
    yield;
  }

  const shell = element(
    'div',
    { class: 'page' },
    copy(parts.header),
    element(
      'div',
      { class: parts.nav.hidden ? 'columns' : 'columns with-contents' },
      ...(parts.nav.hidden ? [] : [nav]),
      element('main', {}, copy(parts.article, false)),
    ),
  );
  return shell.outerHTML.replace('</article>', () => `${written.join('')}</article>`);
}

function copy(original: HTMLElement, deep = true): HTMLElement {
  const made = original.cloneNode(deep);
  if (!(made instanceof HTMLElement)) throw new TypeError('A copy of an element is an element.');
  return made;
}
