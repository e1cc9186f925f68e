import * as vscode from 'vscode';
import { clip } from '../../core/visibleText.ts';
import {
  changedLines,
  maxPartLength,
  maxPartLines,
  type PartChange,
  type SentPart,
} from '../../core/workflows/requestChanges.ts';
import { capitalized, firstLines } from '../formats.ts';

const t = vscode.l10n.t;

/** Clips long parts. `isWhole` is false if there are any. */
export function describeChanges(changes: readonly PartChange[]): {
  readonly text: string;
  readonly isWhole: boolean;
} {
  const parts = changes.map((change) => ({ part: change.part, ...changedLines(change) }));
  const shown = parts.map(({ part, lines, isLong }) => {
    const maxLength = maxPartLength / Math.min(lines.length, maxPartLines);
    const texts = lines.map(({ sign, text }) => `  ${sign} ${isLong ? clipped(text, maxLength) : text}`);
    return `${partLabel(part)}\n${firstLines(texts)}`;
  });
  return { text: shown.join('\n'), isWhole: parts.every(({ isLong }) => !isLong) };
}

function clipped(text: string, maxLength: number): string {
  return text.length > maxLength ? `${clip(text, maxLength)}…` : text;
}

/** Even 60 full-width characters can be read without scrolling sideways. */
const documentLines = /.{1,60}/gu;

export function documentOfChanges(changes: readonly PartChange[]): string {
  const parts = changes.map((change) => {
    const lines = changedLines(change).lines.map(
      ({ sign, text }) => `  ${sign} ${(text.match(documentLines) ?? []).join('\n    ')}`,
    );
    return [partLabel(change.part), ...lines].join('\n');
  });
  return `${t('Added (+) and removed (−):')}\n\n${parts.join('\n\n')}\n`;
}

function partLabel(part: SentPart): string {
  return {
    targets: capitalized(t('target URLs')),
    exclusions: capitalized(t('out-of-scope URLs')),
    loginInstructions: t('Instructions for logging in'),
    crawlInstructions: t('Instructions for crawling'),
    preferences: t('Preferences'),
    logins: t('Logins'),
    language: t('Language'),
    webhooks: t('Webhook endpoints'),
  }[part];
}
