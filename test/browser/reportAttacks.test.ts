import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from '@playwright/test';
import { build } from 'esbuild';
import { countHead, provoke, readAttacks } from './attacks.ts';
import { reportStage } from './reportPage.ts';

const stage = reportStage();

test.afterAll(() => stage.dispose());

for (const policy of [true, false]) {
  const name = policy ? 'under its content security policy' : 'even without the content security policy';
  test(`F75 F76 F77 every attack in a report is inert and makes no request, ${name}`, async () => {
    await stage.withPage({ policy }, async (view) => {
      await countHead(view.page);
      for (const attack of await readAttacks()) {
        await view.show({
          markdown: `before\n\n${attack.markdown}\n\nafter`,
          locations: [{ label: 'src/app.ts:12', index: 0 }],
        });
        const { wrong, text } = await provoke(view.page);
        assert.deepEqual([...wrong, ...view.events, ...view.requests], [], attack.name);
        assert.match(text, /^before/, attack.name);
      }
      const posted = (await view.posted()) as { type: string; index?: number }[];
      assert.deepEqual(
        posted.filter(({ type, index }) => type !== 'ready' && !(type === 'openLocation' && index === 0)),
        [],
      );
    });
    assert.deepEqual((await stage.browser()).blockedRequests, []);
  });
}

test('F75 the sanitiser alone, without CSP, removes everything that runs or loads from the HTML attacks', async () => {
  const built = await build({
    stdin: {
      contents: `import { createSanitizer } from './render.ts'; window.__clean = createSanitizer(window).report;`,
      resolveDir: path.join(import.meta.dirname, '..', '..', 'webview-ui', 'report'),
    },
    bundle: true,
    format: 'iife',
    write: false,
  });
  await stage.withPage({ policy: false }, async (view) => {
    await view.page.evaluate(built.outputFiles[0]!.text);
    await view.page.evaluate(`document.body.replaceChildren(document.createElement('article'))`);
    await countHead(view.page);
    for (const attack of await readAttacks()) {
      const html = JSON.stringify(attack.markdown);
      await view.page.evaluate(`document.querySelector('article').replaceChildren(window.__clean(${html}))`);
      assert.deepEqual((await provoke(view.page)).wrong, [], attack.name);
      // Serialised and parsed again it must be harmless, too (mutation attacks).
      await view.page.evaluate(`{ const a = document.querySelector('article'); a.innerHTML = a.innerHTML; }`);
      assert.deepEqual((await provoke(view.page)).wrong, [], `${attack.name}, parsed again`);
      assert.deepEqual([...view.events, ...view.requests], [], attack.name);
    }
  });
});

test('raw HTML is shown as readable text instead of being rendered', async () => {
  await stage.withPage({}, async (view) => {
    await view.show({
      markdown: 'Sent <script>alert(1)</script> and <img src=x onerror=alert(2)> as a name.<!-- note -->',
    });
    assert.equal(
      (await view.page.evaluate<string>(`document.querySelector('article').textContent`)).trim(),
      'Sent <script>alert(1)</script> and <img src=x onerror=alert(2)> as a name.',
    );
  });
});

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
  'open comments': '<!--'.repeat(depth * 5),
  'one word with digits': 'x1'.repeat(100_000),
  'open tags': '<a '.repeat(depth),
  'backticks of every length': Array.from({ length: 300 }, (_, length) => '`'.repeat(length)).join(' '),
  'a table of pipes': `|a|\n|-|\n${'|'.repeat(depth)}`,
  'a table of many columns': `${'|a'.repeat(2_000)}|\n${'|-'.repeat(2_000)}|\n${'|b'.repeat(2_000)}|`,
  'an endless line': 'x'.repeat(500_000),
  'code in one line': `\`\`\`js\n${'/*(('.repeat(50_000)}\n\`\`\``,
  'code for a slow grammar': `\`\`\`xml\n${'<a '.repeat(3_000)}\n\`\`\``,
  mermaid: `\`\`\`mermaid\ngraph TD\n${'  A-->B\n'.repeat(2_000)}\`\`\``,
  definitions: Array.from({ length: 5_000 }, (_, index) => `[a${index}]: b`).join('\n'),
  addresses: 'http://a.'.repeat(depth),
  'a word that looks like a URL': `${'a'.repeat(100_000)}@`,
  'code blocks in a list': `- x\n\n${`  \`\`\`js\n${'  let a = 1;\n'.repeat(200)}  \`\`\`\n\n`.repeat(60)}`,
  'a large table': `${'|a'.repeat(300)}|\n${'|-'.repeat(300)}|\n${`${'|b'.repeat(300)}|\n`.repeat(3_000)}`,
};

test('F78 F128 deep nesting and slow inputs finish, and the text after them is shown', async () => {
  await stage.withPage({}, async (view) => {
    for (const [name, markdown] of Object.entries(pathological)) {
      await view.show({
        markdown: `# Before\n\n${markdown}\n\n# After\n\n${name} survived.`,
        locations: [{ label: 'src/app.ts:12', index: 0 }],
      });
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
