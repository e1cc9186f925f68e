import * as vscode from 'vscode';
import { saysExhausted } from '../../core/api/failure.ts';
import type { AssessmentError, ServiceErrorKind } from '../../core/errors.ts';
import type { Run } from '../../core/run/state/run.ts';
import { formatAccount } from '../formats.ts';
import { type ErrorMessage, openSetting, showLog, signInAgain, toMessage } from './remedies.ts';

/** Why the service refused a call, or could not be reached. */
export function describeServiceFailure(
  failure: { readonly kind: ServiceErrorKind } & AssessmentError['data'],
  run: Run | undefined,
): ErrorMessage {
  const t = vscode.l10n.t;
  const origin = failure.origin ?? t('the service');
  const said = failure.detail === undefined ? '' : ` ${t('The service said: {0}', failure.detail)}`;
  const detail = failure.detail ?? '';
  switch (failure.kind) {
    case 'unauthorized':
      return toMessage(
        t(
          'The access token for {0} is invalid or has expired. Sign in again; runs already started are not affected.',
          run === undefined ? origin : formatAccount(run),
        ),
        signInAgain(run),
      );
    case 'forbidden':
      if (failure.subject === 'upload')
        return toMessage(
          t(
            'The upload took longer than the service allows, three times. Leave more files out, or retry the upload on a faster connection.',
          ) + said,
          showLog(),
        );
      return toMessage(
        t('You are not allowed to do this in this organization. Check the organization ID and your role.') +
          said,
        signInAgain(run),
      );
    case 'notFound':
      if (failure.subject === 'artifact')
        return toMessage(
          t(
            'The service does not have this result of the run, or keeps it no longer. Try to download it again later, or ask whoever runs the service.',
          ) + said,
          showLog(),
        );
      if (failure.subject === 'organization')
        return toMessage(
          t(
            '{0} does not know this address or this organization. Check the path of the base URL and the organization ID.',
            origin,
          ) + said,
          signInAgain(run),
        );
      return toMessage(
        t(
          'The service does not know this organization or run, or its results are past their retention. Check the organization ID.',
        ) + said,
        signInAgain(run),
      );
    case 'rejected':
      return toMessage(
        t(
          'The service refused the request. The log has the details; give them to whoever runs the service.',
        ) + said,
        showLog(),
      );
    case 'conflict':
      return toMessage(
        t('The service cannot do this in the present state. Check the run’s status, then try again.') + said,
        showLog(),
      );
    case 'capacity':
      return toMessage(
        t(
          'The organization’s storage on the service is full, or the archive is too large for it. Delete uploaded source that is no longer needed, or leave more files out.',
        ) + said,
        { title: t('Delete Uploaded Source…'), command: 'whitebox.deleteUploadedSource' },
      );
    case 'rateLimited':
      return toMessage(t('The service asks to wait before the next request. Try again later.') + said);
    case 'serverError':
      return toMessage(
        t('The service failed ({0}). Try again later.', failure.status ?? 500) + said,
        showLog(),
      );
    case 'badResponse':
      return toMessage(
        t(
          '{0} answered with something that is not the assessment API. Check the base URL, and whether a proxy answers in its place.',
          origin,
        ) + said,
        openSetting('whitebox.baseUrl'),
      );
    case 'redirected':
      if (failure.subject === 'files')
        return toMessage(
          t(
            '{0}, where the service keeps files, redirects to another address ({1}). Redirects are not followed, so that files go where the service said. Try again later; should it last, tell whoever runs the service.',
            origin,
            failure.status ?? '',
          ),
          showLog(),
        );
      return toMessage(
        t(
          '{0} redirects to another address. Redirects are not followed, so that your token stays where it belongs: enter the final address as base URL.',
          origin,
        ),
        openSetting('whitebox.baseUrl'),
      );
    case 'addressRefused':
      return toMessage(
        t(
          '{0}, where the service keeps files, refused the transfer ({1}). Try again later. Should a proxy or filter of your company have answered in its place, have it let this address through.',
          origin,
          failure.status ?? '',
        ) + said,
        showLog(),
      );
    case 'unsent':
      if (saysExhausted(failure.detail))
        return toMessage(
          t(
            'This machine has no room for another connection to {0} ({1}). Close what you do not need, then try again.',
            origin,
            detail,
          ),
          showLog(),
        );
      return toMessage(
        t(
          '{0} cannot be reached ({1}). Check the network, the base URL and the proxy settings.',
          origin,
          detail,
        ),
        openSetting('whitebox.baseUrl'),
        showLog(),
      );
    case 'connectionLost':
      return toMessage(t('The connection to {0} was lost. Try again.', origin), showLog());
    case 'timeout':
      return toMessage(t('{0} did not answer in time. Try again.', origin), showLog());
    case 'tls':
      return toMessage(
        t(
          'No secure connection to {0} could be made ({1}). If your company uses its own certificates, install its certificate authority on this machine.',
          origin,
          detail,
        ),
        showLog(),
      );
    case 'proxy':
      return toMessage(
        t(
          'The proxy refused the connection to {0}. Check the setting http.proxy and its credentials.',
          origin,
        ),
        openSetting('http.proxy'),
      );
    case 'insecureUrl':
      if (failure.subject === 'files')
        return toMessage(
          t(
            'The service names an address for files that is not used, because it is not https, contains a user name, or belongs to this machine or its local link. Tell whoever runs the service.',
          ),
          showLog(),
        );
      return toMessage(
        t('This address is not used because it is not https, or contains a user name: {0}', detail),
        openSetting('whitebox.baseUrl'),
      );
  }
}
