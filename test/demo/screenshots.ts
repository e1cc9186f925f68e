// `npm run screenshots`: plays the whole job in the light and in the dark theme and leaves the pictures that README and the walkthrough show.
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { makeSampleWorkspace, setStage } from '../e2e/stage.ts';
import type { Workbench } from '../host/workbench.ts';
import { playBlackbox } from './playBlackbox.ts';
import { playJob } from './playJob.ts';

const folder = path.resolve(import.meta.dirname, '../../media/screenshots');
const sideBarWidth = 510;
const shownPictures = ['signIn', 'choose', 'start', 'close', 'triage', 'fix', 'features'];

for (const theme of ['Light', 'Dark']) {
  const stage = await setStage({
    application: true,
    service: { runDurationMs: 20_000 },
    settings: () => ({ 'workbench.colorTheme': `Default ${theme} Modern` }),
    viewport: { width: 1440, height: 900 },
    makeFolder: makeLargerShop,
  });
  let isWide = false;
  const picture = async (name: string): Promise<void> => {
    if (!shownPictures.includes(name)) return;
    if (!isWide) await widenSideBar(stage.workbench());
    isWide = true;
    await takePointerAway(stage.workbench());
    // The question is in a later screenshot.
    if (name !== 'start')
      await stage.workbench().page.locator('.notification-toast').first().waitFor({ state: 'hidden' });
    await stage.workbench().screenshot(path.join(folder, `${name}-${theme.toLowerCase()}.png`));
  };
  const step = (): undefined => undefined;
  try {
    await playJob(stage, { step, picture });
    await playBlackbox(stage, { step, picture });
  } finally {
    await stage.dispose();
  }
}

/** The tooltip of the hovered element would be in the screenshot. */
async function takePointerAway({ page }: Workbench): Promise<void> {
  await page.mouse.move(0, 0);
  await page.locator('.workbench-hover').first().waitFor({ state: 'hidden' });
}

/** Drags the edge of the side bar, in which longer texts are then not cut off. */
async function widenSideBar({ page }: Workbench): Promise<void> {
  const sideBar = await page.locator('.part.sidebar').boundingBox();
  if (sideBar === null) throw new Error('There is no side bar');
  const y = sideBar.y + sideBar.height / 2;
  await page.mouse.move(sideBar.x + sideBar.width, y);
  await page.mouse.down();
  await page.mouse.move(sideBar.x + sideBarWidth, y, { steps: 10 });
  await page.mouse.up();
}

/** The sample workspace with invented modules beside it, so that the question has the numbers of a real project. */
async function makeLargerShop(scratch: string): Promise<string> {
  const shop = await makeSampleWorkspace(path.join(scratch, 'shop'));
  const areas = ['accounts', 'billing', 'catalogue', 'delivery', 'returns', 'search', 'stock'];
  const parts = ['controller', 'events', 'model', 'repository', 'routes', 'schema', 'service', 'validation'];
  for (const area of areas) {
    for (const layer of ['api', 'domain', 'storage', 'tests']) {
      const target = path.join(shop, 'modules', area, layer);
      await mkdir(target, { recursive: true });
      for (const part of parts)
        await writeFile(path.join(target, `${part}.js`), inventedModule(area, layer, part));
    }
  }
  return shop;
}

function inventedModule(area: string, layer: string, part: string): string {
  const functions = Array.from({ length: 12 + ((area.length * part.length) % 40) }, (_, index) => {
    const name = `${part}${String(index + 1)}`;
    return `/** Invented for the pictures: step ${String(index + 1)} of ${area}/${layer}. */\nexport function ${name}(items) {\n  return items.filter((item) => item.area === '${area}' && item.step === ${String(index + 1)});\n}\n`;
  });
  return functions.join('\n');
}
