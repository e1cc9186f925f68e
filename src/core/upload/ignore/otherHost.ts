import { win32 } from 'node:path';

/**
 * Whether a Windows path leads to a share on which none of the `known` paths lies: to open one that a repository chose would send the
 * person's credentials to its host. Never so on other systems.
 */
export function isOnOtherHost(
  path: string,
  known: readonly string[],
  platform: NodeJS.Platform = process.platform,
): boolean {
  if (platform !== 'win32' || !/^[\\/]{2}/.test(path)) return false;
  // `\\?\` and `\\.\` may lead anywhere.
  return /^[\\/]{2}[?.][\\/]/.test(path) || !known.some((each) => shareOf(each) === shareOf(path));
}

function shareOf(path: string): string {
  return win32.parse(win32.normalize(path)).root.toLowerCase();
}
