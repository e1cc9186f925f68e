import { appendFileSync } from 'node:fs';

/**
 * The tests in the extension host write this as a line of JSON to the results file. `title`
 * includes the suites.
 */
export type IntegrationEvent =
  | { readonly kind: 'passed'; readonly title: string; readonly name: string; readonly ms: number }
  | { readonly kind: 'failed'; readonly title: string; readonly ms: number; readonly error: string }
  | { readonly kind: 'skipped'; readonly title: string; readonly name: string; readonly reason: string }
  | { readonly kind: 'retried'; readonly title: string; readonly error: string }
  | { readonly kind: 'passedAgain'; readonly title: string }
  /** Nothing has caught this error of another extension. */
  | { readonly kind: 'uncaught'; readonly error: string }
  | { readonly kind: 'file'; readonly file: string; readonly ms: number }
  | { readonly kind: 'end' };

export const resultsVariable = 'INTEGRATION_RESULTS';

export const grepVariable = 'INTEGRATION_GREP';

export const storageVariable = 'INTEGRATION_STORAGE';

/** Names the folder of the invented certificates. It is unset if they cannot be created. */
export const certificatesVariable = 'INTEGRATION_CERTIFICATES';

/** Reports to the runner, or to the console without one. */
export function report(event: IntegrationEvent): void {
  const file = process.env[resultsVariable];
  if (file === undefined) console.log(JSON.stringify(event));
  else appendFileSync(file, `${JSON.stringify(event)}\n`);
}

interface Skippable {
  readonly test?: { readonly type?: string; readonly parent?: object | undefined } | undefined;
  skip(): never;
}

/** Skips the running mocha test, or all tests of a hook, with a reason, which is required. */
export function skipBecause(context: Skippable, reason: string): never {
  const { test } = context;
  Object.assign((test?.type === 'hook' ? test.parent : test) ?? {}, { reason });
  return context.skip();
}
