/** The finding that a text like `src/app.ts:12`, `src\app.ts:12-20` or `src/app.ts#L12` stands for. */
export function placeIndex(indexes: ReadonlyMap<string, number>, text: string): number | undefined {
  const label = text
    .trim()
    .replaceAll('\\', '/')
    .replace(/^\.\//, '')
    .replace(/#L(\d+)(?:-L?\d+)?$/, ':$1');
  return indexes.get(label) ?? indexes.get(label.replace(/(:\d+)(?:-\d+|:\d+)$/, '$1'));
}
