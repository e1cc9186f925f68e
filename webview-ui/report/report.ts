import type { ShowMessage } from '../../src/core/report/protocol.ts';
import { BlockFinisher } from './codeBlocks.ts';
import { createContents, goTo } from './contents.ts';
import { element } from './element.ts';
import { readMarkdown } from './markdown.ts';
import { type Clean, renderAsWritten, renderPart } from './render.ts';
import { writeSavedCopy } from './savedCopy.ts';
import { renderSummary } from './summary.ts';
import { renderTrend } from './trend.ts';

const firstSliceMs = 16;
/** A later slice has at least this much time, so that a busy page makes progress, too. */
const minSliceMs = 8;
const maxWaitMs = 100;
/** For the scroll bar, these estimate a section's height before its layout. */
const charsPerLine = 30;
const lineHeightEm = 2;
/** The heading of a part has level 2, so the headings inside move down. */
const partDepth = 2;

/** `section` is the first visible section, with `offsetPx` of its pixels above the screen. */
export interface Position {
  readonly section: number;
  readonly offsetPx: number;
}

export type ShownReport = ReturnType<typeof showReport>;

/** Renders the first visible sections at once, and the rest between frames. */
export function showReport(
  root: HTMLElement,
  { content, strings }: ShowMessage,
  sanitizer: { readonly report: Clean; readonly highlighted: Clean },
  position?: Position,
) {
  const pieces = piecesOf(content);
  const contents = createContents(strings.tableOfContents, pieces.length);
  const finisher = new BlockFinisher(sanitizer.highlighted);
  const disposal = new AbortController();
  const locations = {
    indexes: new Map(content.locations.map(({ label, index }) => [label, index])),
    tooltip: strings.openInEditor,
  };

  const sections = pieces.map(toSection);
  const article = element('article', { lang: content.language, 'aria-busy': 'true' }, ...sections);
  const header = renderSummary(content, strings);
  root.replaceChildren(header, layOut({ content, strings }, contents.nav, article));

  const renderSection = (index: number): void => {
    const [piece, section] = [pieces[index], sections[index]];
    if (!piece || !section) return;
    const nodes = document.createDocumentFragment();
    if (piece.heading !== undefined) nodes.append(element('h2', { tabindex: '-1' }, piece.heading));
    nodes.append(piece.isText ? renderAsWritten(piece.source, strings) : renderMarkdown(piece));
    contents.add(index, nodes);
    section.append(nodes);
    finisher.observe(section);
  };
  const renderMarkdown = ({ source, html, depth }: (typeof pieces)[number]): Node => {
    try {
      return renderPart(html(), { clean: sanitizer.report, locations, strings, depth });
    } catch (error) {
      // A section that the parser can't read is shown as written, so nothing is lost.
      console.error(error);
      return renderAsWritten(source, strings);
    }
  };

  function* render(): Generator<void> {
    const indexes = [...sections.keys()];
    const first = position?.section ?? 0;
    for (const index of [...indexes.slice(first), ...indexes.slice(0, first)]) {
      renderSection(index);
      yield;
    }
    contents.flush();
    article.removeAttribute('aria-busy');
  }

  function* save(): Generator<void, string> {
    for (const section of sections) {
      finisher.color(section);
      yield;
    }
    return yield* writeSavedCopy(header, contents, article);
  }

  const rendered = runInSlices(render(), firstSliceMs, disposal.signal);
  if (position) goToPosition(sections, position);

  return {
    position: () => findPosition(sections),
    html: async (): Promise<string> => {
      await rendered;
      return runInSlices(save(), 0, disposal.signal);
    },
    dispose(): void {
      disposal.abort();
      finisher.disconnect();
      contents.dispose();
    },
  };
}

function piecesOf(content: ShowMessage['content']) {
  return content.parts.flatMap(({ heading, markdown }) => {
    const report = readMarkdown(markdown);
    return report.sections.map((section, index) => ({
      ...section,
      html: () => report.html(section),
      heading: index === 0 ? heading : undefined,
      depth: heading === undefined ? 0 : partDepth,
    }));
  });
}

function toSection({ source }: { readonly source: string }): HTMLElement {
  const section = element('section');
  section.style.setProperty('--estimate', `${Math.ceil(source.length / charsPerLine) * lineHeightEm}em`);
  return section;
}

function layOut(
  { content, strings }: Pick<ShowMessage, 'content' | 'strings'>,
  nav: HTMLElement,
  article: HTMLElement,
): HTMLElement {
  const main = element('main', {}, article);
  const skip = element('a', { class: 'skip', role: 'link', tabindex: '0' }, strings.skipContents);
  skip.addEventListener('click', () => goTo(main));
  nav.prepend(skip);
  return content.trend === undefined
    ? element('div', { class: 'columns' }, nav, main)
    : element('main', { class: 'trend' }, ...renderTrend(content.trend), article);
}

/** Runs steps between frames, the first slice at once. Never resolves if the signal aborts. */
function runInSlices<T>(steps: Iterator<void, T>, firstMs: number, signal: AbortSignal): Promise<T> {
  return new Promise((resolve) => {
    const slice = (remaining: () => number): void => {
      if (signal.aborted) return;
      do {
        const step = steps.next();
        if (step.done === true) {
          resolve(step.value);
          return;
        }
      } while (remaining() > 0);
      requestIdleCallback(
        (deadline) => {
          const until = performance.now() + minSliceMs;
          slice(() => Math.max(deadline.timeRemaining(), until - performance.now()));
        },
        { timeout: maxWaitMs },
      );
    };
    const until = performance.now() + firstMs;
    slice(() => until - performance.now());
  });
}

function findPosition(sections: readonly HTMLElement[]): Position {
  const top = (section: HTMLElement | undefined): number => section?.getBoundingClientRect().top ?? 0;
  const section = Math.max(
    0,
    sections.findLastIndex((each) => top(each) <= 0),
  );
  return { section, offsetPx: -top(sections[section]) };
}

/** The browser keeps the position on screen while sections change their height. */
function goToPosition(sections: readonly HTMLElement[], { section, offsetPx }: Position): void {
  const target = sections[section];
  // If the section's estimated height were less than `offsetPx`, the section would end above the
  // screen, and the browser would never lay it out.
  target?.style.setProperty('content-visibility', 'visible');
  scrollBy(0, (target?.getBoundingClientRect().top ?? 0) + offsetPx);
}
