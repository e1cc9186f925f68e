import { homedir, release } from 'node:os';
import { isDeepStrictEqual } from 'node:util';
import * as vscode from 'vscode';
import { isAbortError, knownError, systemCode } from '../../core/errors.ts';
import type { Disposable, Logger } from '../../core/ports.ts';
import type { RunStore } from '../../core/run/disk/runStore.ts';
import { foldersOfRuns, type Run } from '../../core/run/state/run.ts';
import { maskDiagnostics, type PrivateNames } from '../../core/upload/secrets/maskDiagnostics.ts';
import { clip, visibleText } from '../../core/visibleText.ts';
import { answerOf } from '../../core/yieldingWork.ts';
import { withProgress } from '../progress.ts';
import { readDestination } from '../settings.ts';
import { showInformation } from '../showMessage.ts';
import { type Accounts, currentDestination } from './accounts.ts';
import { failedParts } from './testConnection.ts';

const t = vscode.l10n.t;

const maxLines = 50;
const maxLineLength = 1_000;
/** More of a line is kept than is shown, because a name that is cut off can't be masked. */
const maxKeptLength = 4_000;
const maxCheckMs = 30_000;

/** Keeps the last lines in memory, because VS Code's API can't read a log. */
export interface RecentLog extends Logger, Disposable {
  show(): void;
  lines(): readonly string[];
}

export function keepLines(channel: vscode.LogOutputChannel): RecentLog {
  let kept: readonly string[] = [];
  let isClosed = false;
  const write =
    (name: 'debug' | 'info' | 'warn' | 'error', level: vscode.LogLevel) =>
    (message: string): void => {
      // A closed channel throws, and a response may arrive while the window closes.
      if (isClosed) return;
      channel[name](message);
      if (channel.logLevel === vscode.LogLevel.Off || level < channel.logLevel) return;
      const lines = message.split('\n', maxLines).map((line) => clip(line, maxKeptLength));
      lines[0] = `${new Date().toISOString()} [${name}] ${lines[0] ?? ''}`;
      kept = [...kept, ...lines].slice(-maxLines);
    };
  return {
    debug: write('debug', vscode.LogLevel.Debug),
    info: write('info', vscode.LogLevel.Info),
    warn: write('warn', vscode.LogLevel.Warning),
    error: write('error', vscode.LogLevel.Error),
    show: () => channel.show(),
    dispose: () => {
      isClosed = true;
      channel.dispose();
    },
    lines: () => kept,
  };
}

export type SettingList = Readonly<Record<string, { readonly enum?: readonly string[] }>>;

const networkSettings: SettingList = {
  'http.proxy': {},
  'http.proxySupport': { enum: ['off', 'on', 'fallback', 'override'] },
  'http.proxyStrictSSL': {},
  'http.systemCertificates': {},
};
const networkVariables = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'NODE_EXTRA_CA_CERTS'];

interface DiagnosticsDeps {
  readonly accounts: Accounts;
  readonly runs: RunStore;
  readonly log: RecentLog;
  readonly secretWorkerFile: string;
  readonly version: string;
  readonly settings: SettingList;
}

export async function copyDiagnostics(deps: DiagnosticsDeps): Promise<void> {
  const content = await withProgress(t('Collecting diagnostics…'), (_report, signal) =>
    diagnosticsOf(deps, signal),
  );
  const opening = vscode.workspace.openTextDocument({ content, language: 'plaintext' });
  const document = await answerOf(opening, t('VS Code'));
  await vscode.window.showTextDocument(document);
  const copy = t('Copy');
  const message = t(
    'The diagnostics haven’t been copied or sent. Read them, delete what you don’t want to share, and copy them.',
  );
  if ((await showInformation(message, copy)) !== copy) return;
  await vscode.env.clipboard.writeText(document.getText());
  void showInformation(t('The diagnostics were copied.'));
}

/** The text isn't translated, because the people who fix the extension read it. */
async function diagnosticsOf(deps: DiagnosticsDeps, signal: AbortSignal): Promise<string> {
  const { runs, log, settings, secretWorkerFile } = deps;
  const service = await reachability(deps.accounts, signal);
  const sections: readonly (readonly string[])[] = [
    ['Versions', ...versions(deps.version)],
    ['Settings that differ from their defaults', ...changedSettings({ ...settings, ...networkSettings })],
    ['Environment variables that are set', ...networkVariables.filter(isSet)],
    ['Service', service],
    ['Runs by state', ...countStates(runs.all())],
    [`Log, the last ${String(maxLines)} lines`, ...log.lines()],
  ];
  const masked = await maskDiagnostics(sections, privateNames(runs.all()), secretWorkerFile, signal);
  const shown = masked.map((lines) => {
    const clipped = lines.map((line) => clip(visibleText(line), maxLineLength));
    return [...clipped, ...(clipped.length === 1 ? ['none'] : [])].join('\n  ');
  });
  return `${shown.join('\n\n')}\n`;
}

function versions(version: string): string[] {
  const { appName, appHost, remoteName, uiKind, language } = vscode.env;
  const host = [appName, appHost, uiKind === vscode.UIKind.Web ? 'web' : 'desktop', remoteName ?? 'local'];
  const folders = vscode.workspace.workspaceFolders?.length ?? 0;
  return [
    `Whitebox Assessment: ${version}`,
    `VS Code: ${vscode.version} (${host.join(', ')})`,
    `System: ${process.platform} ${process.arch}, ${release()}; Node ${process.version}`,
    `Display language: ${language}`,
    `Workspace: ${vscode.workspace.isTrusted ? 'trusted' : 'Restricted Mode'}, folders: ${String(folders)}`,
  ];
}

/** Free text, such as an organization ID, a URL, or a path, is listed only as `set`. */
function changedSettings(settings: SettingList): string[] {
  const scopes = [undefined, ...(vscode.workspace.workspaceFolders ?? [])];
  return Object.entries(settings).flatMap(([key, setting]) => {
    const changed = scopes.flatMap((scope) => {
      const found = vscode.workspace.getConfiguration(undefined, scope).inspect(key);
      return [found?.globalValue, found?.workspaceValue, found?.workspaceFolderValue].filter(
        (value) => value !== undefined && !isDeepStrictEqual(value, found?.defaultValue),
      );
    });
    const shown = new Set(changed.map((value) => shownValue(value, setting.enum)));
    return shown.size === 0 ? [] : [`${key}: ${[...shown].join(', ')}`];
  });
}

function shownValue(value: unknown, choices: readonly string[] = []): string {
  if (Array.isArray(value)) return `entries: ${String(value.length)}`;
  const isChoice = typeof value === 'string' && choices.includes(value);
  return isChoice || typeof value === 'boolean' || typeof value === 'number' ? String(value) : 'set';
}

function isSet(name: string): boolean {
  return [name, name.toLowerCase()].some((each) => (process.env[each] ?? '') !== '');
}

/** Names the part that fails and the cause, but quotes no text from the service. */
async function reachability(accounts: Accounts, signal: AbortSignal): Promise<string> {
  if (!vscode.workspace.isTrusted) return 'not called in Restricted Mode';
  try {
    const destination = readDestination();
    if (destination === undefined)
      return 'not called, because the base URL or the organization ID is not set';
    await answerOf(accounts.check(destination, { signal }), 'service', { maxMs: maxCheckMs, signal });
    return 'works';
  } catch (error) {
    if (isAbortError(error)) throw error;
    const { kind, data } = knownError(error);
    const facts = [kind, data.status, systemCode(error)].filter((fact) => fact !== undefined);
    return `fails (${failedParts[kind] ?? 'unknown part'}): ${facts.join(', ')}`;
  }
}

function countStates(runs: readonly Run[]): string[] {
  const byState = Map.groupBy(runs, ({ state }) => state);
  return [...byState].map(([state, of]) => `${state}: ${String(of.length)}`).sort();
}

function privateNames(runs: readonly Run[]): PrivateNames {
  const current = currentDestination();
  const ofRuns = new Set(foldersOfRuns(runs));
  return {
    home: homedir(),
    folders: [
      ...(vscode.workspace.workspaceFolders ?? []).map(({ uri, name }) => ({
        path: uri.fsPath,
        shown: `[${name}]`,
      })),
      ...[...ofRuns].map((path) => ({ path, shown: '[folder of a run]' })),
    ],
    accounts: current === undefined ? runs : [...runs, current],
  };
}
