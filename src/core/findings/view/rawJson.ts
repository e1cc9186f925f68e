// Invisible characters that JSON allows unescaped in a string; line breaks stand between the values.
const invisible = /[\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u007F-\u009F]/gu;

/** A finding's raw JSON, indented, with no invisible character hidden in it: reading it gives the same value. Undefined for one that is nested too deeply to be written. */
export function toVisibleJson(raw: string): string | undefined {
  return indented(raw)?.replace(invisible, (character) =>
    Array.from({ length: character.length }, (_, at) => escaped(character.charCodeAt(at))).join(''),
  );
}

function indented(raw: string): string | undefined {
  try {
    return JSON.stringify(JSON.parse(raw), undefined, 2);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function escaped(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, '0')}`;
}
