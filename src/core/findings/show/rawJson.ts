// All that JSON allows in a string as it is, and that no eye sees; line breaks stand between the values.
const invisible = /[\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u007F-\u009F]/gu;

/** A finding's raw value as indented JSON in which no invisible character hides: reading it gives the same value. */
export function toVisibleJson(raw: unknown): string {
  return JSON.stringify(raw, undefined, 2).replace(invisible, (character) =>
    Array.from({ length: character.length }, (_, at) => escaped(character.charCodeAt(at))).join(''),
  );
}

function escaped(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, '0')}`;
}
