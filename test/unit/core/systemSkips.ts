import { lstatSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const windows = process.platform === 'win32';

/** Some systems can't run tests with these options. The reason is printed. */
export const withRights = { skip: windows && 'rights of files are POSIX' };
export const withPipes = { skip: windows && 'Windows has no named pipes in folders' };
export const withOddNames = { skip: windows && 'Windows has no files with such names' };
export const withLinks = { skip: !makesLinks() && 'links need a right here, or do not exist' };

/** Wine reports success, but makes nothing. */
function makesLinks(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'link-'));
  const link = join(folder, 'link');
  try {
    symlinkSync(folder, link);
    return lstatSync(link).isSymbolicLink();
  } catch {
    return false;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
