/** The module that bundle.ts makes of every test file in this folder. */
declare module 'integration-tests' {
  /** Evaluates the test files, which register their suites. */
  export function loadTests(): void;
}
