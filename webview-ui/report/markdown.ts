import { Lexer, Parser, Renderer, Tokenizer, getDefaults } from 'marked';
import type { MarkedOptions, Token, Tokens } from 'marked';
import { type Section, splitSections } from './sections.ts';

/** Every other element becomes text. */
export const allowedTags: ReadonlySet<string> = new Set(
  (
    'a abbr b blockquote br caption cite code dd del details div dl dt em figcaption figure h1 h2 h3 h4 h5 h6 hr i ins kbd li ' +
    'mark ol p pre q rp rt ruby s samp small span strong sub summary sup table tbody td tfoot th thead tr u ul var wbr'
  ).split(' '),
);

/** Deeper quotes and lists stay as written. */
const maxDepth = 24;
/** For raw HTML: its parser is quadratic in the depth of unclosed elements. */
const maxHtmlDepth = 64;
const neverNested: ReadonlySet<string> = new Set(
  'br hr wbr p li dt dd tr td th thead tbody tfoot rt rp'.split(' '),
);
/** A longer paragraph, cell or heading, and a larger table, is shown as text. */
const maxInlineChars = 16_000;
const maxCells = 20_000;

/** A line with a bar above a line of dashes. */
const tableStart = /^[^|\n]*\|[^\n]*\n[ \t]{0,3}[|:-][-:| \t]*(?:\n|$)/;
const comment = /<!--[^]*?-->/g;
const tag = /<(\/?)([a-z][^\s/>]*)([^>]*)/gi;
/** Removed before parsing: the content security policy would log each one in the console. */
const style = /(?<=[\s/"'])style\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>]*)/gi;
const handler = /[\s/"']on[a-z]+\s*=/i;

interface MarkdownReport {
  readonly sections: readonly Section[];
  /** The untrusted HTML of a section that is not shown as text. */
  html(section: Section): string;
}

/** Reads untrusted GitHub-flavoured Markdown in bounded time and depth. */
export function readMarkdown(markdown: string): MarkdownReport {
  const { sections, definitions } = splitSections(markdown);
  const options: MarkedOptions = { ...getDefaults(), gfm: true };
  const { links } = new Lexer(options).lex(definitions);
  const extensions = { renderers: {}, childTokens: {}, block: [largeTable] };

  return {
    sections,
    html(section) {
      const lexer = new BoundedLexer({ ...options, extensions, tokenizer: new BoundedTokenizer() });
      lexer.tokens.links = links;
      return Parser.parse(lexer.lex(section.source), { ...options, renderer: new ReportRenderer() });
    },
  };
}

/** Reads a table with too many cells as a code block. Short rows count like the first row. */
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

  override code({ text, lang }: Tokens.Code): string {
    return codeBlock(text, /^\S*/.exec(lang ?? '')?.[0] ?? '');
  }

  // Raw HTML that is not rendered is evidence in a security report, so it stays readable as text.
  override html({ text }: Tokens.HTML | Tokens.Tag): string {
    // Without the cut at the last `-->`, each later `<!--` would be searched to the end of the text.
    const lastEnd = text.lastIndexOf('-->') + 3;
    return (text.slice(0, lastEnd).replace(comment, '') + text.slice(lastEnd))
      .replace(/<(?![a-z/])/gi, '&lt;')
      .replace(tag, (whole: string, slash: string, name: string, attributes: string) =>
        this.#isRendered(name.toLowerCase(), slash !== '', attributes)
          ? `<${slash}${name}${attributes.replace(style, '')}`
          : whole.replaceAll('<', '&lt;'),
      );
  }

  #isRendered(name: string, closes: boolean, attributes: string): boolean {
    if (name === 'img') return !closes && !handler.test(attributes);
    if (!allowedTags.has(name) || handler.test(attributes)) return false;
    if (neverNested.has(name)) return true;
    if (!closes && this.#depth >= maxHtmlDepth) return false;
    this.#depth = Math.max(0, this.#depth + (closes ? -1 : 1));
    return true;
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
