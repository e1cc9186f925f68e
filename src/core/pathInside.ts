import path, { type PlatformPath } from 'node:path';

/** The way from a folder down to a file in it, with `/`, empty for the folder itself; undefined for what is elsewhere. Both are absolute; `system` decides what separates names and whether letter case tells them apart. */
export function pathInside(folder: string, file: string, system: PlatformPath = path): string | undefined {
  const way = system.relative(folder, file);
  const isElsewhere = way === '..' || way.startsWith(`..${system.sep}`) || system.isAbsolute(way);
  return isElsewhere ? undefined : way.split(system.sep).join('/');
}
