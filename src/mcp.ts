import { parseArgs } from 'node:util';
import { isMainThread } from 'node:worker_threads';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import {
  CallToolRequestSchema,
  type CallToolResult,
  ListToolsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import manifest from '../package.json' with { type: 'json' };
import { readStored, type StoredFolder } from './core/findings/agents/storedFindings.ts';
import { readingTools } from './core/findings/agents/toolAnswers.ts';
import { isSamePath, realPath } from './core/paths.ts';
import { type Logger, systemClock as clock } from './core/ports.ts';
import { visibleToAgents } from './core/visibleText.ts';

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
  const reading = readingTools(readStored(options, { workerFile: import.meta.filename, clock, log }));
  const answers = new Map(Object.entries(reading));
  const tools = manifest.contributes.languageModelTools
    .map(({ name, modelDescription, inputSchema }) => ({
      name: toMcp(name),
      description: toMcp(modelDescription),
      inputSchema: JSON.parse(toMcp(JSON.stringify(inputSchema))) as { type: 'object' },
      annotations: { readOnlyHint: true, openWorldHint: false },
    }))
    .filter(({ name }) => answers.has(name));
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- `McpServer` would add 100 kB, only to build schemas that the manifest has.
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
  await server.connect(new StdioServerTransport());
}

/** Removes the prefix that language model tools need among those of all extensions. */
function toMcp(text: string): string {
  return text.replaceAll('whitebox_', '');
}

/** Throws an error for the person who configures the server. */
async function readOptions(): Promise<StoredFolder> {
  const { values } = parseArgs({ options: { folder: { type: 'string' }, storage: { type: 'string' } } });
  const { folder, storage } = values;
  if (folder === undefined || storage === undefined)
    throw new Error(
      'Usage: mcp.cjs --folder <folder> --storage <global storage of the extension>. “Copy MCP Configuration…” in VS Code writes it.',
    );
  // The target of a link may change.
  const real = await realPath(folder).catch(() => undefined);
  if (real === undefined || !isSamePath(real, folder))
    throw new Error(`There is no folder with this real path: ${folder}. Copy the configuration again.`);
  return { folder: real, storage };
}
