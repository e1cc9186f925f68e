import type { ApplicationInput } from './application.ts';

/** The parts of an input that decide where passwords go: logins, limits, pairs and the run that is gone on from are not among them. */
export type InputPart = 'targets' | 'exclusions' | 'loginInstructions' | 'crawlInstructions' | 'preferences';

/** What an input says in each part, in an order that does not depend on the input's. */
export type InputParts = Readonly<Record<InputPart, readonly string[]>>;

/** What was added to a part and removed from it. */
export interface PartChange {
  readonly part: InputPart;
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/** What an input says in each part; of two inputs with equal parts, `changesBetween` finds none. */
export function partsOf(input: ApplicationInput): InputParts {
  const { target_urls, oos_urls = [], authentication, additional_instructions, preference } = input;
  const preferences = preference?.preferences ?? [];
  return {
    targets: inOrder(target_urls),
    exclusions: inOrder(oos_urls),
    loginInstructions: inOrder([authentication?.additional_instructions]),
    crawlInstructions: inOrder([additional_instructions]),
    preferences: inOrder(preferences.map(({ kind, preference }) => `${kind}: ${preference}`)),
  };
}

function inOrder(texts: readonly (string | undefined)[]): string[] {
  return [...new Set(texts.filter((text) => text !== undefined))].sort();
}

/** The parts in which two inputs differ, with what differs. */
export function changesBetween(before: InputParts, after: InputParts): PartChange[] {
  return (Object.keys(after) as InputPart[])
    .map((part) => ({
      part,
      added: after[part].filter((text) => !before[part].includes(text)),
      removed: before[part].filter((text) => !after[part].includes(text)),
    }))
    .filter(({ added, removed }) => added.length + removed.length > 0);
}
