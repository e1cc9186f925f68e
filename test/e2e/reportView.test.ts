import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { launchBrowser, type TestBrowser } from '../host/browser.ts';
import {
  bundleReportView,
  openReportPage,
  reportStrings,
  until,
  type ReportBundle,
  type ReportPage,
  type ReportPageOptions,
  type ThemeName,
} from './reportPage.ts';

const fixtures = path.join(import.meta.dirname, '..', 'fixtures', 'report');
const facts = [
  { label: 'State', value: 'Succeeded' },
  { label: 'Duration', value: '3 h 12 min' },
];
const severities = [
  { severity: 'critical', label: 'Critical', count: 1 },
  { severity: 'high', label: 'High', count: 7 },
  { severity: 'low', label: 'Low', count: 0 },
] as const;
const places = ['src/search.ts:41', 'src/export.ts:7', 'src/plain.ts:3', 'src/検索/入力.ts:8'].map(
  (label, index) => ({
    label,
    index: index + 10,
  }),
);

interface Attack {
  readonly name: string;
  readonly markdown: string;
}

let profileDir: string;
let browser: TestBrowser;
let bundle: ReportBundle;

before(async () => {
  profileDir = await mkdtemp(path.join(tmpdir(), 'report-view-'));
  [browser, bundle] = await Promise.all([launchBrowser({ profileDir }), bundleReportView()]);
});

after(async () => {
  await browser.dispose();
  await rm(profileDir, { recursive: true, force: true });
});

async function withPage(options: ReportPageOptions, use: (view: ReportPage) => Promise<void>): Promise<void> {
  const view = await openReportPage(browser, bundle, options);
  try {
    await use(view);
  } finally {
    await view.page.close();
  }
}

async function readAttacks(): Promise<readonly Attack[]> {
  const file = await readFile(path.join(fixtures, 'attacks.json'), 'utf8');
  return (JSON.parse(file) as { payloads: Attack[] }).payloads;
}

const readFidelity = (): Promise<string> => readFile(path.join(fixtures, 'fidelity.md'), 'utf8');

/** Touches everything that a report put on the page, and answers with what it should not have been able to do or leave. */
const provoke = (root: string): string => `(async () => {
  const root = document.querySelector(${JSON.stringify(root)});
  for (const element of root.querySelectorAll('*')) {
    for (const type of ['mouseover', 'mouseenter', 'mousedown', 'mouseup', 'auxclick', 'dblclick', 'contextmenu', 'focus', 'toggle']) {
      element.dispatchEvent(new MouseEvent(type, { bubbles: true, cancelable: true }));
    }
    if (element instanceof HTMLElement) {
      element.focus();
      element.click();
    }
  }
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  const wrong = [];
  if (window.__hit !== undefined) wrong.push('executed');
  const active = 'script,style,link,meta,base,iframe,frame,frameset,object,embed,applet,portal,form,input,select,textarea,' +
    'img,picture,video,audio,source,svg,math,template,noscript,dialog,map,area,marquee';
  for (const element of root.querySelectorAll('*')) {
    if (element.matches(active) || element.namespaceURI !== 'http://www.w3.org/1999/xhtml') wrong.push(element.tagName);
    for (const { name } of element.attributes) {
      if (/^on|^(href|src|srcset|style|id|name|action|formaction|background|poster|ping|target|is|autofocus)$/.test(name)) {
        if (element.tagName !== 'SECTION') wrong.push(element.tagName + ' ' + name);
      }
    }
  }
  if (document.head.querySelectorAll('link, meta, base, style').length !== window.__head) wrong.push('head');
  if (!(document.body instanceof HTMLBodyElement) || typeof document.createElement !== 'function') wrong.push('clobbered');
  return wrong;
})()`;

const countHead = `window.__head = document.head.querySelectorAll('link, meta, base, style').length`;

for (const policy of [true, false]) {
  const name = policy ? 'under its content security policy' : 'even without the content security policy';
  test(`F75 F76 F77 every attack in a report is inert and asks for nothing, ${name}`, async () => {
    await withPage({ policy }, async (view) => {
      await view.page.evaluate(countHead);
      for (const attack of await readAttacks()) {
        await view.show({
          markdown: `before\n\n${attack.markdown}\n\nafter`,
          places: [{ label: 'src/app.ts:12', index: 0 }],
        });
        assert.deepEqual(await view.page.evaluate(provoke('article')), [], attack.name);
        assert.deepEqual(view.events, [], attack.name);
        assert.deepEqual(view.requests, [], attack.name);
        const text = await view.page.innerText('article');
        assert.match(text, /^before/, attack.name);
      }
      const posted = (await view.posted()) as { type: string; index?: number }[];
      assert.deepEqual(
        posted.filter(({ type, index }) => type !== 'ready' && !(type === 'openPlace' && index === 0)),
        [],
      );
    });
    assert.deepEqual(browser.blockedRequests, []);
  });
}

test('F75 the sanitiser alone, given the attacks as HTML and without a policy, leaves nothing that runs or loads', async () => {
  const { build } = await import('esbuild');
  const built = await build({
    stdin: {
      contents: `import { createSanitizer } from './sanitize.ts'; window.__clean = createSanitizer(window).report;`,
      resolveDir: path.join(import.meta.dirname, '..', '..', 'webview-ui', 'report'),
    },
    bundle: true,
    format: 'iife',
    write: false,
  });
  await withPage({ policy: false }, async (view) => {
    await view.page.evaluate(built.outputFiles[0]!.text);
    await view.page.evaluate(`document.body.replaceChildren(document.createElement('article'))`);
    await view.page.evaluate(countHead);
    for (const attack of await readAttacks()) {
      const html = JSON.stringify(attack.markdown);
      await view.page.evaluate(`document.querySelector('article').replaceChildren(window.__clean(${html}))`);
      assert.deepEqual(await view.page.evaluate(provoke('article')), [], attack.name);
      // What is serialised and parsed again must be as harmless: the mark of mutation attacks.
      await view.page.evaluate(`{ const a = document.querySelector('article'); a.innerHTML = a.innerHTML; }`);
      assert.deepEqual(await view.page.evaluate(provoke('article')), [], `${attack.name}, parsed again`);
      assert.deepEqual([...view.events, ...view.requests], [], attack.name);
    }
  });
});

test('raw HTML that is not rendered stays readable, as the evidence that it may be', async () => {
  await withPage({}, async (view) => {
    await view.show({
      markdown: 'Sent <script>alert(1)</script> and <img src=x onerror=alert(2)> as a name.<!-- note -->',
    });
    assert.equal(
      await view.page.innerText('article'),
      'Sent <script>alert(1)</script> and <img src=x onerror=alert(2)> as a name.',
    );
  });
});

test('a report renders whole: tables, lists, code, links, images as text, Japanese', async () => {
  await withPage({}, async ({ page, show, events, requests }) => {
    await show({ markdown: await readFidelity(), places });
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

test('the summary shows title, facts and the counts by severity, in words as well as in bars', async () => {
  await withPage({}, async ({ page, show }) => {
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

    await show({ markdown: '# R', severities: [] });
    assert.equal(await page.innerText('.no-findings'), 'No findings.');
  });
});

test('places in code, in link texts, in link addresses and in plain text lead to the code by mouse and by keyboard', async () => {
  await withPage({}, async ({ page, show, posted }) => {
    await show({
      markdown: `${await readFidelity()}\n\nAlso \`src/search.ts:41-44\`, not \`src/search.ts:4\`, src/other.ts:1 or \`\`\` src/x:41 \`\`\`.`,
      places,
    });
    const links = page.locator('.place');
    assert.deepEqual(await links.allInnerTexts(), [
      'src/search.ts:41',
      'the export',
      'src/plain.ts:3',
      'src/検索/入力.ts:8',
      'src/search.ts:41-44',
    ]);
    await links.nth(0).click();
    await links.nth(1).focus();
    await page.keyboard.press('Enter');
    await links.nth(2).focus();
    await page.keyboard.press('Space');
    await links.nth(3).click();
    assert.deepEqual(await posted(), [
      { type: 'ready' },
      ...[10, 11, 12, 13].map((index) => ({ type: 'openPlace', index })),
    ]);
  });
});

test('contents and fragment links scroll to their heading and move the focus there', async () => {
  await withPage({}, async ({ page, show }) => {
    await show({
      markdown: `${await readFidelity()}\n\n${'filler\n\n'.repeat(80)}[again](#4-repeated-heading-1) [日本](#3-日本語の見出し)`,
    });
    const focused = (): Promise<string> => page.evaluate('document.activeElement.textContent');
    const nav = page.getByRole('navigation', { name: 'Contents' });
    assert.equal(await nav.getByRole('link').count(), 9);
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

test('a copy button copies the whole code and says so', async () => {
  await withPage({}, async ({ page, show }) => {
    await show({ markdown: '```js\nconst a = "<b>";\n\n  done();\n```' });
    const button = page.getByRole('button', { name: 'Copy' });
    await button.click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    assert.equal(await page.evaluate('navigator.clipboard.readText()'), 'const a = "<b>";\n\n  done();');
    assert.equal(await page.getByRole('status').innerText(), 'Copied');
  });
});

for (const megabytes of [1, 5]) {
  test(`a report of ${megabytes} MB is readable at once, never blocks for long, and find reaches its end`, async (t) => {
    await withPage({}, async ({ page, post, events }) => {
      const markdown = largeReport(megabytes * 1_000_000);
      await page.evaluate(`{
        window.__long = 0;
        new PerformanceObserver((list) => {
          for (const { duration } of list.getEntries()) window.__long = Math.max(window.__long, duration);
        }).observe({ type: 'longtask' });
        addEventListener('message', () => {
          const start = performance.now();
          const look = () => document.querySelector('article h2')
            ? requestAnimationFrame(() => setTimeout(() => (window.__firstMs = performance.now() - start)))
            : requestAnimationFrame(look);
          look();
          const wait = () => document.querySelector('article')?.hasAttribute('aria-busy') === false
            ? (window.__allMs = performance.now() - start)
            : setTimeout(wait, 20);
          wait();
        }, true);
      }`);
      const content = {
        markdown,
        title: 'Large',
        facts,
        severities: [...severities],
        places,
        language: 'en',
      };
      await post({ type: 'show', runId: 'r', content, strings: reportStrings });
      await until(page, 'window.__allMs !== undefined && window.__firstMs !== undefined');
      const [firstMs, allMs, longMs] = (await page.evaluate('[__firstMs, __allMs, __long]')) as number[];
      t.diagnostic(
        `first screen ${firstMs!.toFixed(0)} ms, whole ${allMs!.toFixed(0)} ms, longest task ${longMs!.toFixed(0)} ms`,
      );
      // The targets are in the benchmark; these hold on a busy machine and break when work is no longer sliced.
      assert.ok(firstMs! < 1_500, `first screen after ${firstMs} ms`);
      assert.ok(longMs! < 1_000, `blocked for ${longMs} ms`);

      // Headless browsers find nothing themselves; what counts is that the call that VS Code makes lays everything out.
      const isEndLaidOut = `document.querySelector('article > :last-child > :last-child').checkVisibility({ contentVisibilityAuto: true })`;
      assert.equal(await page.evaluate(isEndLaidOut), false);
      await page.evaluate(`window.find('needle-at-the-end', false, false, true, false, false, false)`);
      assert.equal(await page.evaluate(isEndLaidOut), true);
      assert.match(await page.innerText('article > :last-child > :last-child'), /needle-at-the-end/);
      const sections = largeReport(megabytes * 1_000_000).split('\n## ').length - 1;
      assert.equal(await page.locator('article h2').count(), sections);
      assert.deepEqual(events, []);
    });
  });
}

const depth = 20_000;
const pathological: Readonly<Record<string, string>> = {
  'nested quotes': '> '.repeat(depth),
  'nested lists on one line': '- '.repeat(depth),
  'nested numbers': '1. '.repeat(depth),
  'nested mixture': '- > 1. '.repeat(depth / 4),
  'indented lists': Array.from({ length: 400 }, (_, level) => `${' '.repeat(level * 2)}- x`).join('\n'),
  'open brackets': '['.repeat(depth),
  'nested links': `${'['.repeat(depth)}a${'](b)'.repeat(depth)}`,
  'emphasis that never closes': '**a_ '.repeat(depth),
  'nested emphasis': `${'**'.repeat(depth)}a${'**'.repeat(depth)}`,
  'strikes that never close': '~~a'.repeat(depth),
  'emphasis in words': 'a**b'.repeat(depth),
  'nested elements': `${'<div>'.repeat(depth)}x`,
  'nested inline elements': `${'<b><i>'.repeat(depth)}x`,
  'nested details': '<details><summary>s</summary>\n\n'.repeat(2_000),
  'open comments': '<!--'.repeat(depth),
  'open tags': '<a '.repeat(depth),
  'backticks of every length': Array.from({ length: 300 }, (_, length) => '`'.repeat(length)).join(' '),
  'a table of pipes': `|a|\n|-|\n${'|'.repeat(depth)}`,
  'a table of many columns': `${'|a'.repeat(2_000)}|\n${'|-'.repeat(2_000)}|\n${'|b'.repeat(2_000)}|`,
  'a line without an end': 'x'.repeat(500_000),
  'code in one line': `\`\`\`js\n${'/*(('.repeat(50_000)}\n\`\`\``,
  'code for a slow grammar': `\`\`\`xml\n${'<a '.repeat(3_000)}\n\`\`\``,
  mermaid: `\`\`\`mermaid\ngraph TD\n${'  A-->B\n'.repeat(2_000)}\`\`\``,
  definitions: Array.from({ length: 5_000 }, (_, index) => `[a${index}]: b`).join('\n'),
  addresses: 'http://a.'.repeat(depth),
};

test('F78 deep nesting and inputs made to be slow are bounded in time, and what stands after them is still there', async () => {
  await withPage({}, async (view) => {
    for (const [name, markdown] of Object.entries(pathological)) {
      const start = performance.now();
      await view.show({ markdown: `# Before\n\n${markdown}\n\n# After\n\n${name} survived.` });
      const ms = performance.now() - start;
      assert.ok(ms < 2_000, `${name} took ${ms.toFixed(0)} ms`);
      assert.match(
        await view.page.evaluate(`document.querySelector('article').textContent`),
        /survived/,
        name,
      );
      assert.deepEqual(view.events, [], name);
    }
    await view.show({ markdown: pathological['mermaid']! });
    assert.match(await view.page.innerText('.code pre'), /^graph TD\n {2}A-->B/);
  });
});

test('a page that comes back shows the report where the reader left it', async () => {
  const markdown = largeReport(300_000);
  let state: unknown;
  const top = `document.elementFromPoint(300, 60).closest('section').textContent.slice(0, 200)`;
  let before: unknown;
  await withPage({}, async ({ page, show, state: kept }) => {
    await show({ markdown });
    await page.getByRole('navigation').getByRole('link', { name: 'Finding 150:' }).click();
    before = await page.evaluate(top);
    await until(page, 'window.__state().section > 0');
    state = await kept();
  });
  await withPage({ state }, async ({ page, show }) => {
    await show({ markdown });
    assert.equal(await page.evaluate(top), before);
    const heading = await page.locator('article h2', { hasText: 'Finding 150' }).boundingBox();
    assert.ok(Math.abs(heading!.y) < 120, `the heading is at ${heading!.y}`);
  });
});

test('a problem is announced in place of the report, and its run is kept for the next reload', async () => {
  await withPage({}, async ({ page, post, state }) => {
    await post({ type: 'problem', runId: 'r7', text: 'The report is <b>gone</b>. Download it again.' });
    await page.waitForSelector('.problem');
    assert.equal(await page.getByRole('alert').innerText(), 'The report is <b>gone</b>. Download it again.');
    assert.deepEqual(await state(), { runId: 'r7' });
  });
});

test('F81 the view ignores messages that are not the host’s', async () => {
  await withPage({}, async ({ page, show }) => {
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

for (const theme of ['light', 'dark', 'highContrast', 'highContrastLight'] satisfies ThemeName[]) {
  test(`axe finds no accessibility violation in the ${theme} theme`, async () => {
    const axe = await readFile(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
    await withPage({ theme }, async ({ page, show }) => {
      for (const width of [1280, 420]) {
        await page.setViewportSize({ width, height: 900 });
        await show({
          markdown: await readFidelity(),
          title: 'acme-shop',
          facts,
          severities: [...severities],
          places,
        });
        await page.locator('.hljs-keyword').first().waitFor();
        await page.evaluate(axe);
        const { violations } = (await page.evaluate('axe.run()')) as {
          violations: { id: string; nodes: { html: string; failureSummary: string }[] }[];
        };
        assert.deepEqual(
          violations.map(({ id, nodes }) => [
            id,
            nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`),
          ]),
          [],
        );
      }
    });
  });
}

/** An invented report of about this many characters, with code, tables and lists in every finding. */
function largeReport(chars: number): string {
  const parts = ['# Large report\n\nInvented.\n'];
  let length = 0;
  for (let index = 1; length < chars; index++) {
    const part = `\n## Finding ${index}: unchecked value\n\n**Severity:** High, in \`src/file${index}.ts:${index}\`.\n\nThe value of \`q${index}\` reaches the query as it is, *without* any check, see [the rule](https://example.com/${index}).\n\n\`\`\`ts\nconst rows${index} = await db.query("SELECT * FROM t WHERE a = " + q${index});\nreturn rows${index}.map((row) => row.name);\n\`\`\`\n\n| step | what |\n|------|------|\n| 1 | read the request ${index} |\n| 2 | build the query |\n\n- use a parameter\n- test it with \`' OR 1=1\`\n`;
    parts.push(part);
    length += part.length;
  }
  parts.push('\n## The end\n\nneedle-at-the-end\n');
  return parts.join('');
}

async function styleOf(page: Page, selector: string, property: string): Promise<string> {
  return page.evaluate(`getComputedStyle(document.querySelector('${selector}'))['${property}']`);
}
