import type { Details, Finding } from '../../finding.ts';

/** Escapes what SARIF would read as a link (2.1.0, 3.11.6) or a placeholder (3.11.5). */
export function escapeMessage(text: string): string {
  return text.toWellFormed().replace(/[{}]/g, '$&$&').replaceAll('](', ']\\(');
}

/** Ends a text with a period, since GitHub shows only the first sentence where space is short. */
export function toSentence(text: string): string {
  return /[.!?。！？]$/.test(text) ? text : `${text}.`;
}

export function toMessage({ id, title }: Finding, { description }: Details): string {
  const first = toSentence(title.trim() === '' ? id : title.trim());
  const rest = description === '' || description === title ? '' : `\n\n${description}`;
  return escapeMessage(`${first}${rest}`);
}

/** A relative reference that stays below its base, percent-encoded. */
export function toRelativeUri(path: string): string {
  const parts = path.split(/[\\/]+/).filter((part) => part !== '' && part !== '.' && part !== '..');
  return parts.map((part) => encodeURIComponent(part.toWellFormed())).join('/');
}

/** SARIF's types accept no undefined members. */
export function withoutUndefined<T extends object>(
  members: T,
): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
