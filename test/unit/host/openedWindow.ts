import { globSync, readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join, resolve } from 'node:path';
import type * as vscode from 'vscode';

/**
 * The real wiring of the extension (`src/extension.ts`) runs in a VS Code without a window, in
 * which nobody clicks and nothing is drawn.
 */

const root = resolve(import.meta.dirname, '../../..');

type Members = Readonly<Record<string, unknown>>;

/**
 * Has the given members. Everything else can be called, constructed, and iterated, and gives the
 * like.
 */
function inert(members: Members = {}): unknown {
  const always = (): unknown => inert();
  const known: Readonly<Record<string | symbol, unknown>> = {
    ...members,
    // It is not a promise, is empty, and has no text.
    then: undefined,
    [Symbol.iterator]: () => [][Symbol.iterator](),
    [Symbol.toPrimitive]: () => '',
  };
  return new Proxy(function () {}, {
    get: (_, name) => (name in known ? known[name] : inert()),
    set: () => true,
    apply: always,
    construct: () => inert() as object,
  });
}

/** Context keys have the values of the last `setContext` of each. */
const contexts = new Map<string, unknown>();
const folders: { readonly uri: unknown }[] = [];
/** Another extension's `activate` gives this, by the extension's ID. */
export const otherExtensions = new Map<string, Members>();
const ofWindowState = new Set<(state: { readonly focused: boolean }) => void>();
/** A user does this who turns to the window. */
export const focusWindow = (): void => ofWindowState.forEach((listener) => listener({ focused: true }));

const toUri = (fsPath: string): unknown => inert({ fsPath, path: fsPath, scheme: 'file' });

const stub = inert({
  l10n: { t: (text: string) => text },
  env: inert({ language: 'en', uriScheme: 'vscode' }),
  commands: inert({
    executeCommand: (command: string, key: string, value: unknown) => {
      if (command === 'setContext') contexts.set(key, value);
      return Promise.resolve();
    },
  }),
  workspace: inert({
    isTrusted: true,
    textDocuments: [],
    workspaceFolders: folders,
    getConfiguration: () => ({ get: (_: string, usual: unknown) => usual, inspect: () => undefined }),
  }),
  Uri: inert({ file: toUri }),
  extensions: inert({
    getExtension: (id: string) => {
      const api = otherExtensions.get(id);
      return api && { activate: () => Promise.resolve(api) };
    },
  }),
  window: inert({
    onDidChangeWindowState: (listener: (state: { readonly focused: boolean }) => void) => {
      ofWindowState.add(listener);
      return { dispose: () => ofWindowState.delete(listener) };
    },
  }),
  EventEmitter: class {
    readonly #listeners = new Set<(value: unknown) => void>();
    readonly event = (listener: (value: unknown) => void) => {
      this.#listeners.add(listener);
      return { dispose: () => this.#listeners.delete(listener) };
    };
    fire = (value: unknown) => this.#listeners.forEach((listener) => listener(value));
    dispose = () => this.#listeners.clear();
  },
  LanguageModelTextPart: class {
    readonly value: string;
    constructor(value: string) {
      this.value = value;
    }
  },
  LanguageModelToolResult: class {
    readonly content: readonly unknown[];
    constructor(content: readonly unknown[]) {
      this.content = content;
    }
  },
  Disposable: Object.assign(
    class {
      readonly dispose: () => void;
      constructor(dispose: () => void) {
        this.dispose = dispose;
      }
    },
    {
      from: (...all: readonly vscode.Disposable[]) => ({
        dispose: () => all.forEach((each) => void each.dispose()),
      }),
    },
  ),
});

Object.assign(globalThis, { inertVsCode: stub });
const used = globSync('src/**/*.ts', { cwd: root }).flatMap((file) =>
  Array.from(readFileSync(join(root, file), 'utf8').matchAll(/\bvscode\.(\w+)/g), ([, name]) => name),
);
const source = [...new Set(used)].map((name) => `export const ${name} = globalThis.inertVsCode.${name};`);

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'vscode' ? { url: 'inert:vscode', shortCircuit: true } : next(specifier, context),
  load: (url, context, next) =>
    url === 'inert:vscode'
      ? { format: 'module', source: source.join('\n'), shortCircuit: true }
      : next(url, context),
});
const { start } = await import('../../../src/extension.ts');

interface WindowOptions {
  readonly storage: string;
  readonly folder: string;
  /** The extension has its bundles in `dist`. */
  readonly extensionPath?: string;
  readonly token?: string;
}

/** Starts the extension in a window whose storage has runs. */
export async function openWindow({ storage, folder, extensionPath = root, token }: WindowOptions) {
  folders.splice(0, folders.length, { uri: toUri(folder) });
  const values = new Map<string, unknown>();
  const memory = {
    keys: () => [...values.keys()],
    get: (key: string, usual?: unknown) => values.get(key) ?? usual,
    update: (key: string, value: unknown) => Promise.resolve(void values.set(key, value)),
  };
  const view = inert({ visible: false, selection: [] });
  const lazy = { view, fill: () => undefined };
  const context = inert({
    globalState: memory,
    workspaceState: memory,
    extensionPath,
    extensionUri: toUri(extensionPath),
    globalStorageUri: toUri(storage),
    extension: { packageJSON: JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as unknown },
    secrets: inert({ get: () => Promise.resolve(token), keys: () => Promise.resolve([]) }),
  });
  const surfaces = { status: inert(), runs: lazy, findings: lazy, uploadPreview: lazy, features: lazy };
  const disposables: { dispose(): void }[] = [];
  const extension = await start(
    context as vscode.ExtensionContext,
    surfaces as unknown as Parameters<typeof start>[1],
    disposables,
  );
  return {
    ...extension,
    askAgentTool: async (name: string): Promise<string> => {
      const options = { input: {}, toolInvocationToken: undefined };
      const answer = await extension.tools.get(name)?.invoke(options, inert() as vscode.CancellationToken);
      return (answer?.content as { value: string }[]).map(({ value }) => value).join('');
    },
    contexts: contexts as ReadonlyMap<string, unknown>,
    dispose: () => disposables.forEach((each) => each.dispose()),
  };
}
