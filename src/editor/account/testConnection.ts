import * as vscode from 'vscode';
import { CONNECTION_PARTS, type ConnectionPart, failedPart } from '../../core/api/connection.ts';
import { AssessmentError } from '../../core/errors.ts';
import type { Logger } from '../../core/ports.ts';
import { describeError } from '../errors/messages.ts';
import { offerRemedies } from '../errors/remedies.ts';
import { withProgress } from '../progress.ts';
import { readDestination } from '../settings.ts';
import { showError, showInformation } from '../showMessage.ts';
import type { Accounts } from './accounts.ts';

/** Calls the service as an assessment would, and says which part of the connection fails, and which work. */
export async function testConnection({ accounts, log }: { accounts: Accounts; log: Logger }): Promise<void> {
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
    // Without a sign-in nothing was called.
    const isCalled = before.length > 0 && (error as AssessmentError).kind !== 'notSignedIn';
    const sentences = [text, ...(isCalled ? [t('These work: {0}.', before.join(', '))] : [])];
    offerRemedies(showError(sentences.join(' '), ...remedies), log);
    return;
  }
  void showInformation(t('The connection works: address, token and organization are right.'));
}

function connectionLabel(part: ConnectionPart): string {
  const t = vscode.l10n.t;
  switch (part) {
    case 'address':
      return t('address');
    case 'network':
      return t('network');
    case 'proxy':
      return t('proxy');
    case 'certificate':
      return t('certificate');
    case 'service':
      return t('service');
    case 'token':
      return t('token');
    case 'organization':
      return t('organization');
  }
}
