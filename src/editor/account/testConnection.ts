import * as vscode from 'vscode';
import { AssessmentError, type ErrorKind } from '../../core/errors.ts';
import type { Logger } from '../../core/ports.ts';
import { inBackground } from '../../core/yieldingWork.ts';
import { describeError } from '../errors/errorMessages.ts';
import { withProgress } from '../progress.ts';
import { readDestination } from '../settings.ts';
import { showError, showInformation } from '../showMessage.ts';
import type { Accounts } from './accounts.ts';

const t = vscode.l10n.t;

type ConnectionPart = 'address' | 'network' | 'proxy' | 'certificate' | 'service' | 'token' | 'organization';

export const failedParts: Readonly<Partial<Record<ErrorKind, ConnectionPart>>> = {
  insecureUrl: 'address',
  badSetting: 'address',
  unsent: 'network',
  connectionLost: 'network',
  timeout: 'network',
  proxy: 'proxy',
  intercepted: 'proxy',
  tls: 'certificate',
  badResponse: 'service',
  redirected: 'service',
  notFound: 'service', // The service also responds with this to a wrong path in the base URL.
  serverError: 'service',
  rateLimited: 'service',
  rejected: 'service',
  conflict: 'service',
  capacity: 'service',
  tooLarge: 'service',
  unauthorized: 'token',
  notSignedIn: 'token',
  secretStorage: 'token',
  tokenCommand: 'token',
  forbidden: 'organization',
};

export async function testConnection({ accounts, log }: { accounts: Accounts; log: Logger }): Promise<void> {
  try {
    const destination = readDestination();
    if (destination === undefined) throw new AssessmentError('notSignedIn');
    await withProgress(t('Testing the connection…'), (_report, signal) =>
      accounts.check(destination, { signal }),
    );
  } catch (error) {
    const part = error instanceof AssessmentError ? failedParts[error.kind] : undefined;
    if (part === undefined) throw error;
    const { message, actions } = describeError(error);
    const text = t('Connection test failed ({0}): {1}', connectionLabel(part), message);
    inBackground(showError(text, ...actions), log);
    return;
  }
  void showInformation(t('The connection works. The base URL, the token, and the organization are correct.'));
}

function connectionLabel(part: ConnectionPart): string {
  return {
    address: t('base URL'),
    network: t('network'),
    proxy: t('proxy'),
    certificate: t('certificate'),
    service: t('service'),
    token: t('token'),
    organization: t('organization'),
  }[part];
}
