import * as vscode from 'vscode';
import { isExhausted } from '../../core/api/failure.ts';
import type { AssessmentError, ServiceErrorKind } from '../../core/errors.ts';
import type { Run } from '../../core/run/state/run.ts';
import { formatAccount } from '../formats.ts';
import { type Messages, openSetting, showLog, signInAgain } from './remedies.ts';

/** The service's own words, to follow a sentence; empty where there are none. */
export function saidBy({ detail }: AssessmentError['data']): string {
  return detail === undefined ? '' : ` ${vscode.l10n.t('The service said: {0}', detail)}`;
}

/** Why the service refused a call, or could not be reached, by kind. */
export function serviceMessages(
  failure: AssessmentError['data'],
  run: Run | undefined,
): Messages<ServiceErrorKind> {
  const t = vscode.l10n.t;
  const origin = failure.origin ?? t('the service');
  const said = saidBy(failure);
  const detail = failure.detail ?? '';
  return {
    unauthorized: () => [
      t(
        'The access token for {0} is invalid or has expired. Sign in again; runs already started are not affected.',
        run === undefined ? origin : formatAccount(run),
      ),
      signInAgain(run),
    ],
    forbidden: () =>
      failure.subject === 'upload'
        ? [
            t(
              'The upload took longer than the service allows, three times. Leave more files out, or retry the upload on a faster connection.',
            ) + said,
            showLog(),
          ]
        : [
            t(
              'You are not allowed to do this in this organization. Check the organization ID and your role.',
            ) + said,
            signInAgain(run),
          ],
    notFound: () =>
      failure.subject === 'artifact'
        ? [
            t(
              'The service does not have this result of the run, or keeps it no longer. Try to download it again later, or ask whoever runs the service.',
            ) + said,
            showLog(),
          ]
        : failure.subject === 'organization'
          ? [
              t(
                '{0} does not know this address or this organization. Check the path of the base URL and the organization ID.',
                origin,
              ) + said,
              signInAgain(run),
            ]
          : [
              t(
                'The service does not know this organization or run, or its results are past their retention. Check the organization ID.',
              ) + said,
              signInAgain(run),
            ],
    rejected: () => [
      t('The service refused the request. The log has the details; give them to whoever runs the service.') +
        said,
      showLog(),
    ],
    conflict: () => [
      t('The service cannot do this in the present state. Check the run’s status, then try again.') + said,
      showLog(),
    ],
    capacity: () => [
      t(
        'The organization’s storage on the service is full, or the archive is too large for it. Delete uploaded source that is no longer needed, or leave more files out.',
      ) + said,
      { title: t('Delete Uploaded Source…'), command: 'whitebox.deleteUploadedSource' },
    ],
    rateLimited: () => [t('The service asks to wait before the next request. Try again later.') + said],
    serverError: () => [
      t('The service failed ({0}). Try again later.', failure.status ?? 500) + said,
      showLog(),
    ],
    badResponse: () => [
      t(
        '{0} answered with something that is not the assessment API. Check the base URL, and whether a proxy answers in its place.',
        origin,
      ) + said,
      openSetting('whitebox.baseUrl'),
    ],
    redirected: () =>
      failure.subject === 'files'
        ? [
            t(
              '{0}, where the service keeps files, redirects to another address ({1}). Redirects are not followed, so that files go where the service said. Try again later; should it last, tell whoever runs the service.',
              origin,
              failure.status ?? '',
            ),
            showLog(),
          ]
        : [
            t(
              '{0} redirects to another address. Redirects are not followed, so that your token stays where it belongs: enter the final address as base URL.',
              origin,
            ),
            openSetting('whitebox.baseUrl'),
          ],
    addressRefused: () => [
      t(
        '{0}, where the service keeps files, refused the transfer ({1}). Try again later. Should a proxy or filter of your company have answered in its place, have it let this address through.',
        origin,
        failure.status ?? '',
      ) + said,
      showLog(),
    ],
    unsent: () =>
      isExhausted(failure.detail)
        ? [
            t(
              'This machine has no room for another connection to {0} ({1}). Close what you do not need, then try again.',
              origin,
              detail,
            ),
            showLog(),
          ]
        : [
            t(
              '{0} cannot be reached ({1}). Check the network, the base URL and the proxy settings.',
              origin,
              detail,
            ),
            openSetting('whitebox.baseUrl'),
            showLog(),
          ],
    connectionLost: () => [t('The connection to {0} was lost. Try again.', origin), showLog()],
    timeout: () => [t('{0} did not answer in time. Try again.', origin), showLog()],
    tls: () => [
      t(
        'No secure connection to {0} could be made ({1}). If your company uses its own certificates, install its certificate authority on this machine.',
        origin,
        detail,
      ),
      showLog(),
    ],
    proxy: () => [
      t('The proxy refused the connection to {0}. Check the setting http.proxy and its credentials.', origin),
      openSetting('http.proxy'),
    ],
    insecureUrl: () =>
      failure.subject === 'files'
        ? [
            t(
              'The service names an address for files that is not used, because it is not https, contains a user name, or belongs to this machine or its local link. Tell whoever runs the service.',
            ),
            showLog(),
          ]
        : [
            t('This address is not used because it is not https, or contains a user name: {0}', detail),
            openSetting('whitebox.baseUrl'),
          ],
  };
}
