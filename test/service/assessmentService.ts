import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Api } from './api.ts';
import { blackboxAssessment, blackboxCrawl } from './blackbox/blackboxWorkflows.ts';
import { Faults, type FaultRule } from './faults.ts';
import { listen, type LoggedRequest } from './httpServer.ts';
import { InputFiles, type InputFile } from './inputFiles.ts';
import { documents, inputFileOperations, workflowOperations } from './operations.ts';
import { jsonReply, Refusal } from './replies.ts';
import { PresignedStorage, type Clock } from './storage.ts';
import { whiteboxAssessment } from './whitebox/whiteboxAssessment.ts';
import type { RunOutcome, RunState } from './runs/run.ts';
import { WorkflowRuns } from './runs/workflowRuns.ts';
import type { Workflow } from './runs/workflow.ts';

export interface ServiceOptions {
  /** The default, 0, takes a free port. */
  readonly port?: number;
  readonly clock?: Clock;
  /** A run takes at least this long by the clock, by default 1000. */
  readonly runDurationMs?: number;
  /** A run exits this long after cancel by the clock, by default 0. */
  readonly cancelDelayMs?: number;
  /** Each organization has this much storage, by default 8 GiB. */
  readonly capacityBytes?: number;
  /** The default is 900. */
  readonly uploadUrlSeconds?: number;
  /** The default is 900. */
  readonly downloadUrlSeconds?: number;
  /**
   * Each organization ID has its access tokens. The default is one invented organization with one
   * invented token.
   */
  readonly organizations?: Readonly<Record<string, readonly string[]>>;
  /** These webhook endpoints are registered. Nothing is sent to them. */
  readonly webhookEndpointIds?: readonly string[];
  /**
   * The ownership of applications with these origins is verified (section 5.5). They must be on
   * loopback. The default is every origin on loopback.
   */
  readonly verifiedOrigins?: readonly string[];
  /** Gets lines about replies, exits, and errors, without credentials. */
  readonly log?: (line: string) => void;
}

export interface AssessmentService {
  /** The URL ends in `/v1`. */
  readonly baseUrl: string;
  readonly organizationId: string;
  /** This is the first token of the first organization. */
  readonly token: string;
  readonly requests: readonly LoggedRequest[];
  readonly runs: () => RunState[];
  readonly files: () => InputFile[];
  /** Ends a run now. Success, the default, waits for the run's work. */
  readonly finishRun: (runId: string, outcome?: RunOutcome) => Promise<void>;
  /** Resolves when the work of all runs is done and every run that is due has exited. */
  readonly settle: () => Promise<void>;
  /** Replaces the accepted tokens of an organization, the first one by default. */
  readonly setTokens: (tokens: readonly string[], organizationId?: string) => void;
  /** Adds a fault rule; the returned function removes it. */
  readonly addFault: (rule: FaultRule) => () => void;
  readonly close: () => Promise<void>;
}

const workflows: readonly Workflow[] = [blackboxAssessment, blackboxCrawl, whiteboxAssessment];

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Starts a strict implementation of the API reference on loopback, with its data in a temporary
 * folder.
 */
export async function startService(options: ServiceOptions = {}): Promise<AssessmentService> {
  const {
    clock = Date,
    log = () => undefined,
    organizations = { 'invented-organization': [`invented-token-${randomBytes(12).toString('hex')}`] },
  } = options;
  const tokens = new Map(Object.entries(organizations).map(([id, accepted]) => [id, new Set(accepted)]));
  const [organizationId = ''] = tokens.keys();
  const [token = ''] = tokens.get(organizationId) ?? [];

  const directory = await mkdtemp(join(tmpdir(), 'assessment-service-'));
  let origin = '';
  const storage = new PresignedStorage({ clock, directory, origin: () => origin });
  const files = new InputFiles({
    clock,
    storage,
    capacityBytes: options.capacityBytes ?? 8 * 1024 ** 3,
    uploadUrlSeconds: options.uploadUrlSeconds ?? 900,
    retentionMs: 7 * DAY_MS,
  });
  const runs = new WorkflowRuns({
    clock,
    files,
    storage,
    webhookEndpointIds: options.webhookEndpointIds ?? [],
    requireVerified: toRequireVerified(options.verifiedOrigins),
    directory,
    log,
    runDurationMs: options.runDurationMs ?? 1000,
    cancelDelayMs: options.cancelDelayMs ?? 0,
    downloadUrlSeconds: options.downloadUrlSeconds ?? 900,
    // Section 8 allows no less.
    retentionMs: 30 * DAY_MS,
  });

  const operations = [
    ...inputFileOperations(files),
    ...workflows.flatMap((workflow) => workflowOperations(runs, workflow)),
  ];
  const api = new Api(operations, tokens);
  const faults = new Faults();
  const requests: LoggedRequest[] = [];
  const closing = new AbortController();

  const removeDirectory = () => rm(directory, { recursive: true, force: true, maxRetries: 3 });
  const server = await listen(
    async (request, url, note, proceed) => {
      const stored = await storage.answer(request, url, proceed);
      if (stored) return stored;
      proceed();
      const path = url.pathname.startsWith('/v1/') ? url.pathname.slice('/v1'.length) : undefined;
      if (path === undefined) throw new Refusal('not_found', `There is nothing at ${url.pathname}.`);
      const document =
        request.method === 'GET' ? documents(`${origin}/v1`, operations, workflows).get(path) : undefined;
      if (document) return jsonReply(200, document);
      return await api.answer(request, path, (body) => {
        note.body = body;
      });
    },
    { port: options.port ?? 0, faults, requests, log, closing: closing.signal },
  ).catch(async (error: unknown) => {
    await removeDirectory();
    throw error;
  });
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  return {
    baseUrl: `${origin}/v1`,
    organizationId,
    token,
    requests,
    runs: () => runs.list(),
    files: () => files.list(),
    finishRun: (runId, outcome) => runs.finish(runId, outcome),
    settle: () => runs.settle(),
    setTokens: (accepted, id = organizationId) => void tokens.set(id, new Set(accepted)),
    addFault: (rule) => faults.add(rule),
    async close() {
      closing.abort();
      server.close();
      server.closeAllConnections();
      await runs.close();
      await removeDirectory();
    },
  };
}

function isLoopback(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname } = new URL(url);
  return /^https?:$/.test(protocol) && ['127.0.0.1', '[::1]', 'localhost'].includes(hostname);
}

function toRequireVerified(origins?: readonly string[]): (urls: readonly string[]) => void {
  const foreign = origins?.find((origin) => !isLoopback(origin));
  if (foreign !== undefined) throw new Error(`not a loopback application: ${foreign}`);
  return (urls) => {
    const isVerified = (url: string) => isLoopback(url) && (origins?.includes(new URL(url).origin) ?? true);
    const unverified = urls.find((url) => !isVerified(url));
    if (unverified !== undefined) {
      throw new Refusal(
        'ownership_not_verified',
        `The ownership of the application at ${unverified} is not verified.`,
      );
    }
  };
}
