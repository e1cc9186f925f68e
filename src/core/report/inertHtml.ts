/** What a saved report may consist of; a report's own elements and those of the view around it. */
const elements: ReadonlySet<string> = new Set(
  (
    'a abbr article b blockquote br caption cite code dd del details div dl dt em figcaption figure h1 h2 h3 h4 h5 h6 header hr i ' +
    'ins kbd li main mark nav ol p pre q rp rt ruby s samp section small span strong sub summary sup table tbody td tfoot th ' +
    'thead tr u ul var wbr'
  ).split(' '),
);

const number = /^-?\d{1,9}$/;
const word = /^[a-z0-9]*$/i;
const anyText = /^/;

/** The attributes that are kept, and what their values look like: no address but one within the page, no style but a bar's length. */
const attributes: ReadonlyMap<string, RegExp> = new Map([
  ['align', word],
  ['aria-hidden', word],
  ['aria-label', anyText],
  ['aria-labelledby', /^contents-label$/],
  ['class', /^[\w -]*$/],
  ['colspan', number],
  ['data-done', word],
  ['data-empty', word],
  ['data-image', word],
  ['data-level', word],
  ['data-severity', word],
  ['href', /^#h-\d+$/],
  ['id', /^(?:h-\d+|contents-label)$/],
  ['lang', /^[a-z-]{1,35}$/i],
  ['open', /^$/],
  ['role', /^img$/],
  ['rowspan', number],
  ['scope', word],
  ['start', number],
  ['style', /^--share: ?[\d.]+;?$/],
]);

const piece = /([^<]+)|<(\/?)([a-z][a-z0-9]*)((?: [a-z-]+="[^"]*")*)>/y;
const attribute = / ([a-z-]+)="([^"]*)"/g;

/**
 * Rebuilds HTML as a browser serialises it from nothing but text, harmless elements and their harmless attributes; undefined
 * for anything else. It is a second check behind the view's sanitiser and does not trust the view.
 */
export function toInertHtml(html: string): string | undefined {
  const parts: string[] = [];
  piece.lastIndex = 0;
  while (piece.lastIndex < html.length) {
    const match = piece.exec(html);
    if (match === null) return undefined;
    const [, text, slash = '', name = '', attributeText = ''] = match;
    if (text !== undefined) {
      parts.push(text);
    } else {
      if (!elements.has(name)) return undefined;
      parts.push(`<${slash}${name}${slash === '' ? keptAttributes(attributeText) : ''}>`);
    }
  }
  return parts.join('');
}

function keptAttributes(attributeText: string): string {
  let kept = '';
  for (const [whole, name = '', value = ''] of attributeText.matchAll(attribute)) {
    if (attributes.get(name)?.test(value) === true) kept += whole;
  }
  return kept;
}
