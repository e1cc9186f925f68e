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

/** True for the names under which git, Mercurial and Subversion keep their own data, in any letter case. */
export function isRepositoryData(name: string): boolean {
  return name.startsWith('.') && /^\.(?:git|hg|svn)$/i.test(name);
}

/** The folders that a path lies below, from the top, each ending in `/`; a folder's own path ends in `/`, too. */
export function foldersAbove(path: string): string[] {
  const out: string[] = [];
  for (let at = path.indexOf('/'); at >= 0 && at < path.length - 1; at = path.indexOf('/', at + 1)) {
    out.push(path.slice(0, at + 1));
  }
  return out;
}
