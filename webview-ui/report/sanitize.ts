import DOMPurify from 'dompurify';
import { allowedTags } from './markdown.ts';

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
