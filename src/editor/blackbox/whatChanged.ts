import * as vscode from 'vscode';
import { clip } from '../../core/visibleText.ts';
import {
  changedLines,
  maxPartLength,
  maxPartLines,
  type PartChange,
  type SentPart,
} from '../../core/workflows/requestChanges.ts';
import { firstLines } from '../formats.ts';

/** What changed, for a dialog: the parts and their changed texts. A long part shows its start, and `isWhole` is false. */
export function describeChanges(changes: readonly PartChange[]): {
  readonly text: string;
  readonly isWhole: boolean;
} {
  const parts = changes.map((change) => ({ part: change.part, ...changedLines(change) }));
  const shown = parts.map(({ part, lines, isLong }) => {
    const most = maxPartLength / Math.min(lines.length, maxPartLines);
    const texts = lines.map(({ sign, text }) => `  ${sign} ${isLong ? clipped(text, most) : text}`);
    return `${partLabel(part)}\n${firstLines(texts)}`;
  });
  return { text: shown.join('\n'), isWhole: parts.every(({ isLong }) => !isLong) };
}

function clipped(text: string, max: number): string {
  return text.length > max ? `${clip(text, max)}…` : text;
}

/** Short enough to be read without scrolling sideways, also in full-width characters. */
const lineLength = 60;

/** All that changed, for a document. */
export function documentOfChanges(changes: readonly PartChange[]): string {
  const parts = changes.map((change) => {
    const lines = changedLines(change).lines.map(
      ({ sign, text }) => `  ${sign} ${(text.match(inChunks) ?? []).join('\n    ')}`,
    );
    return [partLabel(change.part), ...lines].join('\n');
  });
  return `${vscode.l10n.t('Added (+) and removed (−):')}\n\n${parts.join('\n\n')}\n`;
}

const inChunks = new RegExp(`.{1,${String(lineLength)}}`, 'gu');

function partLabel(part: SentPart): string {
  const t = vscode.l10n.t;
  return {
    targets: t('Target URLs'),
    exclusions: t('Out-of-scope URLs'),
    loginInstructions: t('Instructions for logging in'),
    crawlInstructions: t('Instructions for crawling'),
    preferences: t('Preferences'),
    logins: t('Logins'),
    language: t('Language'),
    webhooks: t('Webhook endpoints'),
  }[part];
}
