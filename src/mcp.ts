import { realpath } from 'node:fs/promises';
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
import { type Logger, systemClock as clock } from './core/ports.ts';
import { visibleText } from './core/visibleText.ts';

// Only the protocol goes to the standard output.
const write = (message: string): void => void process.stderr.write(`${message}\n`);
const log: Logger = { debug: () => undefined, info: () => undefined, warn: write, error: write };

// The parsing worker is this file, too: what is copied is one file.
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
  // `McpServer` brings 100 kB more, to make schemas that the manifest has.
  // eslint-disable-next-line @typescript-eslint/no-deprecated
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
      const text = visibleText(error instanceof Error ? error.message : String(error));
      return { content: [{ type: 'text', text }], isError: true };
    }
  });
  await server.connect(new StdioServerTransport());
}

/** The name of a language model tool, which has a prefix among those of all extensions, as it is among this server's own. */
function toMcp(text: string): string {
  return text.replaceAll('whitebox_', '');
}

/** Reads the arguments. Throws, for the person who configures it, what is wrong with them. */
async function readOptions(): Promise<StoredFolder> {
  const { values } = parseArgs({
    options: { folder: { type: 'string' }, storage: { type: 'string' }, triage: { type: 'string' } },
  });
  const { folder, storage, triage = 'workspace' } = values;
  const isComplete = folder !== undefined && storage !== undefined;
  if (!isComplete || (triage !== 'workspace' && triage !== 'shared'))
    throw new Error(
      'Usage: mcp.cjs --folder <folder> --storage <global storage of the extension> [--triage workspace|shared]. “Copy MCP Configuration…” in VS Code writes it.',
    );
  // A link may lead to another folder tomorrow.
  if ((await realpath(folder).catch(() => undefined)) !== folder)
    throw new Error(`There is no folder with this real path: ${folder}. Copy the configuration again.`);
  return { folder, storage, triage };
}
