import { createHash } from 'node:crypto';
import { escapeHtml } from './documentHtml.ts';

interface SavedReport {
  readonly title: string;
  readonly language: string;
  readonly body: string;
  readonly style: string;
}

export function toSavedHtml({ title, language, body, style }: SavedReport): string | undefined {
  const inert = toInertHtml(body);
  if (inert === undefined) return undefined;
  const hash = createHash('sha256').update(style).digest('base64');
  const policy = [
    "default-src 'none'",
    `style-src 'sha256-${hash}'`,
    // The lengths of the chart's bars are the only style attributes in the body.
    "style-src-attr 'unsafe-inline'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  return `<!DOCTYPE html>
<html lang="${escapeHtml(language)}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${escapeHtml(title)}</title>
<style>${style}</style>
</head>
<body>
${inert}
</body>
</html>
`;
}

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

/** Links stay within the page. */
const attributes: ReadonlyMap<string, RegExp> = new Map([
  ['align', word],
  ['aria-hidden', word],
  ['aria-label', anyText],
  ['aria-labelledby', /^contents-label$/],
  ['class', /^[\w -]*$/],
  ['colspan', number],
  ['data-alert', word],
  ['data-done', word],
  ['data-empty', word],
  ['data-footnote', word],
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
 * Rebuilds serialized HTML with only the allowed attributes. Returns undefined if it has anything
 * but text and allowed elements. The webview has sanitized the HTML, but isn't trusted.
 */
export function toInertHtml(html: string): string | undefined {
  const parts: string[] = [];
  piece.lastIndex = 0;
  while (piece.lastIndex < html.length) {
    const match = piece.exec(html);
    if (match === null) return undefined;
    const [, text, slash = '', name = '', attributeText = ''] = match;
    if (text === undefined && !elements.has(name)) return undefined;
    parts.push(text ?? `<${slash}${name}${slash === '' ? allowedAttributes(attributeText) : ''}>`);
  }
  return parts.join('');
}

function allowedAttributes(attributeText: string): string {
  const found = [...attributeText.matchAll(attribute)];
  const allowed = found.filter(([, name = '', value = '']) => attributes.get(name)?.test(value) === true);
  return allowed.map(([whole]) => whole).join('');
}
