/**
 * The API reference is silent on these values ("not shown", section 7), so this service decides
 * them. A client may meet others elsewhere: nothing here is to be relied on.
 */

/** Each refusal has its status; its body is `{"error":{"code","message"}}`. */
export const REFUSALS = {
  /** The path has a query or dot segments, or is not percent-encoded UTF-8. */
  malformed_path: 400,
  unsupported_content_type: 400,
  malformed_json: 400,
  body_required: 400,
  unauthorized: 401,
  /** The token belongs to another organization. */
  forbidden: 403,
  /**
   * The ownership of the target URL's application is not verified (section 7.1). Here, only
   * applications on loopback are verified, and a test can name those that are.
   */
  ownership_not_verified: 403,
  not_found: 404,
  organization_not_found: 404,
  file_not_found: 404,
  workflow_run_not_found: 404,
  artifact_not_found: 404,
  method_not_allowed: 405,
  /**
   * A confirm comes before the PUT or a second time, a cancel comes after the confirm, or a delete
   * or dispatch comes before the confirm.
   */
  wrong_file_state: 409,
  run_already_exited: 409,
  /** Section 2.7 (rule 1) or 2.8 forbids the `resume`, or its run has no features artifact. */
  run_not_eligible: 409,
  storage_capacity_exceeded: 413,
  body_too_large: 413,
  /** The body is outside the bounds of sections 2 and 4. */
  invalid_request: 422,
  unknown_webhook_endpoint: 422,
  /** The target URLs are not those of the referenced run (section 2.7, rule 2). */
  other_target_urls: 422,
  /** The feature of a pair is not in the features artifact of the referenced run (section 2.7). */
  unknown_feature: 422,
} as const;

export const MAX_BODY_BYTES = 16 * 1024 * 1024;

/** A whitebox dispatch without an archive would leave nothing to analyze. */
export const MIN_TARGETS = 1;

/** The reference itself names only `credit_limit_reached`. */
export const ABORT_CODES = {
  cancelled: 'cancelled',
  internalError: 'internal_error',
  /** An archive of a whitebox assessment is damaged or must not be unpacked. */
  invalidArchive: 'invalid_archive',
} as const;
