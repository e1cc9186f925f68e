import assert from 'node:assert/strict';
import { test } from '@playwright/test';
import { largeReport } from './reportOpening.ts';
import { reportStage, styleOf, until } from './reportPage.ts';
import { changes, facts, locations, readFidelity, severities } from './reportSample.ts';

const stage = reportStage();

test.afterAll(() => stage.dispose());

test('a report renders tables, lists, code, links, images as text, and Japanese', async () => {
  await stage.withPage({}, async ({ page, show, events, requests }) => {
    await show({ markdown: await readFidelity(), locations });
    const texts = async (selector: string): Promise<string[]> =>
      (await page.locator(selector).allInnerTexts()).map((text) => text.trim());

    assert.deepEqual(await texts('article :is(h1, h2, h3, h4)'), [
      'Security assessment of acme-shop',
      'Summary',
      'Findings',
      '1. SQL injection in the search',
      'Recommendation',
      '2. Script in a comment',
      '3. 日本語の見出し',
      '4. Repeated heading',
      '4. Repeated heading',
      'Method',
    ]);
    assert.deepEqual(await texts('article th'), ['Severity', 'Count', 'Share']);
    assert.deepEqual(await texts('article tbody tr:last-child td'), ['Low', '1', '25 %']);
    assert.match(await styleOf(page, 'article td[align=right]', 'textAlign'), /right$/);
    assert.deepEqual(await texts('ol > li > ul > li > ul > li'), ['also in the mail']);
    assert.equal(await page.locator('article > section > ol > li').count(), 3);
    assert.equal(await page.getByRole('img', { name: 'Done', exact: true }).count(), 1);
    assert.equal(await page.getByRole('img', { name: 'Not done' }).count(), 1);
    assert.deepEqual(await texts('.code pre'), [
      "const rows = await db.query(`SELECT * FROM items WHERE name LIKE '%${q}%'`);",
      'POST /comments HTTP/1.1\nHost: shop.example.com\n\ncomment=%3Cscript%3E',
      'def 検索(語: str) -> list[str]:\n    return [行 for 行 in 表 if 語 in 行]  # 全件走査',
      'graph TD\n  Browser --> Server',
      'indented code',
    ]);
    assert.deepEqual(await texts('.code-bar span'), ['ts', 'http', 'python', 'mermaid', '']);
    assert.deepEqual(await texts('blockquote blockquote'), ['Quoted twice.']);
    assert.deepEqual(await texts('[data-image]'), ['Architecture of the shop']);
    assert.deepEqual(await texts('.outside'), [
      "the vendor's page",
      'reference',
      'https://bare.example.com/path',
      'security@example.com',
    ]);
    assert.deepEqual(await texts('.address'), [
      'https://docs.example.com/method',
      'https://ref.example.com/page',
    ]);
    assert.deepEqual(await texts('article :is(del, em, kbd, sub)'), ['three', 'one', 'Ctrl', 'S', '2']);
    assert.equal(await page.locator('details[open] .code').count(), 1);
    assert.match(await page.innerText('article'), /入力値が検証されていません。重大度: 中。/);
    assert.doesNotMatch(await page.innerText('article'), /Invented for this project/);
    assert.equal(await page.locator('article').getAttribute('lang'), 'en');

    const keyword = page.locator('.hljs-keyword', { hasText: 'const' });
    await keyword.waitFor();
    assert.notEqual(await styleOf(page, '.hljs-keyword', 'color'), await styleOf(page, '.code pre', 'color'));
    assert.deepEqual([...events, ...requests], []);
  });
});

test('the summary shows title, facts and severity counts, both as text and as bars', async () => {
  await stage.withPage({}, async ({ page, show }) => {
    await show({ markdown: '# R', title: 'acme-shop <b>', facts, severities: [...severities] });
    assert.equal(await page.innerText('header h1'), 'acme-shop <b>');
    assert.deepEqual(await page.locator('header dd').allInnerTexts(), ['Succeeded', '3 h 12 min']);
    const rows = page.getByRole('table', { name: 'Findings by severity' }).getByRole('row');
    assert.deepEqual(
      (await rows.allInnerTexts()).map((text) => text.trim().split(/\s+/)),
      [
        ['Critical', '1'],
        ['High', '7'],
        ['Low', '0'],
      ],
    );
    const widths = await page.evaluate(
      `[...document.querySelectorAll('.bar')].map((bar) => bar.getBoundingClientRect().width)`,
    );
    const [critical, high, low] = widths as number[];
    assert.ok(Math.abs(critical! * 7 - high!) < 1 && high! > 50 && low === 0, String(widths));

    assert.equal(await page.getByRole('table').count(), 1);
    await show({ markdown: '# R', severities: [...severities], changes });
    const sinceNov3 = page.getByRole('table', { name: 'Since the run from Nov 3, 2026' }).getByRole('row');
    assert.deepEqual(
      (await sinceNov3.allInnerTexts()).map((text) => text.trim().split(/\s+/)),
      [
        ['New', '3'],
        ['Fixed', '2'],
        ['Unchanged', '0'],
      ],
    );

    const noFindings = '0 findings in 239 uploaded files. 2 files were excluded.';
    await show({ markdown: '# R', severities: [{ severity: 'high', label: 'High', count: 0 }], noFindings });
    assert.equal(await page.innerText('.no-findings'), noFindings);
  });
});

test('locations in code, link texts, URLs and plain text open the code by mouse and keyboard', async () => {
  await stage.withPage({}, async ({ page, show, posted }) => {
    await show({
      markdown: `${await readFidelity()}\n\nAlso \`src/search.ts:41-44\`, src\\\\plain.ts:3-9 と入力はsrc/plain.ts#L3を参照, not \`src/search.ts:4\`, src/other.ts:1 or \`\`\` src/x:41 \`\`\`.`,
      locations,
    });
    const links = page.locator('.location');
    assert.deepEqual(await links.allInnerTexts(), [
      'src/search.ts:41',
      'the export',
      'src/plain.ts:3',
      'src/検索/入力.ts:8',
      'src/search.ts:41-44',
      'src\\plain.ts:3-9',
      'src/plain.ts#L3',
    ]);
    await links.nth(0).click();
    await links.nth(1).focus();
    await page.keyboard.press('Enter');
    await links.nth(2).focus();
    await page.keyboard.press('Space');
    await links.nth(3).click();
    assert.deepEqual(await posted(), [
      { type: 'ready' },
      ...[10, 11, 12, 13].map((index) => ({ type: 'openLocation', index })),
    ]);
  });
});

test('every spelling of a location in a report is recognised', async () => {
  const written = {
    'src/app.ts:12': 0,
    './src/app.ts:12': 0,
    'src/app.ts:12-20': 0,
    'src/app.ts:12:5': 0,
    'src/app.ts#L12': 0,
    'src/app.ts#L12-L20': 0,
    'src/app.ts#L12-20': 0,
    'src/app.ts#L12C3-L14C5': 0,
    '/src/app.ts:12': 0,
    'src\\app.ts:12': 0,
    '.\\src\\app.ts:12-20': 0,
    'src/検索/入力.ts:8': 1,
    'src\\検索\\入力.ts#L8': 1,
    'src/app.ts': undefined,
    'src/app.ts:1': undefined,
    'src/app.ts:120': undefined,
    'app.ts:12': undefined,
    '../src/app.ts:12': undefined,
    'src/app.ts:12:command': undefined,
    'file:///src/app.ts:12': undefined,
    'src/app.ts?x#L12': undefined,
  };
  const sentences = {
    '【src/app.ts:12】と『src/検索/入力.ts:8』': [0, 1],
    'src/app.ts:12→src/検索/入力.ts:8': [0, 1],
    '（src/app.ts#L12C3〜src/検索/入力.ts:8）': [0, 1],
    '[a](src/%E6%A4%9C%E7%B4%A2/入力.ts#L8) [b](src/app%2.ts#L12)': [1],
  };
  await stage.withPage({}, async ({ page, show }) => {
    await show({
      markdown: [...Object.keys(written).map((text) => `\`${text}\``), ...Object.keys(sentences)]
        .map((text) => `- ${text}`)
        .join('\n'),
      locations: ['src/app.ts:12', 'src/検索/入力.ts:8'].map((label, index) => ({ label, index })),
    });
    const locations = await page.evaluate<number[][]>(
      `[...document.querySelectorAll('li')].map((item) => [...item.querySelectorAll('.location')].map(({ dataset }) => Number(dataset.location)))`,
    );
    assert.deepEqual(locations, [
      ...Object.values(written).map((index) => (index === undefined ? [] : [index])),
      ...Object.values(sentences),
    ]);
  });
});

test('a link text that matches several places opens the one its URL names', async () => {
  await stage.withPage({}, async ({ page, show, posted }) => {
    const labels = ['#location-0', '#location-1'];
    await show({
      markdown: '# R\n\n`a.ts:3`\n\n- [` a.ts:3 `](#location-0)\n- [` a.ts:3 `](#location-1)',
      locations: labels.map((label, index) => ({ index, label })),
    });
    const links = page.locator('.location');
    assert.deepEqual(await links.allInnerTexts(), ['a.ts:3', 'a.ts:3']);
    await links.nth(0).click();
    await links.nth(1).click();
    assert.deepEqual(await posted(), [
      { type: 'ready' },
      ...[0, 1].map((index) => ({ type: 'openLocation', index })),
    ]);
  });
});

test('links to contents and fragments scroll to the heading and focus it', async () => {
  await stage.withPage({}, async ({ page, show }) => {
    await show({
      markdown: `${await readFidelity()}\n\n${'filler\n\n'.repeat(80)}[again](#4-repeated-heading-1) [日本](#3-日本語の見出し)`,
    });
    const focused = (): Promise<string> => page.evaluate('document.activeElement.textContent');
    const nav = page.getByRole('navigation', { name: 'Contents' });
    assert.equal(await nav.getByRole('list').getByRole('link').count(), 9);
    await nav.getByRole('link', { name: 'Method' }).click();
    assert.equal(await focused(), 'Method');
    assert.ok((await page.locator('h2', { hasText: 'Method' }).boundingBox())!.y < 100);

    await page.getByRole('link', { name: 'again', exact: true }).focus();
    await page.keyboard.press('Enter');
    assert.equal(await focused(), '4. Repeated heading');
    assert.ok(await page.evaluate(`document.activeElement === document.querySelectorAll('h3')[4]`));
    await page.getByRole('link', { name: '日本', exact: true }).click();
    assert.equal(await focused(), '3. 日本語の見出し');
  });
});

test('documents cannot affect each other, and their headings are nested below the page heading', async () => {
  const swallowing = [
    '```',
    '<!--',
    '<pre>',
    '<details>',
    '<h1>x',
    '- ```\n  a',
    '[x]:\n```js',
    '> ~~~',
    '<script>',
  ];
  await stage.withPage({}, async ({ page, show, events }) => {
    for (const markdown of swallowing) {
      await show({
        parts: [
          { heading: 'Description', markdown: `# One\n\n${markdown}` },
          { heading: 'Recommendation', markdown: 'Two' },
        ],
      });
      assert.deepEqual(
        await page.locator('article > section > :is(h1, h2)').allTextContents(),
        ['Description', 'Recommendation'],
        markdown,
      );
      assert.deepEqual(
        await page.locator('article :is(h1, h2)').allTextContents(),
        ['Description', 'Recommendation'],
        markdown,
      );
      assert.equal(await page.locator('article h3').first().textContent(), 'One');
      assert.match(
        (await page.locator('article > section').last().textContent())!,
        /^Recommendation\s*Two\s*$/,
      );
    }
    assert.deepEqual(events, []);
  });
});

test('a weakness is a link that shows its URL', async () => {
  await stage.withPage({}, async ({ page, show }) => {
    await show({ facts: [{ label: 'CWE', value: '', cwes: [79, 89] }] });
    const link = page.getByRole('link', { name: 'CWE-89' });
    const address = 'https://cwe.mitre.org/data/definitions/89.html';
    assert.deepEqual([await link.getAttribute('href'), await link.getAttribute('title')], [address, address]);
    assert.deepEqual(await page.locator('dd .weakness').allInnerTexts(), [
      'CWE-79 cwe.mitre.org',
      'CWE-89 cwe.mitre.org',
    ]);
  });
});

test('a copy button copies the whole code block and confirms it', async () => {
  await stage.withPage({}, async ({ page, show }) => {
    await show({ markdown: '```js\nconst a = "<b>";\n\n  done();\n```' });
    const button = page.getByRole('button', { name: 'Copy' });
    await button.click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    assert.equal(await page.evaluate('navigator.clipboard.readText()'), 'const a = "<b>";\n\n  done();');
    assert.equal(await page.getByRole('status').innerText(), 'Copied');
  });
});

test('a 5 MB report is complete, lays out only what is visible, and find reaches its end', async () => {
  await stage.withPage({}, async ({ page, show, events }) => {
    const markdown = largeReport(5_000_000);
    await show({ markdown });
    // Headless browsers have no find; VS Code's call must lay everything out.
    const isEndLaidOut = `document.querySelector('article > :last-child > :last-child').checkVisibility({ contentVisibilityAuto: true })`;
    assert.equal(await page.evaluate(isEndLaidOut), false);
    await page.evaluate(`window.find('needle-at-the-end', false, false, true, false, false, false)`);
    assert.equal(await page.evaluate(isEndLaidOut), true);
    assert.equal(await page.textContent('article > :last-child > :last-child'), 'needle-at-the-end');
    assert.equal(await page.locator('article h2').count(), markdown.split('\n## ').length - 1);
    assert.deepEqual(events, []);
  });
});

test('a restored page shows the report at the previous scroll position', async () => {
  const markdown = largeReport(300_000);
  let state: unknown;
  const top = `document.elementFromPoint(300, 60).closest('section').textContent.slice(0, 200)`;
  let before: unknown;
  await stage.withPage({}, async ({ page, show, state: kept }) => {
    await show({ markdown });
    await page.getByRole('navigation').getByRole('link', { name: 'Finding 150:' }).click();
    before = await page.evaluate(top);
    await until(page, 'window.__state().section > 0');
    state = await kept();
  });
  await stage.withPage({ state }, async ({ page, show }) => {
    await show({ markdown });
    assert.equal(await page.evaluate(top), before);
    const heading = await page.locator('article h2', { hasText: 'Finding 150' }).boundingBox();
    assert.ok(Math.abs(heading!.y) < 120, `the heading is at ${heading!.y}`);
  });
});

test('a problem replaces the report and is announced, and the run is kept for the next reload', async () => {
  await stage.withPage({}, async ({ page, post, posted, state }) => {
    const text = 'The report is <b>gone</b>. Download it again.';
    await post({ type: 'problem', documentId: 'r7', text, actions: ['Download', 'Show Log'] });
    await page.waitForSelector('.problem');
    await page.getByRole('button', { name: 'Show Log' }).click();
    assert.deepEqual((await posted()).at(-1), { type: 'act', index: 1 });
    assert.equal(await page.getByRole('alert').innerText(), 'The report is <b>gone</b>. Download it again.');
    assert.deepEqual(await state(), { documentId: 'r7' });
  });
});

test('F81 the view ignores messages that the host did not send', async () => {
  await stage.withPage({}, async ({ page, show }) => {
    await show({ markdown: 'kept' });
    for (const forged of [
      { type: 'show' },
      { type: 'problem', text: 'x' },
      { type: 'show', content: { markdown: '<b>' } },
      'x',
      null,
    ]) {
      await page.evaluate(`window.postMessage(${JSON.stringify(forged)}, '*')`);
    }
    await page.evaluate('new Promise((done) => setTimeout(done))');
    assert.equal(await page.innerText('article'), 'kept');
  });
});
