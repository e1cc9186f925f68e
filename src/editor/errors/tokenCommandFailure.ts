import * as vscode from 'vscode';

/** Why the token command gave no token, and what to do next; `detail` is one of the words that core has for it, or how the program ended. */
export function describeTokenCommand(program: string, detail: string | undefined): string {
  const t = vscode.l10n.t;
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
}
