import type { Finding } from '../../finding.ts';

/** A text of a message: what SARIF would take for a link (2.1.0, 3.11.6) or a placeholder (3.11.5) stays text. */
export function escaped(text: string): string {
  return text.toWellFormed().replace(/[{}]/g, '$&$&').replaceAll('](', ']\\(');
}

/** A text that ends as a sentence does: GitHub shows the first one where there is little space. */
export function sentence(text: string): string {
  return /[.!?。！？]$/.test(text) ? text : `${text}.`;
}

/** The title as a sentence, then the description. */
export function toMessage({ id, title, description }: Finding): string {
  const first = sentence(title.trim() === '' ? id : title.trim());
  const rest = description === '' || description === title ? '' : `\n\n${description}`;
  return escaped(`${first}${rest}`);
}

/** A path as a relative reference that stays below its base, percent-encoded part by part. */
export function toRelativeUri(path: string): string {
  const parts = path.split(/[\\/]+/).filter((part) => part !== '' && part !== '.' && part !== '..');
  return parts.map((part) => encodeURIComponent(part.toWellFormed())).join('/');
}

/** The members that have a value: the types of SARIF know no undefined ones. */
export function known<T extends object>(members: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
