import type { ReportStrings } from '../../src/core/report/protocol.ts';
import { element } from './element.ts';
import { linkPlaces, placeIndex, placeLink, type PlaceLinks } from './places.ts';
import type { Clean } from './sanitize.ts';

/** What rendering a part needs. */
export interface RenderContext {
  readonly clean: Clean;
  readonly places: PlaceLinks;
  readonly strings: ReportStrings;
  /** How many levels the headings of the report move down, below our own. */
  readonly depth: number;
}

/** Turns untrusted HTML of one part of a report into nodes that are safe, readable and usable by keyboard. */
export function renderPart(html: string, context: RenderContext): DocumentFragment {
  const part = context.clean(html);
  for (const link of part.querySelectorAll('a')) finishLink(link, context);
  linkPlaces(part, context.places);
  for (const pre of part.querySelectorAll('pre')) frameCode(pre, context.strings);
  for (const table of part.querySelectorAll('table')) {
    const frame = element('div', { class: 'table', 'data-label': context.strings.table });
    table.replaceWith(frame);
    frame.append(table);
    for (const header of table.querySelectorAll('thead th')) header.setAttribute('scope', 'col');
  }
  for (const check of part.querySelectorAll<HTMLElement>('[data-check]')) {
    const done = check.dataset['check'] === 'done';
    check.closest('li')?.classList.add('task');
    const label = done ? context.strings.done : context.strings.notDone;
    check.replaceWith(
      element('span', { class: 'check', role: 'img', 'aria-label': label, 'data-done': String(done) }),
    );
  }
  for (const details of part.querySelectorAll('details')) details.open = true;
  for (const written of part.querySelectorAll<HTMLElement>('h1, h2, h3, h4, h5, h6')) {
    const level = Math.min(6, Number(written.tagName.slice(1)) + context.depth);
    const heading = element(`h${level}` as 'h6', {}, ...written.childNodes);
    for (const { name, value } of written.attributes) heading.setAttribute(name, value);
    heading.setAttribute('tabindex', '-1');
    written.replaceWith(heading);
  }
  return part;
}

/** A link of the report leads to code or to another place in the report; of any other, the address is shown beside it. */
function finishLink(link: HTMLAnchorElement, { places }: RenderContext): void {
  const to = link.dataset['to'];
  if (to === undefined) {
    const anchor = link.dataset['anchor'];
    link.replaceWith(
      ...(anchor === undefined ? [] : [element('span', { 'data-anchor': anchor })]),
      ...link.childNodes,
    );
    return;
  }
  const text = link.textContent.trim();
  const index = placeIndex(places.indexes, text) ?? placeIndex(places.indexes, to);
  if (index !== undefined) {
    link.replaceWith(placeLink(index, places.tooltip, ...link.childNodes));
  } else if (to.startsWith('#')) {
    link.replaceWith(
      element(
        'a',
        { class: 'jump', role: 'link', tabindex: '0', 'data-jump': to.slice(1) },
        ...link.childNodes,
      ),
    );
  } else {
    const outside = element('span', { class: 'outside', title: to }, ...link.childNodes);
    link.replaceWith(outside);
    if (text !== to && `mailto:${text}` !== to && `http://${text}` !== to) {
      outside.after(' ', element('span', { class: 'address' }, to));
    }
  }
}

/** Text that could not be read as Markdown, as it was written. */
export function renderAsWritten(source: string, strings: ReportStrings): HTMLElement {
  const holder = element('div', {}, element('pre', {}, element('code', {}, source)));
  for (const pre of holder.querySelectorAll('pre')) frameCode(pre, strings);
  return holder;
}

function frameCode(pre: HTMLPreElement, strings: ReportStrings): void {
  const language = pre.dataset['language'] ?? '';
  const frame = element(
    'div',
    { class: 'code' },
    element(
      'div',
      { class: 'code-bar' },
      element('span', {}, language),
      element('button', { type: 'button', class: 'copy' }, strings.copy),
    ),
  );
  pre.dataset['label'] = language === '' ? strings.code : `${strings.code}: ${language}`;
  pre.replaceWith(frame);
  frame.append(pre);
}
