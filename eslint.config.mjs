import js from '@eslint/js';
import tseslint from 'typescript-eslint';

const noEditor = { group: ['vscode'], message: 'src/core is plain Node: pass what you need as an argument.' };
const upward = (...rooms) =>
  rooms.map((room) => ({
    group: [`**/${room}/**`],
    message: `The arrow points the other way: see CONTRIBUTING, The fence.`,
  }));
const fence = (...patterns) => ['error', { patterns: patterns.flat() }];

export default tseslint.config(
  { ignores: ['dist/', 'node_modules/', '.vscode-test/', 'test-results/', 'test/fixtures/'] },
  js.configs.recommended,
  tseslint.configs.strictTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        projectService: { allowDefaultProject: ['*.mjs'] },
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/dot-notation': 'off',
      'no-restricted-exports': [
        'error',
        { restrictDefaultExports: { direct: true, named: true, defaultFrom: true } },
      ],
      eqeqeq: 'error',
    },
  },
  // The fence: extension -> editor -> core/findings -> core/run -> core/upload, core/api -> errors, ports, files.
  {
    files: ['src/core/*.ts'],
    rules: {
      'no-restricted-imports': fence(
        noEditor,
        upward('editor', 'findings', 'run', 'upload', 'api', 'report'),
      ),
    },
  },
  {
    files: ['src/core/api/**'],
    rules: {
      'no-restricted-imports': fence(noEditor, upward('editor', 'findings', 'run', 'upload', 'report')),
    },
  },
  {
    files: ['src/core/upload/**'],
    rules: { 'no-restricted-imports': fence(noEditor, upward('editor', 'findings', 'run', 'api', 'report')) },
  },
  {
    files: ['src/core/run/**'],
    rules: { 'no-restricted-imports': fence(noEditor, upward('editor', 'findings', 'report')) },
  },
  {
    files: ['src/core/findings/**'],
    rules: { 'no-restricted-imports': fence(noEditor, upward('editor', 'report')) },
  },
  {
    files: ['src/core/report/**'],
    rules: { 'no-restricted-imports': fence(noEditor, upward('editor', 'findings', 'run', 'upload', 'api')) },
  },
  {
    files: ['src/editor/**'],
    rules: {
      'no-restricted-imports': fence({
        group: ['**/bootstrap.ts', '**/extension.ts'],
        message: 'Both are above the editor: see CONTRIBUTING, The fence.',
      }),
    },
  },
  {
    files: ['webview-ui/**'],
    rules: {
      'no-restricted-imports': fence(noEditor, {
        regex: '/src/(?!core/report/protocol\\.ts$)',
        message: 'webview-ui imports only core/report/protocol.',
      }),
    },
  },
  {
    files: ['src/**'],
    ignores: ['src/editor/showMessage.ts', 'src/editor/progress.ts'],
    rules: {
      'no-restricted-properties': [
        'error',
        ...['showInformationMessage', 'showWarningMessage', 'showErrorMessage', 'withProgress'].map(
          (property) => ({
            property,
            message:
              'VS Code makes links, even of commands, of what others wrote: go by editor/showMessage or editor/progress.',
          }),
        ),
      ],
    },
  },
  {
    files: ['test/service/**'],
    rules: {
      'no-restricted-imports': fence({
        group: ['**/src/**'],
        message: 'The assessment service is written from the API reference alone.',
      }),
    },
  },
  {
    files: ['test/**'],
    rules: {
      // node:test's test() and describe() return promises that the runner awaits.
      '@typescript-eslint/no-floating-promises': [
        'error',
        {
          allowForKnownSafeCalls: [
            {
              from: 'package',
              package: 'node:test',
              name: ['test', 'it', 'describe', 'suite', 'before', 'after', 'beforeEach', 'afterEach'],
            },
          ],
        },
      ],
      '@typescript-eslint/no-non-null-assertion': 'off',
    },
  },
  {
    // Playwright reads it so.
    files: ['test/e2e/playwright.config.ts'],
    rules: { 'no-restricted-exports': 'off' },
  },
  {
    files: ['**/*.mjs'],
    extends: [tseslint.configs.disableTypeChecked],
    languageOptions: { globals: { process: 'readonly', console: 'readonly', URL: 'readonly' } },
    rules: { 'no-restricted-exports': 'off' },
  },
);
