import type { ShownFinding, ShownPlace } from '../shownFinding.ts';

/**
 * The texts `path:line` that mean exactly one place. A report may write any of them and is as old as its run: the line is the reported one, the path the
 * reported or the current one, with `/`. A place whose code is gone is left out if its text also means a place with code.
 */
export function placeLinks(shown: readonly Pick<ShownFinding, 'places'>[]): ReadonlyMap<string, ShownPlace> {
  const links = new Map<string, ShownPlace>();
  const ambiguous = new Set<string>();
  const places = shown
    .flatMap((finding) => finding.places)
    .filter(({ startLine }) => startLine !== undefined);
  for (const place of places.toSorted((a, b) => Number(isGone(a)) - Number(isGone(b)))) {
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
  const reported = place.reported.path.replaceAll('\\', '/').replace(/^\.\//, '');
  const line = place.reported.startLine ?? place.startLine;
  return [place.path, reported].map((path) => `${path}:${String(line)}`);
}

function isGone({ drift }: ShownPlace): boolean {
  return drift === 'gone';
}
