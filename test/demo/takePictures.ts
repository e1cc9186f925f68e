import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Locator, Page } from '@playwright/test';
import { setStage, type Stage } from '../e2e/stage.ts';
import type { Workbench } from '../host/workbench.ts';
import { eventually } from '../host/workbench/eventually.ts';
import { playBlackbox } from './playBlackbox.ts';
import { playJob, untilRunning } from './playJob.ts';
import { commitAll, findingsForPictures, fixFinding, letTimePass, makeLargerShop } from './sampleShop.ts';

const runMinutes = 3 * 60 + 12;
const viewport = { width: 1_120, height: 700 };
const sideBarWidth = 425;
/** The links above the text of a target file need this much space beside the side bar. */
const sideBarWidthBesideTarget = 340;
const detailsWidth = 640;
/** README describes this finding, too. */
const finding = 'Any customer can read any order';
/** These pictures have a notification. */
const withNotification = ['ended', 'fixed'];

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
      // A row that is half covered looks broken.
      'editor.stickyScroll.enabled': false,
      'workbench.tree.enableStickyScroll': false,
      // These depend on where the cursor or the pointer was last.
      'editor.occurrencesHighlight': 'off',
      'editor.scrollbar.vertical': 'hidden',
      'problems.autoReveal': false,
      'git.blame.statusBarItem.enabled': false,
    }),
    viewport,
    makeFolder: makeLargerShop,
  });
  let prepared: Workbench | undefined;
  const save = async (name: string): Promise<void> => {
    // The light theme is last, because it is the theme of the next picture.
    for (const theme of ['Dark', 'Light'] as const) {
      const file = wanted(name, theme);
      if (file === undefined) continue;
      const workbench = stage.workbench();
      await showTheme(stage, theme);
      await before[name]?.(workbench);
      await workbench.page.mouse.move(0, 0);
      if (!withNotification.includes(name))
        await workbench.page.locator('.notification-toast').first().waitFor({ state: 'hidden' });
      await saveAs(stage, file);
    }
  };
  const picture = async (name: string): Promise<void> => {
    const workbench = stage.workbench();
    if (prepared !== workbench) await prepareWindow(stage);
    prepared = workbench;
    if (wanted(name, 'Light') === undefined) return;
    await save(name);
    await after[name]?.(workbench);
  };
  /** Each step comes before a picture, or leads to the next one. */
  const before: Readonly<Record<string, (workbench: Workbench) => Promise<void>>> = {
    command: typeCommand,
    start: hideNotifications,
    ended: untilViewsAgree,
    triage: showFindings,
    fix: showRecommendation,
    fixed: showFindings,
    features: showFeatures,
  };
  const after: Readonly<Record<string, (workbench: Workbench) => Promise<void>>> = {
    command: ({ page }) => page.keyboard.press('Escape'),
    close: async ({ page }) => {
      await page.evaluate(showCaption('3 hours later'));
      await save('later');
      await page.evaluate(hideCaption);
    },
    // Views that were closed and opened may have taken the focus from the finding.
    triage: (workbench) => workbench.openProblem(finding),
    fix: async (workbench) => {
      await fixFinding(stage.folder);
      await untilFollowed(workbench);
      await chooseFixed(workbench);
      await save('decision');
      await workbench.page.keyboard.press('Enter');
      await workbench.answer('', 'Fixed: ');
      await workbench.runCommand('View: Close Editor');
      await toggleSideBar(workbench);
      await workbench.notification(/: Fixed$/);
      await save('fixed');
      await workbench.dismissNotifications();
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
    const findings = await findingsForPictures();
    await playJob(stage, { step, picture, problem: finding, started, running: () => finish({ findings }) });
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
  const shown = stage
    .workbench()
    .page.locator(theme === 'Dark' ? '.monaco-workbench.vs-dark' : '.monaco-workbench.vs');
  await eventually(
    async () => {
      // A window that has just opened may not notice the first change.
      await writeFile(file, JSON.stringify({ ...settings, 'workbench.colorTheme': themeName(theme) }));
      return shown.waitFor({ timeout: 5_000 }).then(
        () => true,
        () => false,
      );
    },
    (isShown) => isShown,
  );
}

/**
 * Hides tooltips and what belongs to the host of the tests, and widens the side bar so that longer
 * texts are not cut off.
 */
async function prepareWindow(stage: Stage): Promise<void> {
  const { page } = stage.workbench();
  const hidden = [
    '.letterpress',
    '.workbench-hover-container',
    '[id*="keyboardLayout" i]',
    '[id*="forwardedPorts" i]',
  ];
  await page.addStyleTag({ content: `${hidden.join()} { display: none !important; }` });
  await dragSideBar(page, sideBarWidth);
  // The first theme of a window shows ignored files like all others.
  for (const theme of ['Dark', 'Light'] as const) await showTheme(stage, theme);
  if (await page.locator('.explorer-folders-view').isVisible())
    await eventually(
      () => page.evaluate<readonly string[]>(colorsOfFiles),
      (colors) => new Set(colors).size > 1,
    );
}

async function dragSideBar(page: Page, width: number): Promise<void> {
  const sideBar = await boxOf(page.locator('.part.sidebar'));
  await drag(page, sideBar.x + sideBar.width, sideBar.x + width);
}

async function boxOf(element: Locator) {
  const box = await element.boundingBox();
  if (box === null) throw new Error('There is nothing to drag');
  return box;
}

/** Drags a vertical border of the window. */
async function drag(page: Page, from: number, to: number): Promise<void> {
  const y = viewport.height / 2;
  await page.mouse.move(from, y);
  await page.mouse.down();
  await page.mouse.move(to, y, { steps: 10 });
  await page.mouse.up();
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

/** All findings fit into the side bar if the Runs view is closed. */
async function showFindings(workbench: Workbench): Promise<void> {
  await closeViews(workbench, 'Runs');
  await untilViewsAgree(workbench);
}

/** The Cancel button of the progress could be taken for that of the dialog. */
async function hideNotifications({ page }: Workbench): Promise<void> {
  await page.addStyleTag({ content: '.notifications-toasts { display: none !important; }' });
}

const toggleSideBar = ({ runCommand }: Workbench): Promise<void> =>
  runCommand('View: Toggle Primary Side Bar Visibility');

/** Code and details fill the window, scrolled to the recommendation. */
async function showRecommendation(workbench: Workbench): Promise<void> {
  const { page, webviewFrame } = workbench;
  if (await page.locator('.part.sidebar').isVisible()) await toggleSideBar(workbench);
  const details = await webviewFrame(finding);
  await drag(
    page,
    (await boxOf(page.locator('.editor-group-container').last())).x,
    viewport.width - detailsWidth,
  );
  const recommendation = details.getByRole('heading', { name: 'Recommendation' });
  await eventually(
    () =>
      recommendation.evaluate((element) => {
        (element as { scrollIntoView(options: object): void }).scrollIntoView({ block: 'start' });
        return (globalThis as unknown as { scrollY: number }).scrollY;
      }),
    (scrolled) => scrolled > 0,
  );
}

/** Waits until the underline of the finding is at the changed line, and the details say so. */
async function untilFollowed({ page, webviewFrame }: Workbench): Promise<void> {
  const line = page.locator('.view-line', { hasText: 'customer_id = ?' }).first();
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
  const details = await webviewFrame(finding);
  await details.getByText('– changed').first().waitFor();
}

/** Opens the triage states of the finding in the details, and moves to *Fixed*. */
async function chooseFixed({ runCommand, currentQuickInput, page }: Workbench): Promise<void> {
  await runCommand('Whitebox: Set Triage State…');
  await eventually(currentQuickInput, ({ items }) => items.includes('Fixed'));
  const focused = page.locator('.quick-input-list .monaco-list-row.focused .label-name');
  await eventually(
    async () => {
      await page.keyboard.press('ArrowDown');
      return focused.first().innerText();
    },
    (label) => label === 'Fixed',
  );
}

async function showFeatures(workbench: Workbench): Promise<void> {
  await dragSideBar(workbench.page, sideBarWidthBesideTarget);
  await closeViews(workbench, 'Runs', 'Findings');
}

async function closeViews({ page }: Workbench, ...views: readonly string[]): Promise<void> {
  for (const view of views) {
    const header = page.locator(`.pane-header[aria-label^="${view} "]`);
    if ((await header.getAttribute('aria-expanded')) === 'true') await header.click();
  }
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

/** Runs in the page: shows a text over the editors. */
function showCaption(text: string): string {
  return `{
    const caption = document.createElement('div');
    caption.id = 'caption';
    caption.textContent = ${JSON.stringify(text)};
    Object.assign(caption.style, {
      position: 'fixed', left: '590px', top: '300px', zIndex: '10000', padding: '24px 48px', borderRadius: '12px',
      font: '600 44px system-ui, sans-serif', color: '#ffffff', background: 'rgb(20, 30, 45)',
    });
    document.body.append(caption);
  }`;
}

const hideCaption = "document.getElementById('caption').remove()";
