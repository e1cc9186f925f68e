/** The module that bundle.ts creates from the test files. */
declare module 'integration-tests' {
  /** Evaluates the test files, which register their suites. */
  export function loadTests(): void;
}
