import { Lexer, Parser, Renderer, Tokenizer, getDefaults } from 'marked';
import type { MarkedOptions, RendererThis, Token, TokenizerThis, Tokens } from 'marked';
import { cjkPatterns } from './emphasis.ts';
import { footnoteStart, type Section, splitSections, withoutFence, withoutPictureData } from './sections.ts';

/** Other elements are shown as text, except images and pictures. */
export const allowedTags: ReadonlySet<string> = new Set(
  (
    'a abbr b blockquote br caption cite code dd del details div dl dt em figcaption figure h1 h2 h3 h4 h5 h6 hr i ins kbd li ' +
    'mark ol p pre q rp rt ruby s samp small span strong sub summary sup table tbody td tfoot th thead tr u ul var wbr'
  ).split(' '),
);

/** Deeper quotes and lists stay as written. */
const maxDepth = 24;
/** The parser of raw HTML is quadratic in the depth of unclosed elements. */
const maxHtmlDepth = 64;
const neverNested: ReadonlySet<string> = new Set(
  'br hr wbr p li dt dd tr td th thead tbody tfoot rt rp'.split(' '),
);
/** Longer paragraphs, cells, and headings, and larger tables, are shown as code. */
const maxInlineChars = 16_000;
const maxCells = 20_000;

/** Matches a line with a bar above a line of dashes. */
const tableStart = /^[^|\n]*\|[^\n]*\n[ \t]{0,3}[|:-][-:| \t]*(?:\n|$)/;
const comment = /<!--[^]*?-->/g;
const tag = /<(\/?)([a-z][^\s/>]*)([^>]*)(>?)/gi;
/**
 * Styles are removed before parsing: the content security policy would log each one in the console.
 */
const style = /(?<=[\s/"'])style\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>]*)/gi;
const handler = /[\s/"']on[a-z]+\s*=/i;

/** Matches metadata for publishing tools at the start of a report. */
const frontMatter = /^---[ \t]*\r?\n(?=[^\s#-][^\n:]*:\s)([^]{0,16000}?)\r?\n(?:---|\.\.\.)[ \t]*(?:\r?\n|$)/;
/** GitHub shows a quote that starts with this line as an alert. */
const alertStart = /^<p>\[!(note|tip|important|warning|caution)\][ \t]*(?:<br>)?(?:\n|(?=<\/p>))/i;
const footnoteReference = /^\[\^([^\]\s]{1,100})\]/;
/** Matches indented lines, even after blank ones, and lines that continue a paragraph. */
const footnoteLines =
  /^[^\n]*(?:\n(?:[ \t]*\n)*(?: {4}|\t)[ \t]*\S[^\n]*|\n(?! {0,3}(?:\[\^|[#>|<`~]|[-+*][ \t]|\d{1,9}[.)][ \t]))[ \t]*\S[^\n]*)*\n?/;

interface MarkdownReport {
  readonly sections: readonly Section[];
  /** Returns untrusted HTML. Must not be called for a section that is shown as text. */
  html(section: Section): string;
}

/** Reads untrusted GitHub-flavored Markdown in bounded time and depth. */
export function readMarkdown(markdown: string): MarkdownReport {
  const source = withoutPictureData(withoutFence(markdown.replace(/^\uFEFF/, ''))).replace(
    frontMatter,
    (_, yaml: string) => toTable(yaml),
  );
  const { sections, footnoteLabels } = splitSections(source);
  const options: MarkedOptions = { ...getDefaults(), gfm: true };
  const footnotes = readFootnotes(footnoteLabels);
  const extensions = { ...footnotes, childTokens: {}, block: [largeTable, ...footnotes.block] };
  // `links` has no prototype, because a definition may have the name of any property.
  const { links } = new Lexer(options).tokens;
  const createLexer = (): Lexer => {
    const tokenizer = new BoundedTokenizer();
    const lexer = new BoundedLexer({ ...options, extensions, tokenizer });
    tokenizer.rules.inline = cjkPatterns;
    lexer.tokens.links = links;
    return lexer;
  };
  const defining = sections.filter((section) => !section.isText && section.source.includes(']:'));

  return {
    sections,
    html(section) {
      // Definitions are read once for all sections: they count wherever they are, even in a list or
      // a quote.
      for (const each of defining.splice(0)) createLexer().blockTokens(each.source);
      const tokens = createLexer().lex(section.source);
      return Parser.parse(tokens, { ...options, extensions, renderer: new ReportRenderer() });
    },
  };
}

/** Nested values are shown line by line. The blank line at the end ends the HTML block. */
function toTable(yaml: string): string {
  const entries = yaml.split(/\r?\n(?=[^\s#-])/).map((entry) => /^([^:]*)(?::\s*)?([^]*)$/.exec(entry) ?? []);
  const rows = entries.map(([, key = '', value = '']) => {
    const lines = value.split(/[\r\n]+/).filter((line) => line.trim() !== '');
    const [cell, header] = [lines.map(unquoted).join('<br>'), unquoted(key)];
    return `<tr><th>${header}</th><td>${cell}</td></tr>`;
  });
  return `<table>\n${rows.join('\n')}\n</table>\n\n`;
}

function unquoted(text: string): string {
  return escape(text.trim().replace(/^(["'])(.*)\1$/, '$2'));
}

/** Footnotes stay where they are defined, so a section needs only the other sections' labels. */
function readFootnotes(labels: ReadonlySet<string>) {
  const isKnown = (label: string): boolean => labels.has(label.toLowerCase());
  let isInside = false;
  function definition(this: TokenizerThis, source: string): Tokens.Generic | undefined {
    const [start = '', label = ''] = footnoteStart.exec(source) ?? [];
    if (isInside || !isKnown(label)) return undefined;
    const [lines = ''] = footnoteLines.exec(source.slice(start.length)) ?? [];
    isInside = true;
    try {
      const tokens = this.lexer.blockTokens(lines.trim().replace(/^(?: {4}|\t)/gm, ''), []);
      return { type: 'footnote', raw: start + lines, label, tokens };
    } finally {
      isInside = false;
    }
  }
  function reference(source: string): Tokens.Generic | undefined {
    const [raw = '', label = ''] = footnoteReference.exec(source) ?? [];
    return isKnown(label) ? { type: 'footnoteReference', raw, label } : undefined;
  }
  const footnoteLink = (id: string, to: string, label: string): string =>
    `<sup id="${escape(id + label)}"><a href="#${to}${encodeURIComponent(label)}">${escape(label)}</a></sup>`;
  const nextDefinition = /\n(?= {0,3}\[\^[^\]\s]{1,100}\]:)/;
  return {
    block: [definition],
    inline: [reference],
    // A definition ends a paragraph.
    startBlock: labels.size === 0 ? [] : [(source: string) => source.search(nextDefinition)],
    renderers: {
      footnote(this: RendererThis, { label, tokens = [] }: Tokens.Generic): string {
        const text = this.parser.parse(tokens);
        return `<div data-footnote="">${footnoteLink('fn-', 'fnref-', String(label))}<div>${text}</div></div>\n`;
      },
      footnoteReference: ({ label }: Tokens.Generic): string => footnoteLink('fnref-', 'fn-', String(label)),
    },
  };
}

/** Reads a table with too many cells as a code block. Short rows count as if they were full. */
function largeTable(source: string): Tokens.Code | undefined {
  if (!tableStart.test(source)) return undefined;
  const blank = source.search(/\n[ \t]*(?:\n|$)/);
  const raw = blank === -1 ? source : source.slice(0, blank + 1);
  const columns = raw.slice(0, raw.indexOf('\n')).split('|').length;
  const isLarge = columns * raw.split('\n').length > maxCells;
  return isLarge ? { type: 'code', raw, text: raw.trimEnd() } : undefined;
}

class BoundedTokenizer extends Tokenizer {
  #depth = 0;

  override blockquote(source: string): Tokens.Blockquote | undefined {
    return this.#nested(() => super.blockquote(source));
  }

  override list(source: string): Tokens.List | undefined {
    return this.#nested(() => super.list(source));
  }

  #nested<T>(read: () => T | undefined): T | undefined {
    if (this.#depth >= maxDepth) return undefined;
    this.#depth++;
    try {
      return read();
    } finally {
      this.#depth--;
    }
  }
}

class BoundedLexer extends Lexer {
  override inline(source: string, tokens: Token[] = []): Token[] {
    if (source.length <= maxInlineChars) return super.inline(source, tokens);
    tokens.push({ type: 'codespan', raw: source, text: source } satisfies Tokens.Codespan);
    return tokens;
  }
}

class ReportRenderer extends Renderer {
  #depth = 0;
  #isInPicture = false;

  override code({ text, lang }: Tokens.Code): string {
    return codeBlock(text, /^\S*/.exec(lang ?? '')?.[0] ?? '');
  }

  // An element that is not rendered may be evidence, so it stays readable as text.
  override html({ text }: Tokens.HTML | Tokens.Tag): string {
    // Without the cut at the last `-->`, the search from each later `<!--` would reach the end of
    // the text.
    const lastEnd = text.lastIndexOf('-->') + 3;
    return (text.slice(0, lastEnd).replace(comment, '') + text.slice(lastEnd))
      .replace(/<(?![a-z/])/gi, '&lt;')
      .replace(tag, (whole: string, slash: string, name: string, attributes: string, end: string) => {
        if (this.#isOfPicture(name.toLowerCase(), slash !== '', attributes)) return '';
        return this.#isRendered(name.toLowerCase(), slash !== '', attributes)
          ? `<${slash}${name}${attributes.replace(style, '')}${end}`
          : whole.replaceAll('<', '&lt;');
      });
  }

  /** Only the image of a picture is rendered. */
  #isOfPicture(name: string, closes: boolean, attributes: string): boolean {
    if ((name !== 'picture' && name !== 'source') || handler.test(attributes)) return false;
    const isInside = this.#isInPicture;
    if (name === 'picture') this.#isInPicture = !closes;
    return isInside || name === 'picture';
  }

  #isRendered(name: string, closes: boolean, attributes: string): boolean {
    if (name === 'img') return !closes && !handler.test(attributes);
    if (!allowedTags.has(name) || handler.test(attributes)) return false;
    if (neverNested.has(name)) return true;
    if (!closes && this.#depth >= maxHtmlDepth) return false;
    this.#depth = Math.max(0, this.#depth + (closes ? -1 : 1));
    return true;
  }

  override blockquote(token: Tokens.Blockquote): string {
    const html = this.parser.parse(token.tokens);
    const kind = alertStart.exec(html)?.[1];
    if (kind === undefined) return `<blockquote>\n${html}</blockquote>\n`;
    const text = html.replace(alertStart, '<p>').replace(/^<p><\/p>\n/, '');
    return `<blockquote data-alert="${kind.toLowerCase()}">\n${text}</blockquote>\n`;
  }

  override link({ href, tokens }: Tokens.Link): string {
    return `<a href="${escape(href)}">${this.parser.parseInline(tokens)}</a>`;
  }

  override image({ href, text }: Tokens.Image): string {
    return `<img src="${escape(href)}" alt="${escape(text)}">`;
  }

  override checkbox({ checked }: Tokens.Checkbox): string {
    return `<span data-check="${checked ? 'done' : 'open'}"></span> `;
  }
}

function codeBlock(text: string, language: string): string {
  return `<pre data-language="${escape(language)}"><code>${escape(text)}</code></pre>\n`;
}

function escape(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
