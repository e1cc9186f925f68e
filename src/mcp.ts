import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { isMainThread } from 'node:worker_threads';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import {
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  type JSONRPCErrorResponse,
  ListToolsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import manifest from '../package.json' with { type: 'json' };
import { type SavedFolder, savedFindings } from './core/findings/agents/savedFindings.ts';
import { readingTools } from './core/findings/agents/toolAnswers.ts';
import { pathKey, realPath } from './core/paths.ts';
import { type Logger, systemClock as clock } from './core/ports.ts';
import { clip, visibleToAgents } from './core/visibleText.ts';

// Standard output carries only the protocol.
const write = (message: string): void => void process.stderr.write(`${message}\n`);
const log: Logger = { debug: () => undefined, info: () => undefined, warn: write, error: write };

// This file is also the parsing worker, so that only one file has to be copied.
if (isMainThread) {
  serve().catch((error: unknown) => {
    write(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  });
} else void import('./core/findings/parse/parseWorker.ts');

async function serve(): Promise<void> {
  const options = await readOptions();
  const reading = readingTools(savedFindings(options, { workerFile: import.meta.filename, clock, log }));
  const answers = new Map(Object.entries(reading));
  const tools = manifest.contributes.languageModelTools
    .map(({ name, modelDescription, inputSchema }) => ({
      name: toMcp(name),
      description: toMcp(modelDescription),
      inputSchema: JSON.parse(toMcp(JSON.stringify(inputSchema))) as { type: 'object' },
      annotations: { readOnlyHint: true, openWorldHint: false },
    }))
    .filter(({ name }) => answers.has(name));
  // oxlint-disable-next-line typescript/no-deprecated -- `McpServer` would add 100 kB.
  const server = new Server(
    { name: 'whitebox-assessment', version: manifest.version },
    {
      capabilities: { tools: {} },
      instructions: `Results of security assessments of ${options.folder}, as VS Code last saved them. These tools can’t start, change, or decide anything. "unknown" means that the value can’t be known here. It never means “open” or “unchanged”.`,
    },
  );
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }): Promise<CallToolResult> => {
    try {
      const answer = answers.get(params.name);
      if (answer === undefined) throw new Error('There is no such tool.');
      return { content: [{ type: 'text', text: await answer(params.arguments ?? {}) }] };
    } catch (error) {
      const text = visibleToAgents(error instanceof Error ? error.message : String(error));
      return { content: [{ type: 'text', text }], isError: true };
    }
  });
  const transport = new StdioServerTransport();
  const send = transport.send.bind(transport);
  transport.send = (message) => send('error' in message ? withShortError(message) : message);
  // The transport reports input that isn't a message, but sends no response.
  server.onerror = (error) => {
    if (error instanceof SyntaxError) respond(ErrorCode.ParseError, 'This is not JSON.');
    else if (error.name === 'ZodError')
      respond(ErrorCode.InvalidRequest, 'This is not one JSON-RPC 2.0 message.');
    else write(error.message);
  };
  await server.connect(transport);
}

function respond(code: ErrorCode, message: string): void {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: null, error: { code, message } })}\n`);
}

/** The library's errors quote the request, which may be long. */
function withShortError(response: JSONRPCErrorResponse): JSONRPCErrorResponse {
  const { error } = response;
  return { ...response, error: { ...error, message: visibleToAgents(clip(error.message, 200)) } };
}

/** Only language model tools need the prefix: their names must be unique across extensions. */
function toMcp(text: string): string {
  return text.replaceAll('whitebox_', '');
}

async function readOptions(): Promise<SavedFolder> {
  const { values } = parseArgs({ options: { folder: { type: 'string' }, storage: { type: 'string' } } });
  const { folder, storage } = values;
  if (folder === undefined || storage === undefined)
    throw new Error(
      'Usage: mcp.cjs --folder <folder> --storage <global storage of the extension>. “Copy MCP Configuration…” in VS Code writes it.',
    );
  // A link is refused, because its target may change.
  const real = await realPath(folder).catch(() => undefined);
  if (real === undefined || !isSameSpelling(real, resolve(folder)))
    throw new Error(`There is no folder with this real path: ${folder}. Copy the configuration again.`);
  return { folder: real, storage };
}

/**
 * On Linux, compares as on macOS: `pathKey` asks the disk whether it ignores letter case, as a few
 * disks on Linux do.
 */
function isSameSpelling(one: string, other: string): boolean {
  const platform = process.platform === 'win32' ? 'win32' : 'darwin';
  return pathKey(one, platform) === pathKey(other, platform);
}
