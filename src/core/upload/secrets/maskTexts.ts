import { findAssignments, findTokens, type Match } from './ourRules.ts';
import type { PresetLint } from './secretlintPreset.ts';

export interface MaskStart {
  readonly texts: readonly string[];
}

/** Some kinds count only in files of these names. In texts about files, all kinds count. */
const paths = ['findings.json', '.npmrc'];
/** Texts are searched together: each search has a fixed cost, and most texts hold no credential. */
const chunkLength = 128 * 1024;

/** Masks what looks like a credential, as the check before an upload does. */
export async function maskTexts({ texts }: MaskStart, lint: PresetLint): Promise<readonly string[]> {
  const masked: string[] = [];
  for (const chunk of chunksOf(texts)) {
    const isClean = (await search(chunk.join('\n\n'), lint)).length === 0;
    for (const text of chunk) masked.push(isClean ? text : mask(text, await search(text, lint)));
  }
  return masked;
}

function* chunksOf(texts: readonly string[]): Generator<readonly string[]> {
  let chunk: string[] = [];
  let length = 0;
  for (const text of texts) {
    if (length + text.length > chunkLength && chunk.length > 0) {
      yield chunk;
      chunk = [];
      length = 0;
    }
    chunk.push(text);
    length += text.length;
  }
  yield chunk;
}

async function search(text: string, lint: PresetLint): Promise<readonly Match[]> {
  const found: Match[] = [];
  for (const path of paths)
    found.push(...(await lint(text, path)), ...findTokens(text, path), ...findAssignments(text, path));
  return found;
}

/** The longest first: one secret may hold another. */
function mask(text: string, matches: readonly Match[]): string {
  const secrets = new Map(matches.map(({ secret, masked, alias = masked }) => [secret, alias]));
  return [...secrets]
    .filter(([secret]) => secret !== '')
    .sort(([one], [other]) => other.length - one.length)
    .reduce((rest, [secret, shown]) => rest.replaceAll(secret, () => shown), text);
}
