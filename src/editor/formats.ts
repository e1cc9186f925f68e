import * as vscode from 'vscode';
import { originOf } from '../core/api/address.ts';
import type { Cut } from '../core/findings/parse/parseFindings.ts';
import { zeroFindings } from '../core/findings/view/zeroFindings.ts';
import { type Coverage, excludedIn } from '../core/upload/choose/coverage.ts';
import type { Run } from '../core/run/state/run.ts';

const t = vscode.l10n.t;

export function formatAccount(account: { baseUrl: string; organizationId: string }): string {
  return t('{0}, organization {1}', originOf(account.baseUrl), account.organizationId);
}

export function countFindings(count: number): string {
  return count === 1 ? t('1 finding') : t('{0} findings', formatNumber(count));
}

export function countShown(shown: number, cut: Cut | undefined): string {
  return cut === undefined
    ? countFindings(shown)
    : t('{0} of {1} findings', formatNumber(shown), formatNumber(cut.total));
}

export function describeZero(run: Run): string {
  return zeroFindings(run, { t, formatNumber });
}

export function countFiles(count: number): string {
  return count === 1 ? t('1 file') : t('{0} files', formatNumber(count));
}

export function describeCoverage(coverage: Coverage): string {
  const { choice = 0, secret = 0, ignoredButTracked: tracked = 0 } = coverage.excluded;
  const all = excludedIn(coverage);
  const files = countFiles(coverage.uploaded);
  const others = all - choice - secret - tracked;
  let text = all + coverage.notPackaged === 0 ? t('{0}, nothing excluded', files) : files;
  if (others > 0)
    text = t('{0}; excluded by ignore files, settings, or type: {1}', text, formatNumber(others));
  if (tracked > 0)
    text = t('{0}; ignored although tracked by Git, and excluded: {1}', text, formatNumber(tracked));
  if (coverage.trackedUnknown === true) text = t('{0}; ignored files that Git tracks: unknown', text);
  if (choice > 0) text = t('{0}; excluded by your choice: {1}', text, formatNumber(choice));
  if (secret > 0) text = t('{0}; excluded as suspected secrets: {1}', text, formatNumber(secret));
  if (coverage.notPackaged > 0)
    text = t('{0}; couldn’t be packaged: {1}', text, formatNumber(coverage.notPackaged));
  if (coverage.lfsPointers !== undefined)
    text = t('{0}; Git LFS pointers without their content: {1}', text, formatNumber(coverage.lfsPointers));
  return text;
}

export function formatDuration(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return t('{0}m', minutes);
  if (minutes < 24 * 60) return t('{0}h {1}m', Math.floor(minutes / 60), minutes % 60);
  return t('{0}d {1}h', Math.floor(minutes / (24 * 60)), Math.floor((minutes % (24 * 60)) / 60));
}

/** Returns "512 bytes" or "1.2 MB". */
export function formatBytes(bytes: number): string {
  const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte'] as const;
  const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), units.length - 1);
  const value = bytes / 1000 ** power;
  return new Intl.NumberFormat(vscode.env.language, {
    style: 'unit',
    unit: units[power] ?? 'byte',
    unitDisplay: power === 0 ? 'long' : 'short',
    maximumFractionDigits: power === 0 || value >= 100 ? 0 : 1,
  }).format(value);
}

export function formatNumber(value: number): string {
  return new Intl.NumberFormat(vscode.env.language).format(value);
}

export function formatTime(at: number): string {
  return new Intl.DateTimeFormat(vscode.env.language, { dateStyle: 'medium', timeStyle: 'short' }).format(at);
}

export function formatDay(at: number): string {
  return new Intl.DateTimeFormat(vscode.env.language, { month: 'short', day: 'numeric' }).format(at);
}

/** Returns "Nov 27, 10:15 AM". */
export function formatMinute(at: number): string {
  const parts = { month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit' } as const;
  return new Intl.DateTimeFormat(vscode.env.language, parts).format(at);
}

/** `day` is `YYYY-MM-DD`. */
export function formatDate(day: string): string {
  return new Intl.DateTimeFormat(vscode.env.language, { dateStyle: 'long' }).format(
    Date.parse(`${day}T00:00`),
  );
}

/** Returns "A, B, C", or "A、B、C" in Japanese. */
export function formatList(names: Iterable<string>): string {
  return new Intl.ListFormat(vscode.env.language, { style: 'narrow' }).format(names);
}

export function moreLabel(count: number): string {
  return t('… and {0} more', formatNumber(count));
}

export function firstLines(lines: readonly string[], total = lines.length): string {
  const shown = lines.slice(0, 10);
  const more = total - shown.length;
  return [...shown, ...(more > 0 ? [moreLabel(more)] : [])].join('\n');
}

export function compact<T extends string | object>(...items: readonly (T | '' | false | undefined)[]): T[] {
  return items.filter((item): item is T => item !== undefined && item !== false && item !== '');
}

export function capitalized(label: string): string {
  return `${label.charAt(0).toUpperCase()}${label.slice(1)}`;
}
