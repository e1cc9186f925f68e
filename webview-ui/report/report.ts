import type { ShowMessage } from '../../src/core/report/protocol.ts';
import { createBlockFinisher } from './codeBlocks.ts';
import { createContents, findJumpTargets, goTo } from './contents.ts';
import { element } from './element.ts';
import type { Highlight } from './highlight.ts';
import { readMarkdown } from './markdown.ts';
import { findPosition, holdPosition, type Position } from './position.ts';
import { runInSlices } from './progress.ts';
import { renderAsWritten, renderPart } from './render.ts';
import type { Clean } from './sanitize.ts';
import { writeSavedCopy } from './savedCopy.ts';
import { renderSummary } from './summary.ts';

/** Work done before the first paint, in milliseconds. */
const firstSliceMs = 16;
/** How Markdown's length becomes a height before anything is laid out; only the scroll bar depends on it. */
const charsPerLine = 30;
const lineHeightEm = 2;

/** The headings of a part stand below its own, which is of the second level. */
const partDepth = 2;

/** A report on the page. */
export interface ShownReport {
  /** Where the reader is. */
  position(): Position;
  /** All of it as HTML to be saved, once it is whole. */
  html(): Promise<string>;
  dispose(): void;
}

/** The parts that are made once and serve every report. */
export interface ReportTools {
  readonly sanitizer: { readonly report: Clean; readonly highlighted: Clean };
  readonly highlight: Highlight;
}

/**
 * Shows a report in `root`: what the reader sees first is rendered at once, the rest between frames, so that the window never
 * freezes and find reaches every section in the end.
 */
export function showReport(
  root: HTMLElement,
  message: ShowMessage,
  tools: ReportTools,
  from?: Position,
): ShownReport {
  const { content, strings } = message;
  const pieces = content.parts.flatMap(({ heading, markdown }) => {
    const report = readMarkdown(markdown);
    return report.sections.map((section, index) => {
      const startsPart = index === 0;
      return { section, html: () => report.html(section), part: heading, startsPart };
    });
  });
  const contents = createContents(strings.tableOfContents, pieces.length);
  const finisher = createBlockFinisher(tools.highlight, tools.sanitizer.highlighted);
  const stop = new AbortController();
  const places = {
    indexes: new Map(content.places.map(({ label, index }) => [label, index])),
    tooltip: strings.openInEditor,
  };
  const context = { clean: tools.sanitizer.report, places, strings };

  const sections = pieces.map(({ section: { source } }) => {
    const section = element('section');
    section.style.setProperty('--estimate', `${Math.ceil(source.length / charsPerLine) * lineHeightEm}em`);
    return section;
  });
  const article = element('article', { lang: content.language, 'aria-busy': 'true' }, ...sections);
  const header = renderSummary(content, strings);
  const main = element('main', {}, article);
  const skip = element('a', { class: 'skip', role: 'link', tabindex: '0' }, strings.skipContents);
  skip.addEventListener('click', () => goTo(main));
  contents.nav.prepend(skip);
  root.replaceChildren(header, element('div', { class: 'columns' }, contents.nav, main));

  let finished = (): void => undefined;
  const whole = new Promise<void>((resolve) => (finished = resolve));

  function* renderSection(index: number): Generator<void> {
    const [piece, section] = [pieces[index], sections[index]];
    if (!piece || !section) return;
    const add = (nodes: DocumentFragment | HTMLElement): void => {
      contents.add(index, nodes);
      section.append(nodes);
      finisher.observe(section);
    };
    const { section: markdown, html, part, startsPart } = piece;
    const start = (): void => {
      if (part === undefined || !startsPart) return;
      const holder = document.createDocumentFragment();
      holder.append(element('h2', { tabindex: '-1' }, part));
      add(holder);
    };
    start();
    try {
      if (markdown.isText) add(renderAsWritten(markdown.source, strings));
      else
        for (const each of html()) {
          add(renderPart(each, { ...context, depth: part === undefined ? 0 : partDepth }));
          yield;
        }
    } catch (error) {
      // Nothing is lost to a section that the parser cannot take: it is shown as it was written.
      console.error(error);
      section.replaceChildren();
      start();
      add(renderAsWritten(markdown.source, strings));
    }
    yield;
  }

  function* render(): Generator<void> {
    for (const index of readingOrder(sections.length, from?.section ?? 0)) {
      yield* renderSection(index);
    }
    contents.flush();
    article.removeAttribute('aria-busy');
    finished();
  }

  function* save(done: (html: string) => void): Generator<void> {
    for (const section of sections) {
      finisher.colour(section);
      yield;
    }
    const jumpTarget = findJumpTargets(article);
    done(
      yield* writeSavedCopy({
        header,
        nav: contents.nav,
        article,
        sections,
        contents: contents.targets,
        jumpTarget,
      }),
    );
  }

  runInSlices(render(), firstSliceMs, stop.signal);
  if (from) holdPosition(sections, from, () => !article.hasAttribute('aria-busy'), stop.signal);

  return {
    position: () => findPosition(sections),
    html: async () => {
      await whole;
      return new Promise((done) => runInSlices(save(done), 0, stop.signal));
    },
    dispose() {
      stop.abort();
      finisher.disconnect();
      contents.dispose();
    },
  };
}

/** From where the reader was to the end, then the beginning. */
function* readingOrder(count: number, from: number): Generator<number> {
  const first = Math.min(from, count - 1);
  for (let index = first; index < count; index++) yield index;
  for (let index = 0; index < first; index++) yield index;
}
