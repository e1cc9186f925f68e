import { appendFileSync } from 'node:fs';

/** What the tests in the extension host report, a JSON object per line of the results file; a title is the test's name after those of its suites. */
export type IntegrationEvent =
  | { readonly kind: 'passed'; readonly title: string; readonly name: string; readonly ms: number }
  | { readonly kind: 'failed'; readonly title: string; readonly ms: number; readonly error: string }
  | { readonly kind: 'skipped'; readonly title: string; readonly reason: string }
  | { readonly kind: 'end' };

export const resultsVariable = 'INTEGRATION_RESULTS';

export const grepVariable = 'INTEGRATION_GREP';

export const storageVariable = 'INTEGRATION_STORAGE';

/** The environment variable that names the folder with the invented certificates; unset where they cannot be made. */
export const certificatesVariable = 'INTEGRATION_CERTIFICATES';

/** Tells the runner what happened; on the console where no runner listens. */
export function report(event: IntegrationEvent): void {
  const file = process.env[resultsVariable];
  if (file === undefined) console.log(JSON.stringify(event));
  else appendFileSync(file, `${JSON.stringify(event)}\n`);
}

/** A mocha test or hook context, as far as skipping goes. */
interface Skippable {
  readonly test?: object | undefined;
  skip(): never;
}

/** Skips the running mocha test and says why; every skipped test must. */
export function skipBecause(context: Skippable, reason: string): never {
  Object.assign(context.test ?? {}, { reason });
  return context.skip();
}
