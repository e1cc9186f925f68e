import { element } from './element.ts';

/** What a place link shows when it is pointed at, and what it does. */
export interface PlaceLinks {
  /** Finding index by `path:line`. */
  readonly indexes: ReadonlyMap<string, number>;
  readonly tooltip: string;
}

const inText = /[^\s()[\]{}<>"'`,;|、。「」（）]+:\d+/gu;

/** The finding that a text like `src/app.ts:12`, `src/app.ts:12-20` or `src/app.ts#L12` stands for. */
export function placeIndex(indexes: ReadonlyMap<string, number>, text: string): number | undefined {
  const label = text
    .trim()
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
      node.data.includes(':') &&
      !node.parentElement?.closest('pre, code, a, .address')
    )
      texts.push(node);
  }
  for (const node of texts) {
    const pieces: (Node | string)[] = [];
    let end = 0;
    for (const match of node.data.matchAll(inText)) {
      const index = indexes.get(match[0]);
      if (index === undefined) continue;
      pieces.push(node.data.slice(end, match.index), placeLink(index, tooltip, match[0]));
      end = match.index + match[0].length;
    }
    if (pieces.length > 0) node.replaceWith(...pieces, node.data.slice(end));
  }
}
