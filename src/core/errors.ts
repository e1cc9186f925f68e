/** Why the service refused a call, or could not be reached. */
export type ServiceErrorKind =
  // the service
  | 'unauthorized'
  | 'forbidden'
  | 'notFound'
  | 'rejected'
  | 'conflict'
  | 'capacity'
  | 'rateLimited'
  | 'serverError'
  | 'badResponse'
  | 'redirected'
  | 'addressRefused'
  // the way to it
  | 'unsent'
  | 'connectionLost'
  | 'timeout'
  | 'tls'
  | 'proxy'
  | 'insecureUrl';

export type OwnErrorKind =
  // what leaves the machine
  | 'noFolder'
  | 'notAFolder'
  | 'folderNotOpen'
  | 'nothingToSend'
  | 'archiveTooLarge'
  | 'diskFull'
  | 'sourceUnreadable'
  | 'lengthChanged'
  // what came back
  | 'tooLarge'
  | 'malformedFindings'
  | 'reportTooLarge'
  | 'findingsTooLarge'
  | 'badImport'
  | 'badFeatures'
  | 'badPairs'
  | 'noResult'
  | 'unanswered'
  | 'notKept'
  | 'triageDamaged'
  | 'outsideFolder'
  // here
  | 'interrupted'
  | 'startedElsewhere'
  | 'busyElsewhere'
  | 'runGone'
  | 'changedMeanwhile'
  | 'runIdTaken'
  | 'notSignedIn'
  | 'badSetting'
  | 'badTargetFile'
  | 'noPassword'
  | 'restricted'
  | 'tokenCommand'
  | 'storage'
  | 'workerCrashed'
  | 'unexpected';

/** Why something failed, as a closed list that callers switch on; sentences for people are made in `editor/errors`. */
export type ErrorKind = ServiceErrorKind | OwnErrorKind;

/** Facts that go with an error; values are redacted before they get here. */
export interface ErrorData {
  readonly status?: number | undefined;
  /** What the service (or the system) said, redacted and at most 500 characters. */
  readonly detail?: string | undefined;
  /** The operation, file or setting the error is about. */
  readonly subject?: string | undefined;
  readonly origin?: string | undefined;
  /** Milliseconds the service asked us to wait. */
  readonly retryAfterMs?: number | undefined;
  /** A limit that was passed, and what was met, in the unit of the kind (bytes for sizes). */
  readonly limit?: number | undefined;
  readonly actual?: number | undefined;
}

/** The one error this extension throws on purpose; the system's or the service's own error is its `cause`. */
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

/** True for the error of a cancelled `AbortSignal`, which is never shown to anyone. */
export function isAbortError(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}

/** The system's error code (`ENOENT`, `ECONNRESET` …) found on an error or on its causes. */
export function systemCode(error: unknown): string | undefined {
  for (let current = error; current instanceof Error; current = current.cause) {
    if ('code' in current && typeof current.code === 'string') return current.code;
  }
  return undefined;
}

/** What the system did to a file (`subject`, where it is known), by its code; undefined for any other error. */
export function fileError(error: unknown, subject?: string): AssessmentError | undefined {
  const code = systemCode(error) ?? '';
  // Node's own codes have an underscore, and say nothing of a disk.
  if (error instanceof AssessmentError || !/^E[A-Z0-9]+$/.test(code)) return undefined;
  const kind = ['ENOSPC', 'EDQUOT'].includes(code) ? 'diskFull' : 'storage';
  return new AssessmentError(kind, { subject, detail: code }, { cause: error });
}

/** What ended a worker thread before its work was done. */
export function workerCrash(cause: unknown): AssessmentError {
  const detail = systemCode(cause) ?? String(cause).slice(0, 500);
  return new AssessmentError('workerCrashed', { detail }, { cause });
}

/** Anything that was thrown, as an error of ours: what the system did to a file by its code, what nobody foresaw as `unexpected`. */
export function knownError(error: unknown): AssessmentError {
  if (error instanceof AssessmentError) return error;
  return (
    fileError(error) ??
    new AssessmentError('unexpected', { detail: String(error).slice(0, 500) }, { cause: error })
  );
}
