// `npm run screenshots`: plays the whole job and leaves the pictures of README and the walkthrough: stills in the light and
// the dark theme, and the moving picture. Everything in them is invented: the shop, its findings, times, and addresses.
import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { screenshotFolder } from '../host/workbench.ts';
import { type Frame, toMovingPicture } from './movingPicture.ts';
import { playBlackbox } from './playBlackbox.ts';
import { takePictures } from './takePictures.ts';

const media = path.resolve(import.meta.dirname, '../../media');
const stills = ['signIn', 'choose', 'start', 'close', 'triage', 'fix', 'features'];
/** The pictures of the main job in order, and how long each is shown. */
const frames: Readonly<Record<string, number>> = {
  command: 1_600,
  start: 3_200,
  close: 1_600,
  status: 2_600,
  ended: 2_200,
  triage: 2_400,
  fix: 2_000,
  report: 2_200,
};

const frameFolder = path.join(screenshotFolder, 'frames');
await rm(frameFolder, { recursive: true, force: true });
const fileOf = (name: string): string => path.join(frameFolder, `${name}.png`);
await takePictures('Light', { width: 1120, height: 700, sideBarWidth: 380 }, (name) =>
  name in frames ? fileOf(name) : undefined,
);
const shown: Frame[] = [];
for (const [name, ms] of Object.entries(frames)) shown.push({ png: await readFile(fileOf(name)), ms });
await writeFile(path.join(media, 'main-job.png'), toMovingPicture(shown));

for (const theme of ['Light', 'Dark']) {
  const wanted = (name: string): string | undefined =>
    stills.includes(name) ? path.join(media, 'screenshots', `${name}-${theme.toLowerCase()}.png`) : undefined;
  await takePictures(theme, { width: 1440, height: 900, sideBarWidth: 510 }, wanted, playBlackbox);
}
