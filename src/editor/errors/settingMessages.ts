import * as vscode from 'vscode';
import { type Message, openSetting, showLog } from './errorActions.ts';

const t = vscode.l10n.t;

/**
 * `subject` is a setting, `token`, `settings.json`, or a field of a request. `values` lists the
 * allowed values, or is `noScheme`, a token's fault, or VS Code's error about its settings file.
 */
export function describeBadSetting(subject: string, values: string | undefined): Message {
  const key = `whitebox.${subject}`;
  const inSettings = (message: string): Message => [message, openSetting(key)];
  switch (subject) {
    case 'baseUrl':
      return inSettings(
        values === 'noScheme'
          ? t(
              'The URL must begin with https://. Enter a URL such as https://assessment.example.com/v1. For a service on this machine, http://localhost:9000 also works.',
            )
          : t('Enter a URL such as https://assessment.example.com/v1.'),
      );
    case 'settings.json':
      return [
        t(
          'The token was accepted and saved. VS Code can’t write the base URL and the organization ID to its settings file. Correct the file and sign in again, or add both values to it: {0}',
          values ?? '',
        ),
        { title: t('Open Settings File'), command: 'workbench.action.openSettingsJson' },
      ];
    case 'token':
      return [
        t(
          'A token is one line of letters, digits, and symbols, without spaces. Enter it without quotation marks around it.',
        ),
      ];
    case 'notification.webhookEndpointIds':
      return inSettings(t('The {0} setting must be a list of at most 100 IDs, none of them empty.', key));
    case 'runs.retainLocalDays':
    case 'archive.maxSizeMB':
      return inSettings(t('The {0} setting must be a number of at least 1.', key));
    case 'archive.includeNestedRepositories':
    case 'runs.deleteSourceAfterRun':
      return inSettings(t('The {0} setting must be true or false, without quotes.', key));
    case 'tokenCommand':
      return inSettings(
        t('The {0} setting must be a list of the program and its arguments, each in quotes.', key),
      );
    case 'archive.exclude':
      return inSettings(t('The {0} setting must be a list of patterns.', key));
    default:
      return values === undefined
        ? [t('The service doesn’t accept this value: {0}', subject), showLog()]
        : inSettings(t('The value of the {0} setting isn’t valid. Valid values: {1}.', key, values));
  }
}

/** Without an `error`, the storage didn't respond in time. */
export function describeSecretStorage(action: string, error: string | undefined): string {
  const unlock = t('Unlock your system’s keyring, or set one up if there is none.');
  return `${describeStorageFault(action, error)} ${unlock}`;
}

function describeStorageFault(action: string, error: string | undefined): string {
  switch (action) {
    case 'save':
      return error === undefined
        ? t('VS Code’s secret storage isn’t responding, so the token or password might not be saved.')
        : t('VS Code’s secret storage can’t save the token or password ({0}).', error);
    case 'delete':
      return error === undefined
        ? t('VS Code’s secret storage isn’t responding, so the token or password might not be deleted.')
        : t('VS Code’s secret storage can’t delete the token or password ({0}).', error);
    default: {
      const what =
        error === undefined
          ? t('Your account isn’t available yet, because VS Code’s secret storage isn’t responding.')
          : t(
              'Your account isn’t available yet, because VS Code’s secret storage can’t be read ({0}).',
              error,
            );
      return `${what} ${t('You don’t need to sign in again.')}`;
    }
  }
}

export function describeTokenCommand(program: string, detail: string | undefined): Message {
  if (detail === 'notAList') return describeBadSetting('tokenCommand', undefined);
  const why = (): string => {
    switch (detail) {
      case 'sameToken':
        return t(
          'The token command printed the same token that the service refused. Run the command in a terminal, and sign in again to the tool that issues the token.',
        );
      case 'noAnswer':
        return t(
          'The token command {0} didn’t finish within 30 seconds. Run it in a terminal. It may be waiting for input.',
          program,
        );
      default: {
        const printed = printedInstead()[detail ?? ''];
        if (printed !== undefined)
          return t(
            'The token command {0} printed {1} instead of a token. The command must print one line with the token, and nothing else.',
            program,
            printed,
          );
        return t(
          'The token command {0} failed. To see why, run it in a terminal.',
          detail === undefined ? program : `${program} (${detail})`,
        );
      }
    }
  };
  return [why(), openSetting('whitebox.tokenCommand'), showLog()];
}

/** The output isn't shown, because it may contain a token. */
function printedInstead(): Readonly<Record<string, string>> {
  return {
    nothing: t('nothing'),
    json: t('JSON'),
    quotes: t('text in quotation marks'),
    null: t('an empty value (such as “null”)'),
    words: t('more than one word'),
    characters: t('characters that can’t be in a token'),
  };
}
