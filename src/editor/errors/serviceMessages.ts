import * as vscode from 'vscode';
import { isExhausted } from '../../core/api/failure.ts';
import { compressionOf } from '../../core/api/replyBody.ts';
import type { AssessmentError, ServiceErrorKind } from '../../core/errors.ts';
import type { Run } from '../../core/run/state/run.ts';
import { formatAccount } from '../formats.ts';
import { type Messages, openSetting, type RetryAdvice, showLog, signInAgain } from './errorActions.ts';

const t = vscode.l10n.t;

export function saidBy({ detail = '', isPage }: AssessmentError['data']): string {
  const page = isPage === true ? ` ${t('The response is a web page, which may come from a proxy.')}` : '';
  return page + quoted(detail, isPage);
}

function quoted(detail: string, isPage: boolean | undefined): string {
  if (detail === '') return '';
  const compression = compressionOf(detail);
  if (compression !== undefined)
    return ` ${t('The response is compressed ({0}), although VS Code didn’t request this.', compression)}`;
  return ` ${isPage === true ? t('Text of the page: {0}', detail) : t('Message from the service: {0}', detail)}`;
}

export function serviceMessages(
  failure: AssessmentError['data'],
  run: Run | undefined,
  { again, later }: RetryAdvice,
): Messages<ServiceErrorKind> {
  const origin = failure.origin ?? t('the service');
  const said = saidBy(failure);
  const detail = failure.detail ?? '';
  const onPage = quoted(detail, true);
  return {
    unauthorized: () => [
      t(
        'The access token for {0} is invalid or has expired. Sign in again. Runs that have already started aren’t affected.',
        run === undefined ? origin : formatAccount(run),
      ),
      signInAgain(run),
    ],
    forbidden: () =>
      failure.subject === 'upload'
        ? [
            t(
              'The upload exceeded the service’s time limit 3 times. Exclude more files, or retry the upload on a faster connection.',
            ) + said,
            showLog(),
          ]
        : [
            t(
              'You don’t have permission to do this in this organization. Check the organization ID and your role.',
            ) + said,
            signInAgain(run),
          ],
    notFound: () =>
      failure.subject === 'artifact'
        ? [
            t(
              'The service doesn’t have this result of the run, or no longer keeps it. Download the result again later, or contact your service provider.',
            ) + said,
            showLog(),
          ]
        : failure.subject === 'organization'
          ? [
              t(
                '{0} doesn’t recognize this URL or this organization. Check the path of the base URL and the organization ID.',
                origin,
              ) + said,
              signInAgain(run),
            ]
          : [
              t(
                'The service didn’t find this organization or run, or the retention period of the run’s results has ended. Check the organization ID.',
              ) + said,
              signInAgain(run),
            ],
    rejected: () => [
      t('The service refused the request. Send the details in the log to your service provider.') + said,
      showLog(),
    ],
    conflict: () => [
      t('The service can’t do this in the run’s current state. Check the run’s status.') + again + said,
      showLog(),
    ],
    capacity: () => [
      t(
        'The organization’s storage on the service is full, or the archive is too large for it. Delete uploaded source that is no longer needed, or exclude more files.',
      ) + said,
      { title: t('Delete Uploaded Source…'), command: 'whitebox.deleteUploadedSource' },
    ],
    rateLimited: () => [t('The service received too many requests.') + later + said],
    serverError: () => [
      (failure.isPage === true
        ? t('The service, or a proxy before it, reported an error ({0}).', failure.status ?? 500)
        : t('The service reported an error ({0}).', failure.status ?? 500)) +
        later +
        said,
      showLog(),
    ],
    badResponse: () => [
      t(
        '{0} doesn’t respond like the assessment API. Check the base URL, and check whether a proxy responds instead.',
        origin,
      ) + said,
      openSetting('whitebox.baseUrl'),
    ],
    redirected: () =>
      failure.subject === 'files'
        ? [
            t(
              '{0}, the service’s file storage, redirects to another URL ({1}). VS Code doesn’t follow redirects, so files go only where the service specified.',
              origin,
              failure.status ?? '',
            ) +
              later +
              ` ${t('If this keeps happening, contact your service provider.')}`,
            showLog(),
          ]
        : [
            t(
              '{0} redirects to another URL. To protect your token, VS Code doesn’t follow redirects. Enter the final URL as the base URL.',
              origin,
            ),
            openSetting('whitebox.baseUrl'),
          ],
    addressRefused: () => [
      t('{0}, the service’s file storage, refused the transfer ({1}).', origin, failure.status ?? '') +
        later +
        ` ${t('If your company’s proxy or filter responded instead, ask your administrator to allow this address.')}` +
        said,
      showLog(),
    ],
    unsent: () =>
      isExhausted(failure.detail)
        ? [
            t(
              'This machine can’t open another connection to {0} ({1}). Close apps that you don’t need.',
              origin,
              detail,
            ) + again,
            showLog(),
          ]
        : [
            t(
              '{0} can’t be reached. Check the network, the base URL, and the proxy settings.',
              detail === '' ? origin : `${origin} (${detail})`,
            ),
            openSetting('whitebox.baseUrl'),
            showLog(),
          ],
    connectionLost: () => [t('The connection to {0} was lost.', origin) + again, showLog()],
    timeout: () => [t('{0} didn’t respond in time.', origin) + again, showLog()],
    tls: () => [
      t(
        'A secure connection to {0} couldn’t be established ({1}). If your company uses its own certificates, install its certificate authority on this machine.',
        origin,
        detail,
      ),
      showLog(),
    ],
    proxy: () => [
      t(
        'The proxy refused the connection to {0}. Check the http.proxy setting and its credentials.',
        failure.status === undefined ? origin : `${origin} (HTTP ${String(failure.status)})`,
      ),
      openSetting('http.proxy'),
    ],
    intercepted: () =>
      failure.subject === 'files'
        ? [
            t(
              'A web page came back instead of a response from {0}, the service’s file storage (HTTP {1}). A proxy or a network sign-in page probably responded instead. Nothing was confirmed or saved. If this keeps happening, ask your administrator to allow this address.',
              origin,
              failure.status ?? '',
            ) + onPage,
            showLog(),
          ]
        : [
            t(
              'A web page came back instead of a response from {0} (HTTP {1}). A proxy or a network sign-in page probably responded instead. Check the network, the proxy settings, and the base URL.',
              origin,
              failure.status ?? '',
            ) + onPage,
            openSetting('whitebox.baseUrl'),
            showLog(),
          ],
    insecureUrl: () =>
      failure.subject === 'files'
        ? [
            t(
              'The service returned a URL for files that isn’t safe to use. The URL isn’t https, contains a user name, or points to this machine, a link-local address, or cloud metadata. Contact your service provider.',
            ),
            showLog(),
          ]
        : [
            t('VS Code doesn’t use this URL, because it isn’t https or contains a user name: {0}', detail),
            openSetting('whitebox.baseUrl'),
          ],
  };
}
