// What every run of `npm run mutate` has in common. `test/tools/mutate.ts` adds the files of one
// room and their tests.

/** Fails a test that hangs on a mutant, long before Stryker’s limit for the whole file. */
const hangingTestMs = 20_000;

export default {
  testRunner: 'tap',
  tap: {
    nodeArgs: [
      '--test-reporter=tap',
      `--test-timeout=${hangingTestMs}`,
      '-r',
      '{{hookFile}}',
      '{{testFile}}',
    ],
  },
  plugins: ['@stryker-mutator/tap-runner', import.meta.filename],
  ignorers: ['log'],
  // Which test files run a mutant's line; the others are not started for it.
  coverageAnalysis: 'perTest',
  // Many tests run at once: a slow one must not count as one that a mutant hangs.
  timeoutMS: 30_000,
  timeoutFactor: 4,
  // Node strips types and checks none.
  disableTypeChecks: false,
  ignorePatterns: ['dist', '.vscode-test', 'test-results', 'media'],
  tempDirName: 'test-results/mutation/sandbox',
  incremental: true,
  reporters: ['clear-text', 'progress-append-only', 'html'],
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
  // The rooms that have a number to hold hold it.
  thresholds: { high: 95, low: 85, break: 85 },
};

/** What is written to the log is for people: no test asks for its words. */
export const strykerPlugins = [
  {
    kind: 'Ignore',
    name: 'log',
    value: {
      shouldIgnore(path) {
        // The whole line can be taken away, too.
        const call = path.isExpressionStatement() ? path.node.expression : path.node;
        if (call.type !== 'CallExpression' || call.callee.type !== 'MemberExpression') return undefined;
        const { object } = call.callee;
        const { name = object.name, id = { name } } = object.property ?? {};
        return id.name === 'log' ? 'a line of the log' : undefined;
      },
    },
  },
];
