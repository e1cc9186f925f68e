import type { ShownFinding } from '../shownFinding.ts';

type Placed = Pick<ShownFinding, 'run' | 'finding' | 'folder' | 'places'>;

/** The folder that a finding is about, else the one in which its main place was found; undefined when nothing tells it. */
export function folderOf({ finding, folder, places }: Placed): string | undefined {
  return folder ?? places.find(({ told }) => told === finding.places[0])?.folder;
}

/** Whose decisions count for a finding: those of its folder, and of every folder of its run when it is none of them. */
export function decisionFolders(shown: Placed): readonly string[] {
  const { targets } = shown.run;
  const own = folderOf(shown);
  const isOwn = own !== undefined && targets.some(({ folder }) => folder === own);
  return isOwn ? [own] : targets.map(({ folder }) => folder);
}
