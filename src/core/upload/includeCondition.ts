import { realpath } from 'node:fs/promises';
import { dirname, isAbsolute, join, sep } from 'node:path';
import { systemCode } from '../errors.ts';
import { toIgnoreLine } from './choices.ts';
import { foldersAbove } from './entryName.ts';
import { noRules, settingLines } from './ignoreRules.ts';
import { toUnits } from './units.ts';

/** What a condition of a configuration file is decided by. */
export interface ConditionPlaces {
  readonly home: string;
  readonly gitDir: string | undefined;
  /** Whether a path must not be opened (see `isOnOtherHost`). */
  readonly isElsewhere: (path: string) => boolean;
}

/** The condition of an `includeIf`, for `gitdir:` and `gitdir/i:`; undefined for those that are not decided. */
export async function holds(
  condition: string,
  configPath: string,
  { home, gitDir, isElsewhere }: ConditionPlaces,
): Promise<boolean | undefined> {
  const [, fold, written] = /^gitdir(\/i)?:(.+)$/s.exec(condition) ?? [];
  if (written === undefined || /^(?:~[^/]|%\(prefix\)\/)/.test(written)) return undefined;
  if (gitDir === undefined) return false;
  let pattern = written;
  let places: string[];
  try {
    if (/^~(?:\/|$)/.test(pattern)) pattern = slashes(await realpath(home)) + pattern.slice(1);
    if (pattern.startsWith('./')) pattern = slashes(dirname(await realpath(configPath))) + pattern.slice(1);
    places = [await realpath(gitDir), gitDir];
    // A line break would make two rules of one.
    if (places.join('').includes('\n')) return undefined;
  } catch {
    return undefined;
  }
  const start = isAbsolute(pattern) ? (/^[^*?[\\]*\//.exec(pattern)?.[0] ?? '') : '';
  if (start === '') pattern = `**/${pattern}`;
  if (pattern.endsWith('/')) pattern += '**';
  if (places.some((place) => matchesWhole(pattern, slashes(place), fold !== undefined))) return true;
  return start === '' ? false : canLieBelow(start, isElsewhere);
}

/** False unless a path as written leads somewhere by a link: git also takes the way by which a person came, which is not known here. */
async function canLieBelow(
  folder: string,
  isElsewhere: ConditionPlaces['isElsewhere'],
): Promise<false | undefined> {
  if (isElsewhere(folder)) return undefined;
  try {
    return slashes(join(await realpath(folder), sep)) === folder ? false : undefined;
  } catch (error) {
    return ['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '') ? false : undefined;
  }
}

/** Whether a pattern matches an absolute path itself, and not just a folder above it. */
function matchesWhole(pattern: string, path: string, ignoreCase: boolean): boolean {
  const below = path.replace(/^\/+/, '');
  const notAbove = foldersAbove(below).map((folder) => `!${toIgnoreLine(folder)}`);
  const rules = noRules(ignoreCase).and('', settingLines([pattern.replace(/^\/+/, '/'), ...notAbove]));
  return rules.match('', toUnits(below)) !== undefined;
}

function slashes(path: string): string {
  return process.platform === 'win32' ? path.replaceAll('\\', '/') : path;
}
