import assert from 'node:assert/strict';
import { eventually } from '../host/workbench/eventually.ts';
import { test } from './fixtures.ts';

test.describe.configure({ mode: 'serial' });
// A narrow walkthrough shows no pictures.
test.use({ stageOptions: { viewport: { width: 1600, height: 900 } } });

/** Runs in a page: the addresses of its pictures, and of those that are not shown. */
const readPictures = (selector: string): string => `(() => {
  const pictures = [...document.querySelectorAll('${selector}')];
  const broken = pictures.filter(({ complete, naturalWidth }) => !complete || naturalWidth === 0);
  const addressesOf = (images) => images.map(({ src, currentSrc }) => currentSrc || src);
  return { all: addressesOf(pictures), broken: addressesOf(broken) };
})()`;

interface Pictures {
  readonly all: readonly string[];
  readonly broken: readonly string[];
}

test('the page of the installed extension has no broken picture, and points to the walkthrough', async ({
  workbench,
}) => {
  const { page } = workbench;
  await workbench.runCommand('Extensions: Show Installed Extensions');
  await page.locator('.extension-list-item').filter({ hasText: 'Whitebox Assessment' }).first().click();
  const inner = page.frameLocator('iframe.webview.ready').locator('iframe#active-frame');
  const readme = await (await inner.elementHandle()).contentFrame();
  assert.ok(readme);
  await readme.getByText('Get Started with Whitebox Assessment').waitFor();
  for (const [frame, selector] of [
    [page, '.extension-editor img'],
    [readme, 'img'],
  ] as const) {
    await eventually(
      () => frame.evaluate<Pictures>(readPictures(selector)),
      ({ broken }) => broken.length === 0,
    );
  }
  await workbench.screenshot('extension-page.png');
});

test('the walkthrough shows the picture of every step', async ({ workbench }) => {
  const { page } = workbench;
  await workbench.runCommand('Welcome: Open Walkthrough...');
  await workbench.pick('Get Started with Whitebox Assessment');
  const steps = page.locator('.getting-started-step');
  await steps.first().waitFor();
  const seen = new Set<string>();
  for (let index = 0; index < (await steps.count()); index += 1) {
    await steps.nth(index).click();
    const { all } = await eventually(
      () => page.evaluate<Pictures>(readPictures('.getting-started-media img')),
      ({ all: shown, broken }) => broken.length === 0 && shown.some((each) => !seen.has(each)),
    );
    for (const each of all) seen.add(each);
    await workbench.screenshot(`walkthrough-${index + 1}.png`);
  }
  assert.equal(seen.size, 7);
});
