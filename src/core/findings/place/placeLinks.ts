import type { ShownFinding, ShownPlace } from '../shownFinding.ts';

/**
 * The texts `path:line` that mean exactly one place, as a report may write them: with the path as it came, and as it is here,
 * always with `/`; with the line that was told, and the one where the code is now. Code that is gone has only the line that was told,
 * and no text that means code which is there.
 */
export function placeLinks(shown: readonly Pick<ShownFinding, 'places'>[]): ReadonlyMap<string, ShownPlace> {
  const links = new Map<string, ShownPlace>();
  const ambiguous = new Set<string>();
  const places = shown.flatMap((each) => each.places).filter(({ startLine }) => startLine !== undefined);
  for (const place of places.toSorted((one, other) => Number(isGone(one)) - Number(isGone(other)))) {
    for (const label of labelsOf(place)) {
      const known = links.get(label) ?? place;
      if (isGone(place) && !isGone(known)) continue;
      if (known.file !== place.file || known.startLine !== place.startLine) ambiguous.add(label);
      links.set(label, known);
    }
  }
  for (const label of ambiguous) links.delete(label);
  return links;
}

function labelsOf(place: ShownPlace): string[] {
  const told = place.told.path.replaceAll('\\', '/').replace(/^\.\//, '');
  const lines = [isGone(place) ? undefined : place.startLine, place.told.startLine];
  return [place.path, told].flatMap((path) =>
    lines.filter((line) => line !== undefined).map((line) => `${path}:${String(line)}`),
  );
}

function isGone({ drift }: ShownPlace): boolean {
  return drift === 'gone';
}
