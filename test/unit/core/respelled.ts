/** A user may type the same path in other letter case on Windows, and as it is elsewhere. */
export function respelled(path: string): string {
  if (process.platform !== 'win32') return path;
  return path === path.toLowerCase() ? path.toUpperCase() : path.toLowerCase();
}
