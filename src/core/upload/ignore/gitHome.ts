import { statSync } from 'node:fs';
import { homedir } from 'node:os';

/** What a home folder is looked up in. */
interface HomeSystem {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Node's answer: `USERPROFILE` on Windows. */
  readonly homedir: () => string;
  readonly isFolder: (path: string) => boolean;
}

const thisSystem: HomeSystem = {
  platform: process.platform,
  env: process.env,
  homedir,
  isFolder: (path) => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true,
};

/** The home folder in which git looks for its configuration: on Windows `HOME` and the home share, while it is there, come before the profile. */
export function gitHome({ platform, env, homedir, isFolder }: HomeSystem = thisSystem): string {
  if (platform !== 'win32') return homedir();
  const { HOME: home, HOMEDRIVE: drive, HOMEPATH: path } = env;
  if (home !== undefined && home !== '') return home;
  const share = drive === undefined || path === undefined ? '' : drive + path;
  return share !== '' && isFolder(share) ? share : homedir();
}
