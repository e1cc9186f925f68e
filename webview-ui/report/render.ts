import DOMPurify from 'dompurify';
import type { ReportStrings } from '../../src/core/report/protocol.ts';
import { withoutEscapes } from './contents.ts';
import { element } from './element.ts';
import { allowedTags } from './markdown.ts';

interface RenderContext {
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
  const index = [text, to, withoutEscapes(to)]
    .map((each) => placeIndex(places.indexes, each))
    .find((each) => each !== undefined);
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

interface PlaceLinks {
  /** Finding index by `path:line`. */
  readonly indexes: ReadonlyMap<string, number>;
  readonly tooltip: string;
}

/** What stands in no path that a text names. */
const between = '\\s()[\\]{}<>"\'`,;|、。「」『』【】〈〉《》（）→〜～';
/** Matches only from the start of a word: from every letter of a long one, it would take quadratic time. */
const inText = new RegExp(
  `(?<![^${between}])[^${between}]+(?::\\d+(?:[-:]\\d+)?|#L\\d+(?:C\\d+)?(?:-L?\\d+(?:C\\d+)?)?)`,
  'gu',
);
/** Japanese puts no space before a path. */
const lettersBefore = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー：・]+/u;

/** The finding that a text like `src/app.ts:12`, `src\app.ts:12-20` or `/src/app.ts#L12` stands for. */
function placeIndex(indexes: ReadonlyMap<string, number>, text: string): number | undefined {
  const label = text
    .trim()
    .replaceAll('\\', '/')
    .replace(/^\.\//, '')
    .replace(/#L(\d+)(?:C\d+)?(?:-L?\d+(?:C\d+)?)?$/, ':$1')
    .replace(/(:\d+)(?:-\d+|:\d+)$/, '$1');
  return indexes.get(label) ?? indexes.get(label.replace(/^\//, ''));
}

/** A link to the code of a finding: a message with an index, never an address. */
function placeLink(index: number, tooltip: string, ...content: (Node | string)[]): HTMLElement {
  return element(
    'a',
    { class: 'place', role: 'button', tabindex: '0', title: tooltip, 'data-place': String(index) },
    ...content,
  );
}

/** Makes links of the places that a part of the report names in inline code or in its text. */
function linkPlaces(part: DocumentFragment, { indexes, tooltip }: PlaceLinks): void {
  if (indexes.size === 0) return;
  for (const code of part.querySelectorAll('code')) {
    if (code.closest('pre, .place')) continue;
    const index = placeIndex(indexes, code.textContent);
    if (index !== undefined) {
      const link = placeLink(index, tooltip);
      code.replaceWith(link);
      link.append(code);
    }
  }

  const texts: Text[] = [];
  const walker = document.createTreeWalker(part, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (
      node instanceof Text &&
      /\d/.test(node.data) &&
      !node.parentElement?.closest('pre, code, a, .address')
    )
      texts.push(node);
  }
  for (const node of texts) {
    const pieces: (Node | string)[] = [];
    let end = 0;
    for (const match of node.data.matchAll(inText)) {
      const [whole] = match;
      const path = placeIndex(indexes, whole) === undefined ? whole.replace(lettersBefore, '') : whole;
      const index = placeIndex(indexes, path);
      if (index === undefined) continue;
      const start = match.index + whole.length - path.length;
      pieces.push(node.data.slice(end, start), placeLink(index, tooltip, path));
      end = match.index + whole.length;
    }
    if (pieces.length > 0) node.replaceWith(...pieces, node.data.slice(end));
  }
}

/** Attributes for our own script; a report that writes them itself gains nothing. */
const ownAttributes = ['data-anchor', 'data-check', 'data-image', 'data-language', 'data-to'];

const shared = { ALLOW_ARIA_ATTR: false, ALLOW_DATA_ATTR: false, RETURN_DOM_FRAGMENT: true } as const;

/** Turns untrusted HTML into nodes that cannot run, load or navigate: no address, name, class or style survives. */
export type Clean = (html: string) => DocumentFragment;

/** The two uses of DOMPurify: for a report, and for the highlighter's coloured spans. */
export function createSanitizer(window: Window & typeof globalThis): { report: Clean; highlighted: Clean } {
  const purify = DOMPurify(window);

  // An address is kept as inert text, an image as its alternative text, an anchor as a name that only our script reads.
  purify.addHook('uponSanitizeElement', (node) => {
    if (!(node instanceof window.HTMLImageElement)) return;
    const text = window.document.createElement('span');
    text.setAttribute('data-image', '');
    text.textContent = node.getAttribute('alt')?.trim() || (node.getAttribute('src') ?? '');
    node.replaceWith(text);
  });
  purify.addHook('beforeSanitizeAttributes', (node: Node) => {
    // The names of its fields can shadow a form's own members; forms are removed anyway.
    if (!(node instanceof window.Element) || node instanceof window.HTMLFormElement) return;
    const to = node.nodeName === 'A' ? node.getAttribute('href') : null;
    if (to !== null) node.setAttribute('data-to', to);
    const anchor = node.getAttribute('id') ?? (node.nodeName === 'A' ? node.getAttribute('name') : null);
    if (anchor !== null) node.setAttribute('data-anchor', anchor);
  });

  const reportRules = {
    ...shared,
    ALLOWED_TAGS: [...allowedTags],
    ALLOWED_ATTR: ['align', 'colspan', 'rowspan', 'start', ...ownAttributes],
    ALLOWED_NAMESPACES: ['http://www.w3.org/1999/xhtml'],
  };
  const highlightRules = { ...shared, ALLOWED_TAGS: ['span'], ALLOWED_ATTR: ['class'] };
  return {
    report: (html) => purify.sanitize(html, reportRules),
    highlighted: (html) => purify.sanitize(html, highlightRules),
  };
}
