// `npm run screenshots`: plays the whole job once and leaves the pictures of README and the
// walkthrough: stills in the light and the dark theme, and the moving picture. Everything in them
// is invented: the shop, its findings, times, and addresses.
import { copyFile, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { screenshotFolder } from '../host/workbench.ts';
import { type Frame, toMovingPicture } from './movingPicture.ts';
import { takePictures, type Theme } from './takePictures.ts';

const media = path.resolve(import.meta.dirname, '../../media');
const stills = ['signIn', 'choose', 'start', 'close', 'triage', 'fix', 'features'];
/**
 * The pictures of the main job are in order, each with how long it is shown. A program that plays
 * no moving pictures shows the first one.
 */
const frames: Readonly<Record<string, number>> = {
  triage: 2_000,
  command: 1_200,
  start: 3_000,
  later: 1_600,
  ended: 1_500,
  fix: 2_400,
  decision: 1_500,
  fixed: 1_800,
};

const folder = path.join(screenshotFolder, 'pictures');
await rm(folder, { recursive: true, force: true });
const fileOf = (name: string, theme: Theme): string =>
  path.join(folder, `${name}-${theme.toLowerCase()}.png`);
await takePictures((name, theme) =>
  stills.includes(name) || (name in frames && theme === 'Light') ? fileOf(name, theme) : undefined,
);
const shown: Frame[] = [];
for (const [name, ms] of Object.entries(frames))
  shown.push({ png: await readFile(fileOf(name, 'Light')), ms });
await writeFile(path.join(media, 'main-job.png'), toMovingPicture(shown));
for (const name of stills)
  for (const theme of ['Light', 'Dark'] as const)
    await copyFile(fileOf(name, theme), path.join(media, 'screenshots', path.basename(fileOf(name, theme))));
