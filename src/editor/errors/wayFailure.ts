import * as vscode from 'vscode';
import { saysExhausted } from '../../core/api/failure.ts';
import type { AssessmentError, ErrorKind } from '../../core/errors.ts';
import { openSetting, type Remedy, showLog } from './remedies.ts';

/** What can go wrong on the way to an address. */
type WayKind = Extract<ErrorKind, 'unsent' | 'connectionLost' | 'timeout' | 'tls' | 'proxy' | 'insecureUrl'>;

/** A failure on the way to `origin` as a sentence that says what to do next, and what a button can do. */
export function describeWay(
  failure: { readonly kind: WayKind } & AssessmentError['data'],
  origin: string,
): { message: string; remedies: Remedy[] } {
  const t = vscode.l10n.t;
  const plain = (message: string, ...remedies: Remedy[]) => ({ message, remedies });
  switch (failure.kind) {
    case 'unsent':
      if (saysExhausted(failure.detail))
        return plain(
          t(
            'This machine has no room for another connection to {0} ({1}). Close what you do not need, then try again.',
            origin,
            failure.detail ?? '',
          ),
          showLog(),
        );
      return plain(
        t(
          '{0} cannot be reached ({1}). Check the network, the base URL and the proxy settings.',
          origin,
          failure.detail ?? '',
        ),
        openSetting('whitebox.baseUrl'),
        showLog(),
      );
    case 'connectionLost':
      return plain(t('The connection to {0} was lost. Try again.', origin), showLog());
    case 'timeout':
      return plain(t('{0} did not answer in time. Try again.', origin), showLog());
    case 'tls':
      return plain(
        t(
          'No secure connection to {0} could be made ({1}). If your company uses its own certificates, install its certificate authority on this machine.',
          origin,
          failure.detail ?? '',
        ),
        showLog(),
      );
    case 'proxy':
      return plain(
        t(
          'The proxy refused the connection to {0}. Check the setting http.proxy and its credentials.',
          origin,
        ),
        openSetting('http.proxy'),
      );
    case 'insecureUrl':
      if (failure.subject === 'files')
        return plain(
          t(
            'The service names an address for files that is not used, because it is not https, contains a user name, or belongs to this machine or its local link. Tell whoever runs the service.',
          ),
          showLog(),
        );
      return plain(
        t(
          'This address is not used because it is not https, or contains a user name: {0}',
          failure.detail ?? '',
        ),
        openSetting('whitebox.baseUrl'),
      );
  }
}
