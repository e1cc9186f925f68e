import type { ShownFinding, ShownPlace } from '../shownFinding.ts';

/**
 * The texts `path:line` that mean exactly one place, as a report may write them: with the path as it came, and as it is here,
 * always with `/`; with the line that was told, and the one where the code is now.
 */
export function placeLinks(shown: readonly Pick<ShownFinding, 'places'>[]): ReadonlyMap<string, ShownPlace> {
  const links = new Map<string, ShownPlace>();
  const ambiguous = new Set<string>();
  for (const place of shown.flatMap(({ places }) => places)) {
    if (place.startLine === undefined) continue;
    for (const path of [place.path, place.told.path.replaceAll('\\', '/')]) {
      const lines: readonly number[] = [place.startLine, place.told.startLine ?? place.startLine];
      for (const line of lines) {
        const label = `${path}:${line}`;
        const known: ShownPlace = links.get(label) ?? place;
        if (known.file !== place.file || known.startLine !== place.startLine) ambiguous.add(label);
        links.set(label, known);
      }
    }
  }
  for (const label of ambiguous) links.delete(label);
  return links;
}
