import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { onDisk, readIfThere, writeFileAtomic } from '../../core/files.ts';

/** `file` is the user's configuration for all folders. */
export const mcpClients = [
  { client: 'Claude Code', file: '~/.claude.json', format: 'json' },
  { client: 'Codex', file: '~/.codex/config.toml', format: 'toml' },
  { client: 'Cursor', file: '~/.cursor/mcp.json', format: 'json' },
] as const;

export interface McpRuntime {
  readonly command: string;
  readonly env?: Readonly<Record<string, string>>;
}

export interface McpArguments {
  readonly server: string;
  readonly folder: string;
  readonly storage: string;
}

export function toMcpConfiguration(
  format: 'json' | 'toml',
  { command, env }: McpRuntime,
  { server, folder, storage }: McpArguments,
): string {
  const args = [server, '--folder', folder, '--storage', storage];
  const name = serverName(folder);
  if (format === 'json') {
    const entry = { type: 'stdio', command, args, env };
    return `${JSON.stringify({ mcpServers: { [name]: entry } }, undefined, 2)}\n`;
  }
  // A TOML string accepts the escapes that `JSON.stringify` writes.
  const lines = [
    `[mcp_servers.${name}]`,
    `command = ${JSON.stringify(command)}`,
    `args = [${args.map((each) => JSON.stringify(each)).join(', ')}]`,
    ...Object.entries(env ?? {}).map(([key, value]) => `env.${key} = ${JSON.stringify(value)}`),
  ];
  return `${lines.join('\n')}\n`;
}

/**
 * Clients join the names of server and tool with one or two underscores. Some clients refuse more
 * than 60 characters, so this name is short.
 */
function serverName(folder: string): string {
  const id = createHash('sha256').update(folder).digest('hex').slice(0, 6);
  return `whitebox ${basename(folder).slice(0, 24)} ${id}`.replaceAll(/[^A-Za-z\d]+/g, '-');
}

/** Copies the server to a fixed path, since an update moves the extension's folder. */
export async function copyMcpServer(from: string, to: string): Promise<void> {
  const [bundled, copy] = await Promise.all([readFile(from, 'utf8'), onDisk(readIfThere(to))]);
  if (copy !== bundled) await onDisk(writeFileAtomic(to, bundled));
}

export async function renewMcpServer(from: string, to: string): Promise<void> {
  if ((await readIfThere(to)) !== undefined) await copyMcpServer(from, to);
}
