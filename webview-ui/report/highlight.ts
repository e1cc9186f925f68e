import hljs from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import c from 'highlight.js/lib/languages/c';
import cpp from 'highlight.js/lib/languages/cpp';
import csharp from 'highlight.js/lib/languages/csharp';
import css from 'highlight.js/lib/languages/css';
import diff from 'highlight.js/lib/languages/diff';
import dockerfile from 'highlight.js/lib/languages/dockerfile';
import go from 'highlight.js/lib/languages/go';
import http from 'highlight.js/lib/languages/http';
import ini from 'highlight.js/lib/languages/ini';
import java from 'highlight.js/lib/languages/java';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import kotlin from 'highlight.js/lib/languages/kotlin';
import php from 'highlight.js/lib/languages/php';
import python from 'highlight.js/lib/languages/python';
import ruby from 'highlight.js/lib/languages/ruby';
import rust from 'highlight.js/lib/languages/rust';
import shell from 'highlight.js/lib/languages/shell';
import sql from 'highlight.js/lib/languages/sql';
import swift from 'highlight.js/lib/languages/swift';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';

/** Longer code, or code with longer lines, keeps one colour: a grammar's time is not bounded. */
const maxChars = 10_000;
const maxLineChars = 500;

// prettier-ignore
const grammars = {
  bash, c, cpp, csharp, css, diff, dockerfile, go, http, ini, java, javascript, json, kotlin, php, python, ruby, rust, shell,
  sql, swift, typescript, xml, yaml,
};

/** Colours code: gives HTML whose only markup is `hljs-*` spans, or undefined where code is to stay plain. */
export type Highlight = (code: string, language: string) => string | undefined;

/** A highlighter for the languages that reports quote. */
export function createHighlighter(): Highlight {
  const highlighter = hljs.newInstance();
  for (const [name, grammar] of Object.entries(grammars)) highlighter.registerLanguage(name, grammar);

  return (code, language) => {
    if (!highlighter.getLanguage(language) || code.length > maxChars) return undefined;
    if (code.split('\n').some((line) => line.length > maxLineChars)) return undefined;
    return highlighter.highlight(code, { language, ignoreIllegals: true }).value;
  };
}
