import { Lexer } from 'marked';

const cjk =
  '[\\u{E0100}-\\u{E01EF}\\p{sc=Han}\\p{sc=Hangul}\\p{sc=Hiragana}\\p{sc=Katakana}\\u3001-\\u33FF\\uFE30-\\uFE4F\\uFF01-\\uFFE6]';

/**
 * As in marked's own patterns, the number of the group that matches tells whether a delimiter run
 * opens, closes, or does both.
 */
function patternsOf(delimiter: string, run: string) {
  const punctuation = `(?![~${delimiter}]|${cjk})[\\p{P}\\p{S}]`;
  const letter = `(?!${punctuation})[^\\s${delimiter}]`;
  const end = `(?![${delimiter}])`;
  return {
    first: `^${run}(?:(${punctuation})|([^\\s${delimiter}]))?`,
    later: [
      `[^${delimiter}]+(?=[^${delimiter}])`,
      `${punctuation}(${run})(?=\\s|$)`,
      `(?!${cjk}${run}${end}${punctuation})${letter}(${run})${end}(?=\\s|${punctuation}|$)`,
      `(?!${punctuation}${run}${cjk})(?:\\s|${punctuation})(${run})(?=${letter})`,
      `\\s(${run})${end}(?=${punctuation})`,
      `(?:${punctuation}|${cjk})(${run})${end}(?=${punctuation})`,
      `(?:${letter}|${punctuation}(?=${run}${cjk}))(${run})(?=${letter})`,
    ].join('|'),
  };
}

const usualPatterns = Lexer.rules.inline.gfm;
const stars = patternsOf('*', '\\*+');
const tildes = patternsOf('~', '~~?');
/** Skips a star between double underscores, as marked does. */
const starInUnderscores = '^[^_*]*?__[^_*]*?\\*[^_*]*?(?=__)';

const afterUnderscores = '(?:((?![~_])[\\p{P}\\p{S}])|([^\\s_]))?';

/**
 * Japanese has no spaces between words, so by the usual rules `**重大：**SQL` is not bold. Here, CJK
 * punctuation counts as letters, and other punctuation next to a CJK character can begin or end
 * emphasis. Underscores end emphasis by the usual rules, because names contain them.
 * https://github.com/tats-u/markdown-cjk-friendly/blob/main/specification.md
 */
export const cjkPatterns: typeof usualPatterns = {
  ...usualPatterns,
  emStrongLDelim: new RegExp(`${stars.first}|^_+${afterUnderscores}`, 'u'),
  emStrongRDelimAst: new RegExp(`${starInUnderscores}|${stars.later}`, 'gu'),
  delLDelim: new RegExp(tildes.first, 'u'),
  delRDelim: new RegExp(`^${tildes.later}`, 'gu'),
  /**
   * Matches the character before a run. If that character is a surrogate pair, marked gives only
   * its second half.
   */
  punctuation: new RegExp(`^(?:\\s|(?![*_])[\\p{P}\\p{S}]|${cjk}|\\p{Cs})`, 'u'),
};
