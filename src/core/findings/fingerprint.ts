import { createHash } from 'node:crypto';
import type { Finding } from './finding.ts';

/** Names that stay the same from run to run while code moves: of CWE or title, path and snippet, counted among equals; one per finding, in their order. */
export function fingerprintsOf(findings: readonly Finding[]): string[] {
  const counts = new Map<string, number>();
  return findings.map((finding) => {
    const [place] = finding.places;
    const parts = [finding.cwes[0] ?? finding.title, place?.path ?? '', normalized(place?.snippet ?? '')];
    const name = JSON.stringify(parts);
    const ordinal = counts.get(name) ?? 0;
    counts.set(name, ordinal + 1);
    return createHash('sha256')
      .update(`${name}${String(ordinal)}`)
      .digest('hex')
      .slice(0, 32);
  });
}

function normalized(code: string): string {
  return code.replaceAll(/\s+/g, ' ').trim();
}
