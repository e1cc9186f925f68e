import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
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
import { pathInside } from './core/files.ts';
import { type Confirmation, readConfirmations } from './core/findings/confirmation.ts';
import { FindingStore } from './core/findings/findingStore.ts';
import { readingTools, type ToolFinding, type ToolRun } from './core/findings/agents/toolAnswers.ts';
import { decisionOf } from './core/findings/runFindings.ts';
import { folderOf, type ShownFinding } from './core/findings/shownFinding.ts';
import { triagePlaceOf } from './core/findings/triage/triageDisk.ts';
import { TriageStore } from './core/findings/triage/triageStore.ts';
import { type Logger, systemClock as clock } from './core/ports.ts';
import { readRuns } from './core/run/disk/readRuns.ts';
import { visibleText } from './core/visibleText.ts';

/** What the server is started with. */
interface Options {
  /** The folder that it answers for: absolute, and no link on the way. */
  readonly folder: string;
  /** The extension's folder in VS Code's global storage. */
  readonly storage: string;
  /** Where the folder's triage decisions were stored when the configuration was copied. */
  readonly triage: 'workspace' | 'shared';
}

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
  const reading = readingTools({
    findings: () => readFindings(options),
    runs: () => readOwnRuns(options),
    confirmationsOf: (shown) => readTried(shown, options),
    clock,
  });
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
      instructions: `Results of security assessments of ${options.folder}, as VS Code last stored them. Nothing can be started, changed or decided here. "unknown" means that nobody can know it here, never that it is open or the same.`,
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
async function readOptions(): Promise<Options> {
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

/** The runs of the folder and of those in it, and how the runs name these folders: all else that is read is of these runs. */
async function readOwnRuns({ folder, storage }: Options) {
  const { runs, unread } = await readRuns(join(storage, 'runs'));
  const folders = new Set<string>();
  for (const named of new Set(runs.flatMap(({ targets }) => targets.map((target) => target.folder)))) {
    const real = await realpath(named).catch(() => undefined); // a folder that is gone is not this one
    if (real !== undefined && pathInside(folder, real) !== undefined) folders.add(named);
  }
  return {
    runs: runs.filter(({ targets }) => targets.some((target) => folders.has(target.folder))),
    unread,
    folders,
  };
}

/** The findings that VS Code shows of the folder unless a person chooses others. */
async function readFindings(options: Options): Promise<readonly ToolRun[]> {
  const { runs, folders } = await readOwnRuns(options);
  const triageIn = (place: Options['triage']): TriageStore => {
    const lockFolder = join(options.storage, 'triage');
    return new TriageStore({
      placeFor: (each) => triagePlaceOf(each, lockFolder, place),
      lockFolder,
      clock,
      log,
    });
  };
  const triage = triageIn(options.triage);
  // The setting may have been changed since.
  const elsewhere = triageIn(options.triage === 'shared' ? 'workspace' : 'shared');
  const store = new FindingStore({
    runs: {
      all: () => runs,
      get: (id) => runs.find((run) => run.id === id),
      folderOf: (id) => join(options.storage, 'runs', id),
      onDidChange: () => ({ dispose: () => undefined }),
    },
    triage,
    mappings: { get: () => undefined, update: () => Promise.resolve() },
    isOpenHere: (each) => folders.has(each),
    textOf: () => undefined,
    decode: (content) => Promise.resolve(new TextDecoder().decode(content)),
    workerFile: import.meta.filename,
    isReadOnly: true,
    log,
  });
  await Promise.all([store.load(), elsewhere.load(folders)]);
  const isKnown = triage.failures().length === 0 && elsewhere.failures().length === 0;
  const toToolFinding = (shown: ShownFinding): ToolFinding => {
    const other = decisionOf(shown, elsewhere);
    const isLatest = other.at <= shown.triage.at || other.state === shown.triage.state;
    return { ...shown, triage: isKnown && isLatest ? shown.triage : undefined };
  };
  return store.folders().map((run) => ({
    ...run,
    shown: ownFindings(run.shown, folders).map(toToolFinding),
    absent: ownFindings(run.absent ?? [], folders).map(toToolFinding),
  }));
}

/** What the folder's runs that tried one pair for a finding tell of it. */
async function readTried({ identity }: ToolFinding, options: Options): Promise<readonly Confirmation[]> {
  const { runs } = await readOwnRuns(options);
  const folderOf = (id: string): string => join(options.storage, 'runs', id);
  const source = { runs: { all: () => runs, folderOf }, workerFile: import.meta.filename, isReadOnly: true };
  return readConfirmations(identity.fingerprint, source);
}

/** The findings and places that are in the folder: a run may be one of several folders. */
function ownFindings(shown: readonly ShownFinding[], folders: ReadonlySet<string>): readonly ShownFinding[] {
  const isOwn = (each: ShownFinding): boolean => each.run.targets.every(({ folder }) => folders.has(folder));
  return shown
    .filter((each) => isOwn(each) || folders.has(folderOf(each) ?? ''))
    .map((each) =>
      isOwn(each) ? each : { ...each, places: each.places.filter(({ folder }) => folders.has(folder)) },
    );
}
