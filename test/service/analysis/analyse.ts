import { parseAsync, registerDynamicLanguage, type SgNode } from '@ast-grep/napi';
import python from '@ast-grep/lang-python';
import type { ArchiveEntry } from '../unpack.ts';
import { languageOf, type AnalysedLanguage, type WeaknessRule } from './rules.ts';

/** A place in an archive that a rule has matched; lines count from 1, the snippet is whole lines. */
export interface Match {
  readonly rule: WeaknessRule;
  readonly targetIndex: number;
  readonly path: string;
  readonly startLine: number;
  readonly endLine: number;
  readonly snippet: string;
}

/** Grammars are registered with the process, once: this is not state of the service. */
const missingPython = registerPython();

const MAX_SNIPPET_LINES = 8;
const MAX_MATCHES_PER_FILE = 200;
const MAX_BUSY_MS = 20;

/**
 * Looks for weaknesses in the files of an archive as they come. Dependencies, files without a content to analyse and files that
 * mention nothing suspicious cost no parsing; between files the event loop gets its turn. Every entry is noted in `entries`.
 */
export async function* analyseArchive(
  files: AsyncIterable<ArchiveEntry>,
  {
    targetIndex,
    entries,
    log,
  }: { targetIndex: number; entries: { path: string; bytes: number }[]; log: (line: string) => void },
): AsyncGenerator<Match> {
  let busySince = performance.now();
  let saidPythonIsMissing = false;
  for await (const { path, bytes, content } of files) {
    entries.push({ path, bytes });
    const language = languageOf(path);
    if (!language || !content || path.split('/').includes('node_modules')) continue;
    if (language.grammar === 'python' && missingPython !== undefined) {
      if (!saidPythonIsMissing) log(`Python files are not analysed: ${missingPython}`);
      saidPythonIsMissing = true;
      continue;
    }
    for (const match of await matchesIn(content.toString('utf8'), language))
      yield { ...match, targetIndex, path };
    if (performance.now() - busySince < MAX_BUSY_MS) continue;
    await new Promise(setImmediate);
    busySince = performance.now();
  }
}

async function matchesIn(
  source: string,
  language: AnalysedLanguage,
): Promise<Omit<Match, 'targetIndex' | 'path'>[]> {
  const rules = language.rules.filter(({ hint }) => hint.test(source));
  if (rules.length === 0) return [];
  const root = (await parseAsync(language.grammar, source)).root();
  const lines = source.split('\n');
  return rules
    .flatMap((rule) => root.findAll(rule.matcher).map((node) => toMatch(rule, node, lines)))
    .slice(0, MAX_MATCHES_PER_FILE);
}

function toMatch(rule: WeaknessRule, node: SgNode, lines: readonly string[]) {
  const { start, end } = node.range();
  const startLine = start.line + 1;
  const endLine = end.line + 1;
  const snippet = lines.slice(start.line, Math.min(endLine, start.line + MAX_SNIPPET_LINES)).join('\n');
  return { rule, startLine, endLine, snippet: snippet.replaceAll('\r', '') };
}

/** The reason why Python cannot be analysed on this machine, or undefined. */
function registerPython(): string | undefined {
  try {
    registerDynamicLanguage({ python });
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
