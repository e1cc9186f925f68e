import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import http from 'node:http';
import { join } from 'node:path';
import { mock } from 'node:test';
import { AssessmentClient } from '../../../src/core/api/client.ts';
import type { TokenSource } from '../../../src/core/api/credentials.ts';
import { defaultIdleLimits, type IdleLimits } from '../../../src/core/api/http.ts';
import { AssessmentError } from '../../../src/core/errors.ts';
import type { Clock, Logger } from '../../../src/core/ports.ts';
import type { Assessment } from '../../../src/core/run/state/newRun.ts';
import type { RunDeps } from '../../../src/core/run/steps/step.ts';
import { isFinal, type Run, type RunIn, type RunState } from '../../../src/core/run/state/run.ts';
import type { RunNotes } from '../../../src/core/run/disk/runNotes.ts';
import { RunStore } from '../../../src/core/run/disk/runStore.ts';
import { RunTracker } from '../../../src/core/run/runTracker.ts';
import { selectFiles } from '../../../src/core/upload/select/selectFiles.ts';
import {
  type AssessmentService,
  type ServiceOptions,
  startService,
} from '../../service/assessmentService.ts';
import type { FaultAction, FaultRule } from '../../service/faults.ts';
import { type Scope, tempFolder } from './tempFolder.ts';
import { type Traffic, VirtualClock, watchTraffic } from './virtualClock.ts';

export const workerFile = join(import.meta.dirname, '../../../src/core/upload/archive/archiveWorker.ts');

/**
 * The windows of a test share a service, a workspace, and a storage folder on one virtual clock.
 */
export interface Fixture {
  readonly service: AssessmentService;
  readonly clock: VirtualClock;
  readonly traffic: Traffic;
  readonly root: string;
  readonly folder: string;
  /** Counts requests by the end of their path. */
  readonly sent: (path: string | RegExp) => number;
  /** Lets time pass until so many requests of this path were sent. */
  readonly untilSent: (path: string | RegExp, times: number) => Promise<void>;
  /** Lets time pass until the promise settles. */
  readonly passUntil: <T>(promise: Promise<T>) => Promise<T>;
  /**
   * Answers what matches by itself, instead of the service, until the returned function is called.
   */
  readonly refuse: (
    match: string | RegExp | FaultRule['match'],
    reply: number | Omit<Extract<FaultAction, { kind: 'reply' }>, 'kind'>,
  ) => () => void;
  /** Refuses every connection until the returned function is called. */
  readonly pullCable: () => () => void;
}

/** An editor window has its store, its tracker, its log, and its events. */
export interface RunWindow {
  readonly store: RunStore;
  readonly tracker: RunTracker;
  readonly lines: readonly string[];
  readonly warnings: readonly string[];
  readonly ended: readonly Run[];
  /** Replaces the token that is sent. */
  readonly setToken: (token: string | undefined) => void;
  readonly assessment: (changes?: Partial<Assessment>) => Promise<Assessment>;
  readonly start: (changes?: Partial<Assessment>) => Promise<Run>;
  /**
   * Lets time pass until the condition holds for the run, and all else that is due by then is done.
   */
  readonly until: (id: string, isReached: (run: Run) => boolean) => Promise<Run>;
  readonly untilState: <S extends RunState>(id: string, state: S) => Promise<RunIn<S>>;
  readonly untilEnded: (id: string) => Promise<Run>;
  /** Closes the window; resolves once its leases are given back. */
  readonly close: () => Promise<void>;
}

export interface WindowOptions {
  /** This clock replaces the clock of the fixture. */
  readonly clock?: Clock;
  readonly store?: (root: string, deps: { clock: Clock; log: Logger }) => RunStore;
  readonly refresh?: TokenSource['refresh'];
  /** This source replaces the token of `setToken`. */
  readonly tokenSource?: TokenSource;
  readonly deleteSource?: boolean;
  readonly random?: () => number;
  readonly idle?: IdleLimits;
  readonly saveResult?: NonNullable<RunDeps['saveResult']>;
  /** The workbench answers at once by default. */
  readonly askWorkbench?: () => Promise<unknown>;
  readonly workerFile?: string;
  readonly retainLocalDays?: number;
  readonly notes?: RunNotes | undefined;
  /** These are the passwords of the logins of its blackbox runs. */
  readonly passwords?: readonly string[];
}

export async function setUpFixture(t: Scope, options: ServiceOptions = {}): Promise<Fixture> {
  const clock = new VirtualClock();
  const traffic = watchTraffic(t);
  const base = await tempFolder(t);
  const folder = join(base, 'shop');
  await mkdir(folder);
  await writeFile(join(folder, 'app.js'), 'eval(request.body);\n');
  const service = await startService({ clock, runDurationMs: 365 * 24 * 3600 * 1000, ...options });
  t.after(() => service.close());
  const sent = (path: string | RegExp): number =>
    service.requests.filter((request) =>
      typeof path === 'string' ? request.path.endsWith(path) : path.test(request.path),
    ).length;
  const pullCable = (): (() => void) => {
    // The port refuses connections, as every address does without a network.
    const real = http.request.bind(http) as (
      url: string | URL,
      options: http.RequestOptions,
    ) => http.ClientRequest;
    const { mock: pulled } = mock.method(http, 'request', (url: string | URL, options: http.RequestOptions) =>
      real(url, { ...options, host: '127.0.0.1', port: 1, agent: false }),
    );
    return () => pulled.restore();
  };
  return {
    service,
    clock,
    traffic,
    root: join(base, 'runs'),
    folder,
    sent,
    untilSent: async (path, times) => {
      while (sent(path) < times) await clock.passUntil(clock.sleep(5_000), traffic);
    },
    passUntil: (promise) => clock.passUntil(promise, traffic),
    refuse: (match, reply) =>
      service.addFault({
        match: typeof match === 'string' || match instanceof RegExp ? { path: match } : match,
        before: { kind: 'reply', ...(typeof reply === 'number' ? { status: reply } : reply) },
      }),
    pullCable,
  };
}

export async function setUpWindow(
  t: Scope,
  options?: WindowOptions,
): Promise<{ fixture: Fixture; window: RunWindow }> {
  const fixture = await setUpFixture(t);
  return { fixture, window: openWindow(t, fixture, options) };
}

export function openWindow(t: Scope, fixture: Fixture, options: WindowOptions = {}): RunWindow {
  const { service } = fixture;
  const clock = options.clock ?? fixture.clock;
  const { random = (): number => 0.5, idle = defaultIdleLimits } = options;
  const lines: string[] = [];
  const write = (line: string): void => void lines.push(line);
  const warnings: string[] = [];
  const warn = (line: string): void => {
    lines.push(line);
    warnings.push(line);
  };
  const log: Logger = { debug: write, info: write, warn, error: write };
  const store = options.store?.(fixture.root, { clock, log }) ?? new RunStore(fixture.root, { clock, log });
  let token: string | undefined = service.token;
  const source: TokenSource = options.tokenSource ?? {
    get: () => Promise.resolve(token),
    refresh: options.refresh ?? (() => Promise.resolve(undefined)),
  };
  const passwordsOf = (input: Run['input']): readonly string[] =>
    input?.authentication === undefined ? [] : (options.passwords ?? []);
  const tracker = new RunTracker({
    store,
    clock,
    random,
    log,
    workerFile: options.workerFile ?? workerFile,
    clientFor: ({ baseUrl, organizationId, input }) => {
      const passwords = (): Promise<readonly string[]> => Promise.resolve(passwordsOf(input));
      const options = { baseUrl, organizationId, passwords, token: source };
      return new AssessmentClient({ ...options, clock, log, random, idle });
    },
    passwordsOf: ({ input }) => {
      const passwords = passwordsOf(input);
      const logins = input?.authentication?.credentials?.length ?? 0;
      return passwords.length < logins
        ? Promise.reject(new AssessmentError('noPassword'))
        : Promise.resolve(passwords);
    },
    deleteSourceAfterRun: () => options.deleteSource ?? true,
    saveResult: options.saveResult,
    askWorkbench: options.askWorkbench,
    retainLocalDays: () => options.retainLocalDays ?? 90,
    notes: options.notes,
  });
  t.after(() => tracker.dispose());
  const ended: Run[] = [];
  tracker.onDidEnd((run) => ended.push(run));

  const rest = (): Promise<void> => fixture.clock.rest(fixture.traffic);
  const until = async (id: string, isReached: (run: Run) => boolean): Promise<Run> => {
    const reached = new Promise<Run>((resolve) => {
      const look = (changed: readonly (Run | undefined)[]): void => {
        const run = changed.find((each) => each?.id === id);
        if (run === undefined || !isReached(run)) return;
        listening.dispose();
        resolve(run);
      };
      const listening = store.onDidChange(look);
      look([store.get(id)]);
    });
    const run = await fixture.passUntil(reached);
    // The change is announced before the rest of its step is done.
    await rest();
    return run;
  };
  const assessment = async (changes: Partial<Assessment> = {}): Promise<Assessment> => {
    const surroundings = { home: fixture.root, env: {} };
    const selection = await selectFiles(fixture.folder, {
      exclude: [],
      includeNestedRepositories: false,
      surroundings,
    });
    return {
      workflow: 'whitebox-assessment',
      baseUrl: service.baseUrl,
      organizationId: service.organizationId,
      language: 'english',
      webhookEndpointIds: [],
      maxArchiveBytes: 1024 ** 2,
      targets: [{ folder: fixture.folder, name: 'shop', files: { selection, archiveType: 'tar_gz' } }],
      ...changes,
    };
  };
  return {
    store,
    tracker,
    lines,
    warnings,
    ended,
    setToken: (next) => {
      token = next;
    },
    assessment,
    start: async (changes) => {
      const started = tracker.start(await assessment(changes));
      const run = await fixture.passUntil(started);
      assert.ok(run !== undefined, 'the start was given up');
      // What was announced is noted right after.
      await rest();
      return run;
    },
    until,
    untilState: async <S extends RunState>(id: string, state: S) => {
      const run = await until(id, (each) => each.state === state);
      return run as RunIn<S>;
    },
    untilEnded: (id) => until(id, (each) => isFinal(each) && !each.noticeDue),
    close: async () => {
      tracker.dispose();
      // Its lease is given back on the disk.
      await rest();
    },
  };
}
