import * as vscode from 'vscode';
import { isOffline, needsDecision } from '../../core/run/state/deadlines.ts';
import { isLive, type Run, waitsForToken } from '../../core/run/state/run.ts';

/** What is not well with a run that has not ended, as a few words: what is seen as an icon, for those who hear it. */
export function attentionLabel(run: Run, now: number): string | undefined {
  const t = vscode.l10n.t;
  const trouble = isLive(run) ? run.trouble : undefined;
  if (trouble !== undefined && waitsForToken(trouble)) return t('sign-in needed');
  if (trouble?.kind === 'tokenCommand') return t('token command failed');
  if (needsDecision(run, now)) return t('needs a decision');
  if (isOffline(run)) return t('offline');
  return trouble === undefined ? undefined : t('last check failed');
}
