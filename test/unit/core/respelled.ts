/**
 * The same path as a user may type it on this system: in other letter case on Windows, as it is
 * elsewhere.
 */
export function respelled(path: string): string {
  if (process.platform !== 'win32') return path;
  return path === path.toLowerCase() ? path.toUpperCase() : path.toLowerCase();
}
