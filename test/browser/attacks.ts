import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Page } from '@playwright/test';

interface Attack {
  readonly name: string;
  readonly markdown: string;
}

export async function readAttacks(): Promise<readonly Attack[]> {
  const file = path.join(import.meta.dirname, '..', 'fixtures', 'report', 'attacks.json');
  return (JSON.parse(await readFile(file, 'utf8')) as { payloads: Attack[] }).payloads;
}

/** Remembers what the head of the page has, with which `provoke` compares it. */
export async function countHead(page: Page): Promise<void> {
  await page.evaluate(`window.__head = ${headCount}`);
}

const headCount = `document.head.querySelectorAll('link, meta, base, style').length`;

/** Interacts with everything in a report; returns forbidden effects, and the text. */
export function provoke(page: Page): Promise<{ readonly wrong: readonly string[]; readonly text: string }> {
  return page.evaluate(`(async () => {
    const root = document.querySelector('article');
    for (const element of root.querySelectorAll('*')) {
      for (const type of ['mouseover', 'mouseenter', 'mousedown', 'mouseup', 'auxclick', 'dblclick', 'contextmenu', 'focus', 'toggle']) {
        element.dispatchEvent(new MouseEvent(type, { bubbles: true, cancelable: true }));
      }
      if (element instanceof HTMLElement) {
        element.focus();
        element.click();
      }
    }
    await new Promise((done) => setTimeout(done));
    const wrong = [];
    if (window.__hit !== undefined) wrong.push('executed');
    const active = 'script,style,link,meta,base,iframe,frame,frameset,object,embed,applet,portal,form,input,select,textarea,' +
      'img,picture,video,audio,source,svg,math,template,noscript,dialog,map,area,marquee';
    for (const element of root.querySelectorAll('*')) {
      if (element.matches(active) || element.namespaceURI !== 'http://www.w3.org/1999/xhtml') wrong.push(element.tagName);
      for (const { name, value } of element.attributes) {
        // The links between the headings of a saved report.
        if ((name === 'id' && /^h-\\d+$/.test(value)) || (name === 'href' && /^#h-\\d+$/.test(value))) continue;
        if (/^on|^(href|src|srcset|style|id|name|action|formaction|background|poster|ping|target|is|autofocus)$/.test(name)) {
          if (element.tagName !== 'SECTION') wrong.push(element.tagName + ' ' + name);
        }
      }
    }
    if (${headCount} !== window.__head) wrong.push('head');
    if (!(document.body instanceof HTMLBodyElement) || typeof document.createElement !== 'function') wrong.push('clobbered');
    return { wrong, text: root.innerText };
  })()`);
}
