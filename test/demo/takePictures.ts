import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setStage, type Stage } from '../e2e/stage.ts';
import type { Workbench } from '../host/workbench.ts';
import { eventually } from '../host/workbench/eventually.ts';
import { playBlackbox } from './playBlackbox.ts';
import { playJob, untilRunning } from './playJob.ts';
import {
  commitAll,
  findingsForPictures,
  fixFirstFinding,
  letTimePass,
  makeLargerShop,
} from './sampleShop.ts';

const runMinutes = 3 * 60 + 12;
const viewport = { width: 1_120, height: 700 };
const sideBarWidth = 380;
/** These pictures have a notification. */
const withNotification = ['start', 'ended'];

export type Theme = 'Light' | 'Dark';

/** Plays the job once, and saves each picture in each theme that `wanted` gives a file for. */
export async function takePictures(
  wanted: (name: string, theme: Theme) => string | undefined,
): Promise<void> {
  const stage = await setStage({
    application: true,
    service: { runDurationMs: 24 * 3_600_000, organizations: { 'shop-security': ['invented-token'] } },
    settings: () => ({
      'workbench.colorTheme': themeName('Light'),
      'window.title': '${activeEditorShort}${separator}${rootName}',
      'remote.autoForwardPorts': false,
      // All of a long line has to be in the picture.
      'editor.minimap.enabled': false,
      'editor.wordWrap': 'on',
      // These depend on where the cursor or the pointer was last.
      'editor.occurrencesHighlight': 'off',
      'editor.scrollbar.vertical': 'hidden',
      'problems.autoReveal': false,
      'git.blame.statusBarItem.enabled': false,
    }),
    viewport,
    makeFolder: makeLargerShop,
  });
  let widened: Workbench | undefined;
  const save = async (name: string): Promise<void> => {
    // The light theme is last, because it is the theme of the next picture.
    for (const theme of ['Dark', 'Light'] as const) {
      const file = wanted(name, theme);
      if (file === undefined) continue;
      const workbench = stage.workbench();
      await showTheme(stage, theme);
      await before[name]?.(workbench);
      await takePointerAway(workbench);
      if (!withNotification.includes(name))
        await workbench.page.locator('.notification-toast').first().waitFor({ state: 'hidden' });
      await saveAs(stage, file);
    }
  };
  const picture = async (name: string): Promise<void> => {
    if (wanted(name, 'Light') === undefined) return;
    const workbench = stage.workbench();
    if (widened !== workbench) await prepareWindow(workbench);
    widened = workbench;
    await save(name);
    await after[name]?.(workbench);
  };
  /** Each step comes before a picture, or leads to the next one. */
  const before: Readonly<Record<string, (workbench: Workbench) => Promise<void>>> = {
    explorer: async (workbench) => {
      // The first theme of a window shows ignored files like all others.
      for (const theme of ['Dark', 'Light'] as const) await showTheme(stage, theme);
      await untilDecorated(workbench);
    },
    command: typeCommand,
    ended: untilViewsAgree,
    triage: untilViewsAgree,
    fix: showRecommendation,
    fixed: untilFollowed,
    features: showOnlyFeatures,
  };
  const after: Readonly<Record<string, (workbench: Workbench) => Promise<void>>> = {
    command: ({ page }) => page.keyboard.press('Escape'),
    close: async ({ page }) => {
      await page.evaluate(showCaption('3 hours later'));
      await save('later');
      await page.evaluate(hideCaption);
    },
    triage: async (workbench) => {
      await workbench.runCommand('Whitebox: Show Attack Path');
      await workbench.page.getByText('The value becomes part of the statement').first().waitFor();
      await save('path');
      await workbench.openView('Whitebox Assessment');
      await workbench.openProblem('SQL injection through a composed statement');
      await eventually(workbench.editor, ({ title }) => title === 'orders.js');
    },
    fix: async (workbench) => {
      await fixFirstFinding(stage.folder);
      await save('fixed');
      await toggleSideBar(workbench);
      await workbench.runCommand('View: Close All Editors');
    },
  };
  const step = (): undefined => undefined;
  const started = async (): Promise<void> => {
    await letTimePass(stage, runMinutes);
    await stage.workbench().openFile('src/server.js');
    await untilRunning(stage.workbench());
  };
  const finish = async (contents?: Readonly<Record<string, string>>): Promise<void> => {
    await eventually(stage.service.runs, (runs) => runs.some(({ status }) => status === 'RUNNING'));
    await untilRunning(stage.workbench());
    for (const { id, status } of stage.service.runs())
      if (status === 'RUNNING')
        await stage.service.finishRun(id, contents === undefined ? undefined : { kind: 'success', contents });
    await stage.workbench().runCommand('Whitebox: Check Run Status Now');
  };
  try {
    await commitAll(stage.folder);
    const findings = await findingsForPictures(stage.folder);
    await playJob(stage, { step, picture, started, running: () => finish({ findings }) });
    await playBlackbox(stage, { step, picture, running: () => finish() });
  } finally {
    await stage.dispose();
  }
}

function themeName(theme: Theme): string {
  return `Default ${theme} Modern`;
}

/**
 * Changes the settings of the machine, which override those of the user; those of the folder would
 * be uploaded.
 */
async function showTheme(stage: Stage, theme: Theme): Promise<void> {
  const file = path.join(stage.storage, '../../../Machine/settings.json');
  const settings = JSON.parse(await readFile(file, 'utf8')) as object;
  await writeFile(file, JSON.stringify({ ...settings, 'workbench.colorTheme': themeName(theme) }));
  const shown = theme === 'Dark' ? '.monaco-workbench.vs-dark' : '.monaco-workbench.vs';
  await stage.workbench().page.locator(shown).waitFor();
}

/**
 * Hides what belongs to the host of the tests, and widens the side bar so that longer texts are not
 * cut off.
 */
async function prepareWindow({ page }: Workbench): Promise<void> {
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

/** Waits until Git has marked the ignored files. */
async function untilDecorated({ openView, page }: Workbench): Promise<void> {
  await openView('Explorer');
  await eventually(
    () => page.evaluate<readonly string[]>(colorsOfFiles),
    (colors) => new Set(colors).size > 1,
  );
}

async function typeCommand(workbench: Workbench): Promise<void> {
  const { page } = workbench;
  await workbench.openView('Explorer');
  const palette = page.locator('.quick-input-widget:visible');
  await page.keyboard.press('F1');
  await palette.locator('.quick-input-box input').fill('>Whitebox: Start');
  await palette.locator('.monaco-list-row').filter({ hasText: 'Start Assessment' }).first().waitFor();
}

/** Waits until the tree, its badge, and Problems show the same number of findings. */
async function untilViewsAgree(workbench: Workbench): Promise<void> {
  const { containerBadge, expandAll, page, treeRows } = workbench;
  const sumOf = (numbers: readonly string[]): number => numbers.reduce((sum, text) => sum + Number(text), 0);
  await eventually(
    async () => {
      const groups = (await treeRows('Findings')).filter(({ level }) => level === 1);
      const problems = await page.locator('[id="status.problems"]').innerText();
      return [
        sumOf(groups.map(({ description }) => description)),
        Number(await containerBadge('Whitebox Assessment').catch(() => '0')),
        sumOf(problems.match(/\d+/g) ?? []),
      ];
    },
    ([rows = 0, badge, problems]) => rows > 0 && rows === badge && rows === problems,
  );
  // It scrolls back to the top.
  await expandAll('Findings');
}

const toggleSideBar = ({ runCommand }: Workbench): Promise<void> =>
  runCommand('View: Toggle Primary Side Bar Visibility');

/** Details and code fill the window, scrolled to the attack path and the recommendation. */
async function showRecommendation(workbench: Workbench): Promise<void> {
  if (await workbench.page.locator('.part.sidebar').isVisible()) await toggleSideBar(workbench);
  await scrollToRecommendation(workbench);
}

async function scrollToRecommendation({ webviewFrame }: Workbench): Promise<void> {
  const details = await webviewFrame('SQL injection');
  const last = details.getByText('Use placeholders and pass the values separately');
  await eventually(
    () =>
      last.evaluate((element) => {
        (element as { scrollIntoView(options: object): void }).scrollIntoView({ block: 'end' });
        return (globalThis as unknown as { scrollY: number }).scrollY;
      }),
    (scrolled) => scrolled > 0,
  );
}

/** Waits until the underline of the finding is at the changed line, and the details say so. */
async function untilFollowed(workbench: Workbench): Promise<void> {
  const { page, webviewFrame } = workbench;
  const line = page.locator('.view-line', { hasText: 'req.query.customer]' }).first();
  await line.waitFor();
  await eventually(
    async () => {
      const changed = await line.boundingBox();
      const underlines = await page.locator('.squiggly-error').all();
      const boxes = await Promise.all(underlines.map((each) => each.boundingBox().catch(() => null)));
      return boxes.some(
        (box) => box !== null && changed !== null && Math.abs(box.y - changed.y) < 20 && box.width > 100,
      );
    },
    (isThere) => isThere,
  );
  const details = await webviewFrame('SQL injection');
  await details.getByText('– changed').first().waitFor();
  await scrollToRecommendation(workbench);
}

async function showOnlyFeatures({ page }: Workbench): Promise<void> {
  for (const view of ['Runs', 'Findings']) {
    const header = page.locator(`.pane-header[aria-label^="${view} "]`);
    if ((await header.getAttribute('aria-expanded')) === 'true') await header.click();
  }
}

/** The tooltip of the hovered element would be in the picture. */
async function takePointerAway({ page }: Workbench): Promise<void> {
  await page.mouse.move(0, 0);
  await page.locator('.workbench-hover').first().waitFor({ state: 'hidden' });
}

async function saveAs(stage: Stage, file: string): Promise<void> {
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

/** Runs in the page: reads the colors of the names in the Explorer. */
const colorsOfFiles =
  "[...document.querySelectorAll('.explorer-folders-view .label-name')].map((name) => getComputedStyle(name).color)";

/** Runs in the page: shows a text over the window. */
function showCaption(text: string): string {
  return `{
    const caption = document.createElement('div');
    caption.id = 'caption';
    caption.textContent = ${JSON.stringify(text)};
    Object.assign(caption.style, {
      position: 'fixed', inset: '0', zIndex: '10000', display: 'grid', placeItems: 'center',
      font: '600 44px system-ui, sans-serif', color: '#ffffff', background: 'rgba(20, 30, 45, 0.82)',
    });
    document.body.append(caption);
  }`;
}

const hideCaption = "document.getElementById('caption').remove()";
