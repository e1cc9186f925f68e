import * as vscode from 'vscode';
import { openSetting, openSettingsFile, type Remedy, showLog } from './remedies.ts';

/** A setting, or an answer of the sign-in, that cannot be used, as a sentence; `values` are those that it can have, or what VS Code says about its file. */
export function describeBadSetting(
  subject: string,
  values: string | undefined,
): { message: string; remedies: Remedy[] } {
  switch (subject) {
    case 'baseUrl':
      return {
        message: vscode.l10n.t('Enter an address such as https://assessment.example.com/v1.'),
        remedies: [openSetting('whitebox.baseUrl')],
      };
    case 'settings.json':
      return {
        message: vscode.l10n.t(
          'The token was accepted and kept, but VS Code cannot write the service and the organization into its settings file. Correct that file, then sign in again, or enter both there: {0}',
          values ?? '',
        ),
        remedies: [openSettingsFile()],
      };
    case 'token':
      return {
        message: vscode.l10n.t('A token is one line of letters, digits and signs, without spaces.'),
        remedies: [],
      };
    case 'notification.webhookEndpointIds':
      return {
        message: vscode.l10n.t(
          'The webhook endpoints must be a list of at most 100 IDs, none of them empty.',
        ),
        remedies: [openSetting('whitebox.notification.webhookEndpointIds')],
      };
    case 'runs.retainLocalDays':
      return {
        message: vscode.l10n.t('The setting {0} must be a number of at least 1.', `whitebox.${subject}`),
        remedies: [openSetting(`whitebox.${subject}`)],
      };
    case 'archive.maxSizeMB':
      return {
        message: vscode.l10n.t('The setting {0} must be a number above 0.', `whitebox.${subject}`),
        remedies: [openSetting(`whitebox.${subject}`)],
      };
    case 'archive.includeNestedRepositories':
    case 'runs.deleteSourceAfterRun':
      return {
        message: vscode.l10n.t(
          'The setting {0} must be true or false, without quotes.',
          `whitebox.${subject}`,
        ),
        remedies: [openSetting(`whitebox.${subject}`)],
      };
    case 'tokenCommand':
      return {
        message: vscode.l10n.t(
          'The setting {0} must be a list: the program and then its arguments, each in quotes.',
          'whitebox.tokenCommand',
        ),
        remedies: [openSetting('whitebox.tokenCommand')],
      };
    case 'archive.exclude':
      return {
        message: vscode.l10n.t('The setting {0} must be a list of patterns.', 'whitebox.archive.exclude'),
        remedies: [openSetting('whitebox.archive.exclude')],
      };
    default:
      return values === undefined
        ? {
            message: vscode.l10n.t('A value is not one that the service accepts: {0}', subject),
            remedies: [showLog()],
          }
        : {
            message: vscode.l10n.t(
              'The setting {0} has a value that it cannot have. It can be: {1}.',
              `whitebox.${subject}`,
              values,
            ),
            remedies: [openSetting(`whitebox.${subject}`)],
          };
  }
}
