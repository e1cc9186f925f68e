import * as vscode from 'vscode';
import type { Accounts } from './accounts.ts';
import { firstLines, formatAccount } from '../formats.ts';
import { hasTokenCommand } from '../settings.ts';
import { askInDialog, showInformation } from '../showMessage.ts';

/** Forgets the token of the service and organization in the settings; where tokens of others are kept, a person says which go. */
export async function signOut(accounts: Accounts): Promise<void> {
  const t = vscode.l10n.t;
  const { isCurrent, others } = await accounts.kept();
  const every = t('Every Account');
  let choice: string | undefined;
  if (others.length > 0) {
    const detail = `${t('Tokens of other accounts are kept on this machine:')}\n${firstLines(others.map(formatAccount))}`;
    const answers = isCurrent ? [t('This Account'), every] : [every];
    choice = await askInDialog({ question: t('Sign out of which account?'), detail }, ...answers);
    if (choice === undefined) return;
  }
  if (choice === every) await accounts.forgetAll();
  else await accounts.forget();
  void showInformation(
    hasTokenCommand()
      ? t('The token command in the settings goes on signing in. Remove it there to stay signed out.')
      : choice === every
        ? t('Signed out. Every token was removed from this machine; runs that were started go on.')
        : isCurrent
          ? t('Signed out. The token was removed from this machine; runs that were started go on.')
          : t('You were not signed in.'),
  );
}
