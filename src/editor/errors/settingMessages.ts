import * as vscode from 'vscode';
import { type ErrorMessage, openSetting, openSettingsFile, showLog, toMessage } from './remedies.ts';

/** What is wrong with a setting, or with an answer given at sign-in; `values` are those that are allowed, or VS Code's own error about its settings file. */
export function describeBadSetting(subject: string, values: string | undefined): ErrorMessage {
  const t = vscode.l10n.t;
  const key = `whitebox.${subject}`;
  const inSettings = (message: string): ErrorMessage => toMessage(message, openSetting(key));
  switch (subject) {
    case 'baseUrl':
      return inSettings(t('Enter an address such as https://assessment.example.com/v1.'));
    case 'settings.json':
      return toMessage(
        t(
          'The token was accepted and kept, but VS Code cannot write the service and the organization into its settings file. Correct that file, then sign in again, or enter both there: {0}',
          values ?? '',
        ),
        openSettingsFile(),
      );
    case 'token':
      return toMessage(t('A token is one line of letters, digits and signs, without spaces.'));
    case 'notification.webhookEndpointIds':
      return inSettings(t('The webhook endpoints must be a list of at most 100 IDs, none of them empty.'));
    case 'runs.retainLocalDays':
      return inSettings(t('The setting {0} must be a number of at least 1.', key));
    case 'archive.maxSizeMB':
      return inSettings(t('The setting {0} must be a number above 0.', key));
    case 'archive.includeNestedRepositories':
    case 'runs.deleteSourceAfterRun':
      return inSettings(t('The setting {0} must be true or false, without quotes.', key));
    case 'tokenCommand':
      return inSettings(
        t('The setting {0} must be a list: the program and then its arguments, each in quotes.', key),
      );
    case 'archive.exclude':
      return inSettings(t('The setting {0} must be a list of patterns.', key));
    default:
      return values === undefined
        ? toMessage(t('A value is not one that the service accepts: {0}', subject), showLog())
        : inSettings(t('The setting {0} has a value that it cannot have. It can be: {1}.', key, values));
  }
}

/** Why the token command gave no token; `detail` is core's word for it, or how the program ended. */
export function describeTokenCommand(program: string, detail: string | undefined): ErrorMessage {
  if (detail === 'notAList') return describeBadSetting('tokenCommand', undefined);
  const t = vscode.l10n.t;
  const why = (): string => {
    switch (detail) {
      case 'sameToken':
        return t(
          'The token command printed the token again that the service has refused. Run it in a terminal, and sign in again where it takes its token from.',
        );
      case 'notOneLine':
        return t(
          'The token command {0} printed something that is no token. It must print one line without spaces, and nothing else.',
          program,
        );
      case 'noAnswer':
        return t(
          'The token command {0} did not end within 30 seconds. Run it in a terminal: it may wait for an answer.',
          program,
        );
      case undefined:
        return t('The token command {0} failed. Run it in a terminal to see why.', program);
      default:
        return t('The token command {0} failed ({1}). Run it in a terminal to see why.', program, detail);
    }
  };
  return toMessage(why(), openSetting('whitebox.tokenCommand'), showLog());
}
