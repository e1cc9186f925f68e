import { element } from './element.ts';

/** What is needed to make links of places. */
export interface PlaceLinks {
  /** Finding index by `path:line`. */
  readonly indexes: ReadonlyMap<string, number>;
  readonly tooltip: string;
}

/** Matches only from the start of a word: from every letter of a long one, it would take quadratic time. */
const inText =
  /(?<![^\s()[\]{}<>"'`,;|、。「」（）])[^\s()[\]{}<>"'`,;|、。「」（）]+(?::\d+(?:[-:]\d+)?|#L\d+(?:-L?\d+)?)/gu;
/** Japanese puts no space before a path. */
const lettersBefore = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー：・]+/u;

/** The finding that a text like `src/app.ts:12`, `src\app.ts:12-20` or `src/app.ts#L12` stands for. */
export function placeIndex(indexes: ReadonlyMap<string, number>, text: string): number | undefined {
  const label = text
    .trim()
    .replaceAll('\\', '/')
    .replace(/^\.\//, '')
    .replace(/#L(\d+)(?:-L?\d+)?$/, ':$1');
  return indexes.get(label) ?? indexes.get(label.replace(/(:\d+)(?:-\d+|:\d+)$/, '$1'));
}

/** A link to the code of a finding: a message with an index, never an address. */
export function placeLink(index: number, tooltip: string, ...content: (Node | string)[]): HTMLElement {
  return element(
    'a',
    { class: 'place', role: 'button', tabindex: '0', title: tooltip, 'data-place': String(index) },
    ...content,
  );
}

/** Makes links of the places that a part of the report names in inline code or in its text. */
export function linkPlaces(part: DocumentFragment, { indexes, tooltip }: PlaceLinks): void {
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
