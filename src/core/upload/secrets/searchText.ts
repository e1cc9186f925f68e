import { findAssignments, findTokens, type Match } from './ourRules.ts';

interface SearchedForm {
  readonly text: string;
  /** Whether something was taken out of it, or decoded. */
  readonly isJoined: boolean;
  /** The position in the original text of a position in `text`. */
  readonly originalOf: (index: number) => number;
}

export interface Found {
  readonly form: SearchedForm;
  readonly matches: readonly Match[];
}

/** White space and signs in a URL, which encodes them. */
export const urlEncoded = /%(?:0[AD]|2[0-9A-F]|3[A-F]|40|5[B-F]|60|7[B-E])/gi;

/** Searches a text as it is, and with what each of `inside` matches, which may be inside a secret, decoded or left out. The surest rules come first. */
export function searchText(text: string, path: string, inside: readonly RegExp[]): readonly Found[] {
  const asItIs: SearchedForm = { text, isJoined: false, originalOf: (index) => index };
  const joined = inside.flatMap((each) => without(text, each) ?? []);
  return [asItIs, ...joined].flatMap((form) => [
    { form, matches: findTokens(form.text, path) },
    { form, matches: findAssignments(form.text, path) },
  ]);
}

function without(text: string, inside: RegExp): SearchedForm | undefined {
  const gaps = [...text.matchAll(inside)];
  if (gaps.length === 0) return undefined;
  const parts: string[] = [];
  /** Where the text was cut, and how much was cut up to there. */
  const cuts: { readonly at: number; readonly length: number }[] = [];
  let end = 0;
  let length = 0;
  for (const { 0: gap, index } of gaps) {
    const decoded = gap.startsWith('%') ? decodeURIComponent(gap) : '';
    parts.push(text.slice(end, index), decoded);
    const at = index - length;
    end = index + gap.length;
    length += gap.length - decoded.length;
    cuts.push({ at, length });
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
