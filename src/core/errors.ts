const serviceErrorKinds = [
  'unauthorized',
  'forbidden',
  'notFound',
  'rejected',
  'conflict',
  'capacity',
  'rateLimited',
  'serverError',
  'badResponse',
  'redirected',
  'addressRefused',
  'unsent',
  'connectionLost',
  'timeout',
  'tls',
  'proxy',
  'intercepted', // A proxy or a network's sign-in responded with a web page.
  'insecureUrl',
] as const;
export type ServiceErrorKind = (typeof serviceErrorKinds)[number];

const ownErrorKinds = [
  'noFolder',
  'notAFolder',
  'folderNotOpen',
  'nothingToSend',
  'archiveTooLarge',
  'diskFull',
  'sourceUnreadable',
  'ignoreFileUnreadable',
  'lengthChanged',
  'tooLarge',
  'malformedFindings',
  'reportTooLarge',
  'findingsTooLarge',
  'badImport',
  'badFeatures',
  'badPairs',
  'noResult',
  'unanswered',
  'notSaved',
  'triageDamaged',
  'outsideFolder',
  'interrupted',
  'startedElsewhere',
  'busyElsewhere',
  'runGone',
  'changedMeanwhile',
  'runIdTaken',
  'notSignedIn',
  'badSetting',
  'badTargetFile',
  'noPassword',
  'restricted',
  'tokenCommand',
  'noAnswer',
  'notInTime',
  'secretStorage',
  'storage',
  'workerCrashed',
  'unexpected',
] as const;
export type OwnErrorKind = (typeof ownErrorKinds)[number];

export const errorKinds = [...serviceErrorKinds, ...ownErrorKinds] as const;
/** A closed list that callers switch on. `editor/errors` has the sentences for users. */
export type ErrorKind = (typeof errorKinds)[number];

/** No value may contain a secret. */
export interface ErrorData {
  readonly status?: number | undefined;
  /** A message, a code, or another short text. */
  readonly detail?: string | undefined;
  /** The thing that the error is about, such as a file, a setting, or a run. */
  readonly subject?: string | undefined;
  readonly origin?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  /** The ID by which the service's provider can look up the request. */
  readonly requestId?: string | undefined;
  /** The reply was a web page, which a proxy may have sent. */
  readonly isPage?: boolean | undefined;
  /** The request didn't leave this machine, or was surely refused: a start may be sent again. */
  readonly isUnsent?: boolean | undefined;
  /**
   * A limit or an expected size, and the actual value. Sizes are in bytes, times in milliseconds;
   * other values count rules or files.
   */
  readonly limit?: number | undefined;
  readonly actual?: number | undefined;
}

export class AssessmentError extends Error {
  override readonly name = 'AssessmentError';
  readonly kind: ErrorKind;
  readonly data: ErrorData;

  constructor(kind: ErrorKind, data: ErrorData = {}, options?: ErrorOptions) {
    super(data.detail === undefined ? kind : `${kind}: ${data.detail}`, options);
    this.kind = kind;
    this.data = data;
  }
}

/** An `AbortError` is never shown. */
export function isAbortError(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}

/**
 * Returns the code of an error, or of its nearest cause with a code: the system's (`ENOENT`,
 * `ECONNRESET` …) or Node's (`ERR_…`).
 */
export function systemCode(error: unknown): string | undefined {
  for (let current = error; current instanceof Error; current = current.cause) {
    if ('code' in current && typeof current.code === 'string') return current.code;
  }
  return undefined;
}

/** Returns `diskFull` or `storage` for a system error. Undefined for any other error. */
export function fileError(error: unknown, subject?: string): AssessmentError | undefined {
  const code = systemCode(error) ?? '';
  // Codes with an underscore aren't about a disk. Windows reports `UNKNOWN` for a share or drive
  // that doesn't respond.
  if (error instanceof AssessmentError || !/^(?:E[A-Z0-9]+|UNKNOWN)$/.test(code)) return undefined;
  const kind = ['ENOSPC', 'EDQUOT'].includes(code) ? 'diskFull' : 'storage';
  return new AssessmentError(kind, { subject, detail: code }, { cause: error });
}

/** Returns undefined for an AssessmentError or an error with a code. Throws any other error. */
export function asUnknown(error: unknown): undefined {
  if (systemCode(error) === undefined && !(error instanceof AssessmentError)) throw error;
}

export function workerCrash(cause: unknown): AssessmentError {
  const detail = systemCode(cause) ?? String(cause).slice(0, 500);
  return new AssessmentError('workerCrashed', { detail }, { cause });
}

export function knownError(error: unknown): AssessmentError {
  if (error instanceof AssessmentError) return error;
  return (
    fileError(error) ??
    new AssessmentError('unexpected', { detail: String(error).slice(0, 500) }, { cause: error })
  );
}
