import { findAssignments, findTokens, type Match, spacedOut } from './ourRules.ts';
import type { PresetLint } from './secretlintPreset.ts';

/** A form of a text in which secrets are searched. */
interface SearchedForm {
  readonly text: string;
  /** Whether something was taken out of it. */
  readonly isJoined: boolean;
  /** The position in the original text of a position in `text`. */
  readonly originalOf: (index: number) => number;
}

/** What a kind of search found. */
export interface Found {
  readonly form: SearchedForm;
  readonly matches: readonly Match[];
}

/**
 * Searches a text as it is and spaced out. Without what `between` matches, which may be inside a secret, both forms are searched again. The surest rules come
 * first.
 */
export async function searchText(
  text: string,
  path: string,
  lint: PresetLint,
  between: RegExp | undefined,
): Promise<readonly Found[]> {
  const asItIs: SearchedForm = { text, isJoined: false, originalOf: (index) => index };
  const joined = between && without(text, between);
  const found: Found[] = [];
  for (const form of joined === undefined ? [asItIs] : [asItIs, joined]) {
    const spaced = { ...form, text: spacedOut(form.text) };
    for (const each of spaced.text === form.text ? [form] : [form, spaced])
      found.push(
        { form: each, matches: await lint(each.text, path) },
        { form: each, matches: findTokens(each.text, path) },
      );
    // A password may have letters of any script.
    found.push({ form, matches: findAssignments(form.text, path) });
  }
  return found;
}

function without(text: string, between: RegExp): SearchedForm | undefined {
  const gaps = [...text.matchAll(between)];
  if (gaps.length === 0) return undefined;
  const parts: string[] = [];
  /** Where the text was cut, and how much was cut up to there. */
  const cuts: { readonly at: number; readonly length: number }[] = [];
  let end = 0;
  let length = 0;
  for (const { 0: gap, index } of gaps) {
    parts.push(text.slice(end, index));
    end = index + gap.length;
    length += gap.length;
    cuts.push({ at: end - length, length });
  }
  parts.push(text.slice(end));
  return { text: parts.join(''), isJoined: true, originalOf: (index) => index + cutBefore(cuts, index) };
}

function cutBefore(cuts: readonly { readonly at: number; readonly length: number }[], index: number): number {
  let low = 0;
  let high = cuts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((cuts[middle]?.at ?? 0) <= index) low = middle + 1;
    else high = middle;
  }
  return cuts[low - 1]?.length ?? 0;
}
