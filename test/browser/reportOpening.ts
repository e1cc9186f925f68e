import { reportStrings, until, type ReportPage } from './reportPage.ts';

export interface ReportOpening {
  /** Counts from the start of the page until the script asks for its report. */
  readonly readyMs: number;
  /** Counts from the host's message to the first painted screen. */
  readonly firstMs: number;
  /** Counts from the host's message to the complete report. */
  readonly wholeMs: number;
  /** The page could not answer for this long. */
  readonly longestTaskMs: number;
}

/** Shows a report as the host does, and measures. */
export async function openReport({ page, post }: ReportPage, markdown: string): Promise<ReportOpening> {
  await page.evaluate(`{
    window.__longest = 0;
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) window.__longest = Math.max(window.__longest, duration);
    }).observe({ type: 'longtask' });
    addEventListener('message', () => {
      const start = performance.now();
      const look = () => document.querySelector('article :is(h1, h2)')
        ? requestAnimationFrame(() => setTimeout(() => (window.__first = performance.now() - start)))
        : requestAnimationFrame(look);
      look();
      const wait = () => document.querySelector('article')?.hasAttribute('aria-busy') === false
        ? (window.__whole = performance.now() - start)
        : setTimeout(wait, 20);
      wait();
    }, true);
  }`);
  const content = {
    parts: [{ markdown }],
    title: 'Large',
    facts: [],
    severities: [],
    locations: [],
    language: 'en',
  };
  await post({ type: 'show', documentId: 'r', content, strings: reportStrings });
  await until(page, 'window.__whole !== undefined && window.__first !== undefined');
  const [readyMs, firstMs, wholeMs, longestTaskMs] = await page.evaluate<[number, number, number, number]>(
    '[window.__readyMs, window.__first, window.__whole, window.__longest]',
  );
  return { readyMs, firstMs, wholeMs, longestTaskMs };
}

/**
 * Invents a report of about this many characters, with code, tables, and lists in every finding.
 */
export function largeReport(chars: number): string {
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
