import { setStage, type Stage } from '../e2e/stage.ts';
import type { Workbench } from '../host/workbench.ts';
import { eventually } from '../host/workbench/eventually.ts';
import type { playBlackbox } from './playBlackbox.ts';
import { playJob, untilRunning } from './playJob.ts';
import { commitAll, letTimePass, makeLargerShop } from './sampleShop.ts';

const runMinutes = 3 * 60 + 12;
/** Pictures with a notification in them. */
const withNotification = ['start', 'ended'];

interface Size {
  readonly width: number;
  readonly height: number;
  readonly sideBarWidth: number;
}

/** Plays the job, and saves each picture that `wanted` gives a file. */
export async function takePictures(
  theme: string,
  { sideBarWidth, ...viewport }: Size,
  wanted: (name: string) => string | undefined,
  more?: typeof playBlackbox,
): Promise<void> {
  const stage = await setStage({
    application: true,
    service: { runDurationMs: 24 * 3_600_000, organizations: { 'shop-security': ['invented-token'] } },
    settings: () => ({
      'workbench.colorTheme': `Default ${theme} Modern`,
      'window.title': '${activeEditorShort}${separator}${rootName}',
      'remote.autoForwardPorts': false,
    }),
    viewport,
    makeFolder: makeLargerShop,
  });
  let widened: Workbench | undefined;
  const picture = async (name: string): Promise<void> => {
    const file = wanted(name);
    if (file === undefined) return;
    const workbench = stage.workbench();
    if (widened !== workbench) await prepareWindow(workbench, sideBarWidth);
    widened = workbench;
    if (name === 'command') await typeCommand(workbench);
    await takePointerAway(workbench);
    if (!withNotification.includes(name))
      await workbench.page.locator('.notification-toast').first().waitFor({ state: 'hidden' });
    await save(stage, file);
    if (name === 'command') await workbench.page.keyboard.press('Escape');
    const status = name === 'close' ? wanted('status') : undefined;
    if (status !== undefined) await saveTooltip(stage, status);
  };
  const step = (): undefined => undefined;
  const started = async (): Promise<void> => {
    await letTimePass(stage, runMinutes);
    await stage.workbench().openFile('src/server.js');
    await untilRunning(stage.workbench());
  };
  const running = async (): Promise<void> => {
    await eventually(
      () => stage.service.runs(),
      (runs) => runs.some(({ status }) => status === 'RUNNING'),
    );
    await untilRunning(stage.workbench());
    for (const { id, status } of stage.service.runs())
      if (status === 'RUNNING') await stage.service.finishRun(id);
    await stage.workbench().runCommand('Whitebox: Check Run Status Now');
  };
  try {
    await commitAll(stage.folder);
    await playJob(stage, { step, picture, started, running });
    await more?.(stage, { step, picture, running });
  } finally {
    await stage.dispose();
  }
}

/** Hides what belongs to the host of the tests, and widens the side bar so that longer texts are not cut off. */
async function prepareWindow({ page }: Workbench, sideBarWidth: number): Promise<void> {
  const ofHost = ['.letterpress', '[id*="keyboardLayout" i]', '[id*="forwardedPorts" i]'];
  await page.addStyleTag({ content: `${ofHost.join()} { display: none !important; }` });
  const sideBar = await page.locator('.part.sidebar').boundingBox();
  if (sideBar === null) throw new Error('There is no side bar');
  const y = sideBar.y + sideBar.height / 2;
  await page.mouse.move(sideBar.x + sideBar.width, y);
  await page.mouse.down();
  await page.mouse.move(sideBar.x + sideBarWidth, y, { steps: 10 });
  await page.mouse.up();
}

async function typeCommand({ page }: Workbench): Promise<void> {
  const palette = page.locator('.quick-input-widget:visible');
  await page.keyboard.press('F1');
  await palette.locator('.quick-input-box input').fill('>Whitebox: Start');
  await palette.locator('.monaco-list-row').filter({ hasText: 'Start Assessment' }).first().waitFor();
}

/** The tooltip of the hovered element would be in the picture. */
async function takePointerAway({ page }: Workbench): Promise<void> {
  await page.mouse.move(0, 0);
  await page.locator('.workbench-hover').first().waitFor({ state: 'hidden' });
}

async function saveTooltip(stage: Stage, file: string): Promise<void> {
  const { page, statusBarItem } = stage.workbench();
  await statusBarItem('whitebox.status').hover();
  await page.locator('.workbench-hover').getByText('Next check').first().waitFor();
  await save(stage, file);
}

async function save(stage: Stage, file: string): Promise<void> {
  const { page, screenshot } = stage.workbench();
  const names: [string, string][] = [[new URL(stage.service.baseUrl).origin, 'https://assessment.example']];
  if (stage.application !== undefined) {
    const { origin, host } = new URL(stage.application.origin);
    names.push([origin, 'https://shop.example'], [host, 'shop.example']);
  }
  for (const frame of page.frames())
    await frame.evaluate(`(${replaceTexts})(${JSON.stringify(names)})`).catch(() => undefined);
  await screenshot(file);
}

/** Runs in the page: shows example names instead of addresses on this machine. */
const replaceTexts = `(names) => {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text !== null; text = texts.nextNode())
    for (const [name, shown] of names)
      if (text.data.includes(name)) text.data = text.data.replaceAll(name, shown);
}`;
