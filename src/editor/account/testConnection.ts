import * as vscode from 'vscode';
import { CONNECTION_PARTS, failedPart } from '../../core/api/connection.ts';
import { AssessmentError } from '../../core/errors.ts';
import type { Logger } from '../../core/ports.ts';
import { connectionLabel } from '../labels.ts';
import { describeError } from '../errors/messages.ts';
import { withProgress } from '../progress.ts';
import { offerRemedies } from '../errors/remedies.ts';
import { readDestination } from '../settings.ts';
import type { Accounts } from './accounts.ts';
import { showError, showInformation } from '../showMessage.ts';

/** What testing the connection works with. */
interface TestDeps {
  readonly accounts: Accounts;
  readonly log: Logger;
}

/** Calls the service as an assessment would and says which part of the way fails, and which work. */
export async function testConnection({ accounts, log }: TestDeps): Promise<void> {
  const t = vscode.l10n.t;
  try {
    const destination = readDestination();
    if (destination === undefined) throw new AssessmentError('notSignedIn');
    await withProgress(t('Testing the connection…'), (_report, signal) =>
      accounts.checkSignedIn(destination, signal),
    );
  } catch (error) {
    const part = error instanceof AssessmentError ? failedPart(error.kind) : undefined;
    if (part === undefined) throw error;
    const { message, remedies } = describeError(error);
    const text = t('Connection test, {0}: {1}', connectionLabel(part), message);
    const before = CONNECTION_PARTS.slice(0, CONNECTION_PARTS.indexOf(part)).map(connectionLabel);
    // Without a sign-in nothing was called, so nothing is known to work.
    const isCalled = before.length > 0 && (error as AssessmentError).kind !== 'notSignedIn';
    const sentences = [text, ...(isCalled ? [t('These work: {0}.', before.join(', '))] : [])];
    offerRemedies(showError(sentences.join(' '), ...remedies), log);
    return;
  }
  void showInformation(t('The connection works: address, token and organization are right.'));
}
