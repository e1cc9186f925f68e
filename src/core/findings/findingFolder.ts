import type { ShownFinding } from './findingStore.ts';

type Placed = Pick<ShownFinding, 'run' | 'finding' | 'places'>;

/** The folder of a finding's main place, undefined when nothing tells it. */
export function folderOf({ run, finding, places }: Placed): string | undefined {
  if (places[0] !== undefined) return places[0].folder;
  const index = run.targets.length === 1 ? 0 : finding.places[0]?.targetIndex;
  return index === undefined ? undefined : run.targets[index]?.folder;
}

/** Whose decisions count for a finding: those of its folder, and of every folder of its run when nothing tells which it is. */
export function decisionFolders(shown: Placed): readonly string[] {
  const folder = folderOf(shown);
  return folder === undefined ? shown.run.targets.map((target) => target.folder) : [folder];
}
