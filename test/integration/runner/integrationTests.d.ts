/** bundle.ts creates this module from the test files. */
declare module 'integration-tests' {
  /** Evaluates the test files, which register their suites. Calls `before` ahead of each file. */
  export function loadTests(before: (file: string) => void): void;
}
