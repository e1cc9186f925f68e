import DOMPurify from 'dompurify';
import type { ReportStrings } from '../../src/core/report/protocol.ts';
import { visibleText } from '../../src/core/visibleText.ts';
import { withoutEscapes } from './contents.ts';
import { element } from './element.ts';
import { allowedTags } from './markdown.ts';
import { pictureIn } from './sections.ts';

interface RenderContext {
  readonly clean: Clean;
  readonly locations: LocationLinks;
  readonly strings: ReportStrings;
  readonly depth: number;
}

export function renderPart(html: string, context: RenderContext): DocumentFragment {
  const part = context.clean(html);
  for (const link of part.querySelectorAll('a')) finishLink(link, context);
  linkLocations(part, context.locations);
  for (const pre of part.querySelectorAll('pre')) frameCode(pre, context.strings);
  for (const table of part.querySelectorAll('table')) {
    const frame = element('div', { class: 'table', 'data-label': context.strings.table });
    table.replaceWith(frame);
    frame.append(table);
    for (const header of table.querySelectorAll('thead th')) header.setAttribute('scope', 'col');
  }
  for (const check of part.querySelectorAll<HTMLElement>('[data-check]')) {
    const isDone = check.dataset['check'] === 'done';
    check.closest('li')?.classList.add('task');
    const label = isDone ? context.strings.done : context.strings.notDone;
    check.replaceWith(
      element('span', { class: 'check', role: 'img', 'aria-label': label, 'data-done': String(isDone) }),
    );
  }
  for (const alert of part.querySelectorAll<HTMLElement>('[data-alert]')) {
    const [, label] =
      Object.entries(context.strings.alerts).find(([kind]) => kind === alert.dataset['alert']) ?? [];
    if (label !== undefined) alert.prepend(element('p', { class: 'alert' }, label));
  }
  for (const details of part.querySelectorAll('details')) details.open = true;
  for (const original of part.querySelectorAll<HTMLElement>('h1, h2, h3, h4, h5, h6')) {
    const level = Math.min(6, Number(original.tagName.slice(1)) + context.depth);
    const heading = element(`h${level}` as 'h6', {}, ...original.childNodes);
    for (const { name, value } of original.attributes) heading.setAttribute(name, value);
    heading.setAttribute('tabindex', '-1');
    original.replaceWith(heading);
  }
  for (const text of textsOf(part)) {
    const visible = visibleText(text.data);
    if (visible !== text.data) text.data = visible;
  }
  return part;
}

function textsOf(part: DocumentFragment): Text[] {
  const texts: Text[] = [];
  const walker = document.createTreeWalker(part, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode())
    if (node instanceof Text) texts.push(node);
  return texts;
}

/** Links lead only to code or within the report. The URL of any other link is shown as text. */
function finishLink(link: HTMLAnchorElement, { locations }: RenderContext): void {
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
    .map((candidate) => locationIndex(locations.indexes, candidate))
    .find((found) => found !== undefined);
  if (index !== undefined) {
    link.replaceWith(locationLink(index, locations.tooltip, ...link.childNodes));
  } else if (to.startsWith('#')) {
    const attributes = { class: 'jump', role: 'link', tabindex: '0', 'data-jump': to.slice(1) };
    link.replaceWith(element('a', attributes, ...link.childNodes));
  } else {
    const outside = element('span', { class: 'outside', title: visibleText(to) }, ...link.childNodes);
    link.replaceWith(outside);
    if (text !== to && `mailto:${text}` !== to && `http://${text}` !== to) {
      outside.after(' ', element('span', { class: 'address' }, to));
    }
  }
}

export function renderAsWritten(source: string, strings: ReportStrings): HTMLElement {
  const holder = element('div', {}, element('pre', {}, element('code', {}, visibleText(source))));
  for (const pre of holder.querySelectorAll('pre')) frameCode(pre, strings);
  return holder;
}

function frameCode(pre: HTMLPreElement, strings: ReportStrings): void {
  const language = visibleText(pre.dataset['language'] ?? '');
  const copy = element('button', { type: 'button', class: 'copy' }, strings.copy);
  const bar = element('div', { class: 'code-bar' }, element('span', {}, language), copy);
  const frame = element('div', { class: 'code' }, bar);
  pre.dataset['label'] = language === '' ? strings.code : `${strings.code}: ${language}`;
  pre.replaceWith(frame);
  frame.append(pre);
}

interface LocationLinks {
  /** The keys are labels, such as `path:line`. */
  readonly indexes: ReadonlyMap<string, number>;
  readonly tooltip: string;
}

/** A path in running text begins and ends at these characters. */
const separators = '\\s()[\\]{}<>"\'`,;|、。「」『』【】〈〉《》（）→〜～';
/** A match begins only at the start of a word: trying every letter would take quadratic time. */
const locationInText = new RegExp(
  `(?<![^${separators}])[^${separators}]+(?::\\d+(?:[-:]\\d+)?|#L\\d+(?:C\\d+)?(?:-L?\\d+(?:C\\d+)?)?)`,
  'gu',
);
/** Japanese text may have no space before a path. */
const lettersBefore = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー：・]+/u;

/** Reads `src/app.ts:12`, `src\app.ts:12-20` and `/src/app.ts#L12`. */
function locationIndex(indexes: ReadonlyMap<string, number>, text: string): number | undefined {
  const label = text
    .trim()
    .replaceAll('\\', '/')
    .replace(/^\.\//, '')
    .replace(/#L(\d+)(?:C\d+)?(?:-L?\d+(?:C\d+)?)?$/, ':$1')
    .replace(/(:\d+)(?:-\d+|:\d+)$/, '$1');
  return indexes.get(label) ?? indexes.get(label.replace(/^\//, ''));
}

/** A click sends a message with an index, never a URL. */
function locationLink(index: number, tooltip: string, ...content: (Node | string)[]): HTMLElement {
  return element(
    'a',
    { class: 'location', role: 'button', tabindex: '0', title: tooltip, 'data-location': String(index) },
    ...content,
  );
}

function linkLocations(part: DocumentFragment, { indexes, tooltip }: LocationLinks): void {
  if (indexes.size === 0) return;
  for (const code of part.querySelectorAll('code')) {
    if (code.closest('pre, .location')) continue;
    const index = locationIndex(indexes, code.textContent);
    if (index === undefined) continue;
    const link = locationLink(index, tooltip);
    code.replaceWith(link);
    link.append(code);
  }

  for (const node of textsOf(part)) {
    if (!/\d/.test(node.data) || node.parentElement?.closest('pre, code, a, .address')) continue;
    const pieces: (Node | string)[] = [];
    let end = 0;
    for (const match of node.data.matchAll(locationInText)) {
      const [word] = match;
      const path = locationIndex(indexes, word) === undefined ? word.replace(lettersBefore, '') : word;
      const index = locationIndex(indexes, path);
      if (index === undefined) continue;
      const start = match.index + word.length - path.length;
      pieces.push(node.data.slice(end, start), locationLink(index, tooltip, path));
      end = match.index + word.length;
    }
    if (pieces.length > 0) node.replaceWith(...pieces, node.data.slice(end));
  }
}

function formatSize(bytes: number): string {
  const units = ['byte', 'kilobyte', 'megabyte'] as const;
  const power = bytes < 1e3 ? 0 : bytes < 1e6 ? 1 : 2;
  const format = {
    style: 'unit',
    unit: units[power],
    maximumFractionDigits: power === 2 ? 1 : 0,
  } as const;
  return new Intl.NumberFormat(document.documentElement.lang, format).format(bytes / 1000 ** power);
}

/** This script sets these attributes. A report that contains them gains nothing. */
const scriptAttributes = ['alert', 'anchor', 'check', 'footnote', 'image', 'language', 'to'].map(
  (name) => `data-${name}`,
);

const shared = { ALLOW_ARIA_ATTR: false, ALLOW_DATA_ATTR: false, RETURN_DOM_FRAGMENT: true } as const;

/**
 * The nodes can't run, load, or navigate: URLs, names, and styles are removed. Only highlighted
 * code keeps classes.
 */
export type Clean = (html: string) => DocumentFragment;

export function createSanitizer(window: Window & typeof globalThis): { report: Clean; highlighted: Clean } {
  const purify = DOMPurify(window);

  // An image becomes text. A URL and an anchor's name become attributes for this script.
  purify.addHook('uponSanitizeElement', (node) => {
    if (!(node instanceof window.HTMLImageElement)) return;
    const text = window.document.createElement('span');
    text.setAttribute('data-image', '');
    const url = node.getAttribute('src') ?? '';
    const picture = pictureIn(url);
    const label = node.getAttribute('alt')?.trim() || (picture?.type ?? url);
    text.textContent = picture === undefined ? label : `${label} (${formatSize(picture.bytes)})`;
    node.replaceWith(text);
  });
  purify.addHook('beforeSanitizeAttributes', (node: Node) => {
    // The fields of a form can shadow its members. Forms are removed anyway.
    if (!(node instanceof window.Element) || node instanceof window.HTMLFormElement) return;
    const to = node.nodeName === 'A' ? node.getAttribute('href') : null;
    if (to !== null) node.setAttribute('data-to', to);
    const anchor = node.getAttribute('id') ?? (node.nodeName === 'A' ? node.getAttribute('name') : null);
    if (anchor !== null) node.setAttribute('data-anchor', anchor);
  });

  const reportRules = {
    ...shared,
    ALLOWED_TAGS: [...allowedTags],
    ALLOWED_ATTR: ['align', 'colspan', 'rowspan', 'start', ...scriptAttributes],
    ALLOWED_NAMESPACES: ['http://www.w3.org/1999/xhtml'],
  };
  const highlightRules = { ...shared, ALLOWED_TAGS: ['span'], ALLOWED_ATTR: ['class'] };
  return {
    report: (html) => purify.sanitize(html, reportRules),
    highlighted: (html) => purify.sanitize(html, highlightRules),
  };
}
