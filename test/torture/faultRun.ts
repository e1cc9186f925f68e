import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { defaultIdleLimits } from '../../src/core/api/http.ts';
import { AssessmentError } from '../../src/core/errors.ts';
import { staleMs } from '../../src/core/run/disk/lease.ts';
import { isFinal, type Run } from '../../src/core/run/state/run.ts';
import { type Fixture, openWindow, type RunWindow } from '../unit/run/runWindow.ts';
import type { Scope } from '../unit/run/tempFolder.ts';
import { randomOf } from './seededValues.ts';
import { type Act, longestRetryAfterMs, type Plan } from './plan.ts';
import { judge } from './verdict.ts';
import { forgetWaits, tooEarly, watchWire } from './wire.ts';

const dayMs = 24 * 3_600_000;
/** A run may take this long to end after all faults are gone, including its longest wait. */
const restMs = 3_600_000;
const longestBackoffMs = 15 * 60_000;
/** A run is polled no more often in its first day. */
const maxPolls = 240;
/** These idle limits are real milliseconds. */
const idle = { jsonMs: 400, transferMs: 400 };

export interface PlanOutcome {
  readonly state: Run['state'] | 'nothing left';
  readonly problems: readonly string[];
}

/** Plays a plan through in a fixture shared with other plans. */
export async function playPlan(
  scope: Scope,
  shared: Fixture,
  plan: Plan,
  workerFile?: string,
): Promise<PlanOutcome> {
  const { service, clock } = shared;
  const fixture: Fixture = { ...shared, root: join(shared.root, String(plan.seed)) };
  await mkdir(fixture.root, { recursive: true });
  const before = {
    runs: service.runs().length,
    files: service.files().length,
    sent: service.requests.length,
  };
  const random = randomOf(plan.seed + 1);
  const windows: RunWindow[] = [];
  const known = new Set<string>();
  const under = new Set<Promise<unknown>>();
  const stop = new AbortController();
  let closed = 0;
  let isHealed = false;
  let token = service.token;

  const open = (): RunWindow => {
    const window = openWindow(scope, fixture, {
      deleteSource: plan.deleteSource,
      random,
      idle: plan.faults.some(({ before: fault }) => fault?.kind === 'stall') ? idle : defaultIdleLimits,
      ...(plan.hasTokenCommand ? { refresh: () => Promise.resolve(token) } : {}),
      ...(workerFile === undefined ? {} : { workerFile }),
    });
    window.setToken(token);
    forgetWaits(sent);
    window.store.onDidChange(([run]) => {
      for (const { upload } of run?.targets ?? []) if (upload !== undefined) known.add(upload.fileId);
    });
    windows.push(window);
    return window;
  };
  const alongside = (work: Promise<unknown> | undefined): void => {
    if (work === undefined) return;
    const noted = work.catch(() => undefined).finally(() => under.delete(noted));
    under.add(noted);
  };
  const remote = (): ReturnType<typeof service.runs> => service.runs().slice(before.runs);
  const exitAll = (): Promise<unknown> =>
    Promise.all(
      remote().map(async ({ id, status }) => {
        if (status === 'RUNNING') await service.finishRun(id, plan.outcome);
      }),
    );

  const acts: Readonly<Record<Act['kind'], () => void>> = {
    openWindow: () => alongside(open().tracker.resume()),
    closeOwner: () => {
      closed += 1;
      windows.shift()?.tracker.dispose();
    },
    stopStart: () => stop.abort(),
    cancel: () => {
      const window = windows.at(-1);
      for (const { id } of window?.store.all() ?? []) alongside(window?.tracker.cancel(id));
    },
    checkNow: () => alongside(windows.at(-1)?.tracker.checkNow()),
    expireToken: () => {
      token = `invented-token-${String(plan.seed)}`;
      service.setTokens([token]);
    },
    sleep: () => clock.moveWall(Math.ceil(random() * 8) * 3_600_000),
    clockForward: () => clock.moveWall(dayMs),
    clockBack: () => clock.moveWall(-dayMs),
  };
  const act = ({ kind }: Act): void => {
    if (!isHealed) acts[kind]();
  };
  const sent = watchWire(scope, clock, (all) => {
    // The act comes between this request and the next one.
    for (const each of plan.acts) if (each.afterRequests === all.length && !isHealed) setImmediate(act, each);
    const describes = all.filter(({ path }) => path.endsWith('/describe')).length;
    if (all.at(-1)?.path.endsWith('/describe') === true && describes === plan.describesBeforeExit + 1)
      alongside(exitAll());
  });

  const first = open();
  const heal = plan.faults.map((rule) => service.addFault(rule));
  const started = first.tracker.start(await first.assessment(), { signal: stop.signal });
  await pass(
    fixture,
    started.catch(() => undefined),
    2 * dayMs,
  );
  await pass(fixture, clock.sleep(plan.troubledMs));

  // The faults end, and VS Code is started again.
  isHealed = true;
  for (const each of heal) each();
  service.setTokens([token]);
  for (const window of windows) window.setToken(token);
  await exitAll();
  const last = open();
  await pass(fixture, last.tracker.resume());
  for (const window of windows) alongside(window.tracker.tokenChanged());
  if (plan.checksByHand) await pass(fixture, last.tracker.checkNow());
  // The user does not know about waits.
  forgetWaits(sent);
  const intents = 1 + (await decide(fixture, last, plan, () => remote().at(-1)?.id));
  await exitAll();
  await pass(fixture, Promise.all(last.store.all().map(({ id }) => reached(last, id, isAtRest))));
  // Files that could not be deleted during the faults are deleted after the wait in the journal.
  for (const window of windows) window.tracker.dispose();
  const next = open();
  await pass(fixture, next.tracker.resume());
  await pass(fixture, Promise.all(under));
  await pass(fixture, clock.sleep(longestRetryAfterMs + longestBackoffMs));
  await pass(fixture, next.tracker.resume());
  await pass(fixture, clock.sleep(10_000));

  const affectsDispatch = plan.faults.some(
    ({ match }) => match.path === undefined || match.path === '/dispatch',
  );
  const describes = sent.filter(({ path }) => path.endsWith('/describe')).length;
  const problems = await judge({
    root: fixture.root,
    journals: next.store.all(),
    remote: remote(),
    files: service.files().slice(before.files),
    requests: service.requests.slice(before.sent),
    known,
    intents,
    deleteSource: plan.deleteSource,
    wasInterrupted: closed > 0 || stop.signal.aborted,
    mayLoseDispatch: affectsDispatch || closed > 0,
  });
  service.setTokens([service.token]);
  const log = windows.flatMap(({ lines }) => lines);
  const all = [
    ...problems,
    ...tooEarly(sent),
    ...(describes > maxPolls ? [`${String(describes)} describes`] : []),
  ];
  return {
    state: next.store.all()[0]?.state ?? 'nothing left',
    problems: all.map((problem) => `${problem}\n${log.join('\n')}`),
  };
}

/** Lets time pass until the promise settles, at most `atMostMs`. */
async function pass<T>({ clock, traffic }: Fixture, promise: Promise<T>, atMostMs = restMs): Promise<T> {
  const done = new AbortController();
  const late = clock.sleep(atMostMs, done.signal).then(
    () => Promise.reject(new Error(`not done after ${String(atMostMs / 60_000)} virtual minutes`)),
    () => promise,
  );
  try {
    return await clock.passUntil(Promise.race([promise, late]), traffic);
  } finally {
    done.abort();
  }
}

function isAtRest(run: Run): boolean {
  return run.state === 'unknown' || (isFinal(run) && !run.noticeDue);
}

function reached(window: RunWindow, id: string, isReached: (run: Run) => boolean): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      const run = window.store.get(id);
      if (run !== undefined && !isReached(run)) return;
      listening.dispose();
      resolve();
    };
    const listening = window.store.onDidChange(look);
    look();
  });
}

/**
 * Applies the user's decision about a lost dispatch; resolves to the number of dispatches it
 * requested.
 */
async function decide(
  fixture: Fixture,
  { store, tracker }: RunWindow,
  plan: Plan,
  lastRunId: () => string | undefined,
): Promise<number> {
  const [run] = store.all();
  if (run?.state !== 'unknown') return 0;
  const runId = lastRunId();
  const settle = (): Promise<void> =>
    pass(fixture, runId === undefined ? tracker.abandon(run.id) : tracker.giveRunId(run.id, runId));
  const resend = (): Promise<unknown> =>
    pass(
      fixture,
      tracker.resend(run.id).catch(async (error: unknown) => {
        if (!(error instanceof AssessmentError) || error.kind !== 'busyElsewhere') throw error;
        // The window that lost the answer still holds the run: the user retries.
        await fixture.clock.sleep(2 * staleMs);
        return tracker.resend(run.id);
      }),
    );
  switch (plan.onUnknown) {
    case 'leave':
      return 0;
    case 'giveRunId':
      await settle();
      return 0;
    case 'resendRefused': {
      const heal = fixture.service.addFault({
        match: { path: '/dispatch' },
        before: { kind: 'reply', status: plan.seed % 2 === 0 ? 403 : 429 },
      });
      await resend();
      heal();
      await settle();
      return 0;
    }
    case 'abandon':
      await pass(fixture, tracker.abandon(run.id));
      return 0;
    case 'resend':
      await resend();
      return 1;
    case 'resendAndLose': {
      const heal = fixture.service.addFault({ match: { path: '/dispatch' }, after: { kind: 'reset' } });
      await resend();
      heal();
      await pass(fixture, tracker.abandon(run.id));
      return 1;
    }
  }
}
