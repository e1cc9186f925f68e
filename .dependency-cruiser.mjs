// The fence between the rooms, as docs/architecture.md draws it: which may import which, type-only imports included.
const groundFloor = '^src/core/[^/]+$';

/** What is in a room imports only from there and from the others named here; packages and Node are free. */
const mayImport = (room, ...others) => ({
  name: `${room} imports only what is below it`,
  severity: 'error',
  from: { path: room },
  to: { path: '^(src|webview-ui|test)/', pathNot: [room, ...others] },
});

/** What the steps of a run stand on. */
const belowSteps = ['^src/core/run/(disk|state)/', '^src/core/(workflows|api|upload)/', groundFloor];

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    mayImport(groundFloor),
    mayImport('^src/core/api/', groundFloor),
    mayImport('^src/core/upload/', groundFloor),
    mayImport('^src/core/workflows/', '^src/core/api/', groundFloor),
    mayImport('^src/core/run/', '^src/core/(workflows|api|upload)/', groundFloor),
    mayImport('^src/core/run/state/', '^src/core/(workflows|api|upload)/', groundFloor),
    mayImport('^src/core/run/disk/', '^src/core/run/state/', '^src/core/(workflows|api)/', groundFloor),
    mayImport('^src/core/run/steps/', ...belowSteps),
    mayImport('^src/core/run/drive/', '^src/core/run/steps/', ...belowSteps),
    mayImport('^src/core/run/start/', '^src/core/run/steps/', ...belowSteps),
    mayImport('^src/core/findings/', '^src/core/(features|run|workflows|api|upload)/', groundFloor),
    mayImport('^src/core/features/', '^src/core/(run|workflows)/', groundFloor),
    mayImport('^src/core/report/', groundFloor),
    mayImport('^src/editor/', '^src/core/', '^src/lazyView\\.ts$'),
    mayImport('^src/mcp\\.ts$', '^src/core/'),
    mayImport('^webview-ui/', '^src/core/(report/protocol|visibleText)\\.ts$'),
    mayImport('^test/service/', '^test/fixtures/'),
    {
      name: 'core and the webview are free of VS Code',
      severity: 'error',
      from: { path: '^(src/core|webview-ui)/' },
      to: { path: '(^|/)vscode(/|$)' },
    },
    { name: 'no cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no orphans',
      severity: 'error',
      from: { path: '^(src|webview-ui)/', orphan: true },
      to: {},
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(test/fixtures|dist)/' },
  },
};
