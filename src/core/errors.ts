const serviceErrorKinds = [
  // the service
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
  // the way to it
  'unsent',
  'connectionLost',
  'timeout',
  'tls',
  'proxy',
  'intercepted', // a web page came instead of an answer: from a proxy, or from a network's sign-in
  'insecureUrl',
] as const;
export type ServiceErrorKind = (typeof serviceErrorKinds)[number];

const ownErrorKinds = [
  // what leaves the machine
  'noFolder',
  'notAFolder',
  'folderNotOpen',
  'nothingToSend',
  'archiveTooLarge',
  'diskFull',
  'sourceUnreadable',
  'ignoreFileUnreadable',
  'lengthChanged',
  // what came back
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
  // here
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
/** A closed list that callers switch on; `editor/errors` has the sentences for people. */
export type ErrorKind = (typeof errorKinds)[number];

/** Facts of an error, already redacted. */
export interface ErrorData {
  readonly status?: number | undefined;
  /** The message of the service, or the system's code; at most 500 characters. */
  readonly detail?: string | undefined;
  /** The operation, file or setting the error is about. */
  readonly subject?: string | undefined;
  readonly origin?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  /** The service's own name for the request, which its provider can look up. */
  readonly requestId?: string | undefined;
  /** A web page came with the reply: a proxy may have sent it. */
  readonly isPage?: boolean | undefined;
  /** Nothing left this machine, or only what was surely refused: even a start may be sent again. */
  readonly isUnsent?: boolean | undefined;
  /** A limit and the value that passed it, in the unit of the kind (bytes for sizes). */
  readonly limit?: number | undefined;
  readonly actual?: number | undefined;
}

/**
 * The only error that this extension throws on purpose; its `cause` is the error of the system or
 * the service.
 */
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

/** True for the error of a cancelled `AbortSignal`, which is never shown. */
export function isAbortError(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}

/** The system's error code (`ENOENT`, `ECONNRESET` …) of an error or its causes. */
export function systemCode(error: unknown): string | undefined {
  for (let current = error; current instanceof Error; current = current.cause) {
    if ('code' in current && typeof current.code === 'string') return current.code;
  }
  return undefined;
}

/** An error of the file system as `diskFull` or `storage`; undefined for any other error. */
export function fileError(error: unknown, subject?: string): AssessmentError | undefined {
  const code = systemCode(error) ?? '';
  // Codes with an underscore are Node's, and not about a disk. `UNKNOWN` is Windows' for a share or
  // drive that does not answer.
  if (error instanceof AssessmentError || !/^(?:E[A-Z0-9]+|UNKNOWN)$/.test(code)) return undefined;
  const kind = ['ENOSPC', 'EDQUOT'].includes(code) ? 'diskFull' : 'storage';
  return new AssessmentError(kind, { subject, detail: code }, { cause: error });
}

/** For what the disk did not say, and is not known. Throws any other error. */
export function asUnknown(error: unknown): undefined {
  if (systemCode(error) === undefined && !(error instanceof AssessmentError)) throw error;
}

export function workerCrash(cause: unknown): AssessmentError {
  const detail = systemCode(cause) ?? String(cause).slice(0, 500);
  return new AssessmentError('workerCrashed', { detail }, { cause });
}

/** Anything thrown as an AssessmentError: a `fileError`, or `unexpected`. */
export function knownError(error: unknown): AssessmentError {
  if (error instanceof AssessmentError) return error;
  return (
    fileError(error) ??
    new AssessmentError('unexpected', { detail: String(error).slice(0, 500) }, { cause: error })
  );
}
