import { execFile } from 'node:child_process';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import * as vscode from 'vscode';
import {
  copyMcpServer,
  mcpClients,
  type McpRuntime,
  renewMcpServer,
  toMcpConfiguration,
} from './mcpConfiguration.ts';
import { realPath } from '../../core/paths.ts';
import type { Logger } from '../../core/ports.ts';
import { pickFolder } from '../folders.ts';
import { inBackground } from '../../core/yieldingWork.ts';
import { offerText } from '../showMessage.ts';

const t = vscode.l10n.t;

export interface McpFiles {
  readonly bundled: string;
  /** Configurations name this copy in `storage`. It survives updates of the extension. */
  readonly copy: string;
  readonly storage: string;
}

export function keepMcpServer(
  { extensionPath, globalStorageUri }: vscode.ExtensionContext,
  log: Logger,
): McpFiles {
  const storage = globalStorageUri.fsPath;
  const files = { bundled: join(extensionPath, 'dist', 'mcp.cjs'), copy: join(storage, 'mcp.cjs'), storage };
  inBackground(renewMcpServer(files.bundled, files.copy), log);
  return files;
}

export async function copyMcpConfiguration({ bundled, copy, storage }: McpFiles): Promise<void> {
  const title = t('Copy MCP Configuration');
  const picked = await pickFolder(t('Choose the folder whose findings the agent may read'));
  if (picked === undefined) return;
  const items = [
    ...mcpClients.map((client) => ({ ...client, label: client.client, description: client.file })),
    { label: t('Other agents'), description: t('JSON with “mcpServers”'), format: 'json' as const },
  ];
  const placeHolder = t('Choose the agent. It must run on the machine that has this folder.');
  const chosen = await vscode.window.showQuickPick(items, { title, placeHolder });
  if (chosen === undefined) return;
  await copyMcpServer(bundled, copy);
  const folder = await realPath(picked.uri.fsPath);
  const server = { server: copy, folder, storage };
  const configuration = toMcpConfiguration(chosen.format, await findRuntime(), server);
  await vscode.env.clipboard.writeText(configuration);
  const message =
    'file' in chosen
      ? t(
          'The configuration was copied to the clipboard. Add it to {0} next to the existing servers, and restart {1}.',
          chosen.file,
          chosen.client,
        )
      : t(
          'The configuration was copied to the clipboard. Add it to your agent’s configuration next to the existing servers, and restart the agent.',
        );
  await offerText(message, configuration);
}

/** The server's build requires this version. */
const minNodeVersion = 22;

/** Returns a program's full path, because an agent may have another PATH. */
async function findRuntime(): Promise<McpRuntime> {
  try {
    // Windows looks in the current folder first, so the workspace must not be that folder.
    const script = 'process.versions.node + " " + process.execPath';
    const options = { cwd: homedir(), timeout: 10_000, windowsHide: true };
    const { stdout } = await promisify(execFile)('node', ['-p', script], options);
    const [, version, command] = /^(\d+)\.\S+ (.+)$/m.exec(stdout.trimEnd()) ?? [];
    if (command !== undefined && Number(version) >= minNodeVersion) return { command };
  } catch {
    // Node is missing or does not run.
  }
  return { command: process.execPath, env: { ELECTRON_RUN_AS_NODE: '1' } };
}
