/** True for a relative path (with `/`) that stays below the folder it is unpacked into, on every system: not absolute, no drive, no `..`, nothing empty. */
export function isUsableName(path: string): boolean {
  return (
    path.isWellFormed() &&
    !path.includes('\0') &&
    !/^[A-Za-z]:(?:[\\/]|$)/.test(path) &&
    !path.startsWith('\\') &&
    path.split('/').every((name) => name !== '' && name !== '.') &&
    !path.split(/[\\/]/).includes('..')
  );
}
