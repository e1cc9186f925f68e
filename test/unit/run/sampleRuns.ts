import type { Description } from '../../../src/core/api/schema.ts';
import { advance, type RunEvent } from '../../../src/core/run/state/advance.ts';
import type { Run, RunIn, RunState } from '../../../src/core/run/state/run.ts';
import { toAnswered } from '../../../src/core/run/steps/poll.ts';

const archive = {
  file: 'a.tar.gz',
  type: 'tar_gz',
  bytes: 5,
  sha256: 'ab',
  sourceBytes: 9,
} as const;
const coverage = { uploaded: 1, excluded: {}, excludedFolders: 0, notPackaged: 0 };

/** The invented run has one packed target, and is at its beginning. */
export const uploadingRun: RunIn<'preparing'> = {
  version: 1,
  state: 'preparing',
  id: '20300101000000-0badcafe',
  workflow: 'whitebox-assessment',
  // Nothing listens there, and no DNS lookup is needed.
  baseUrl: 'http://127.0.0.1:9/v1',
  organizationId: 'invented-organization',
  language: 'english',
  webhookEndpointIds: [],
  targets: [{ folder: '/home/somebody/shop', name: 'shop', archive, coverage }],
  createdAt: 1,
  noticeDue: false,
};

export const success: Description = {
  status: 'EXITED',
  output: {
    kind: 'SUCCESS',
    successOutput: { report: { artifact_name: 'report' }, findings: { artifact_name: 'findings' } },
  },
  artifacts: [{ name: 'findings' }, { name: 'report' }],
};
export const stillRunning: Description = { status: 'RUNNING' };
export const emptyExit: Description = { status: 'EXITED' };
export const aborted: Description = {
  status: 'EXITED',
  output: { kind: 'ABORTED', abortedReason: { code: 'invented' } },
};

export function answered(
  description: Description,
  at: number,
  run: Pick<Run, 'workflow'> = uploadingRun,
): Extract<RunEvent, { type: 'answered' }> {
  return { ...toAnswered(run, description), at };
}

export function asJournaled<T>(run: T): T {
  return JSON.parse(JSON.stringify(run)) as T;
}

const at = 10;
const launch: RunEvent[] = [
  { type: 'reserved', target: 0, fileId: 'file-1', at },
  { type: 'confirmed', target: 0, at },
  { type: 'dispatchIntended', at },
  { type: 'dispatched', intendedAt: at, runId: 'run-1', at },
];

function after(run: Run, ...events: RunEvent[]): Run {
  return events.reduce(advance, run);
}

const running = after(uploadingRun, ...launch);
const dispatching = after(uploadingRun, ...launch.slice(0, 3));
const collecting = after(running, answered(success, at));
const lost = { kind: 'connectionLost' } as const;

export const uploadedRun = after(uploadingRun, ...launch.slice(0, 2));

/** Events lead to one run of each state. */
export const runOf: Readonly<Record<RunState, Run>> = {
  preparing: uploadingRun,
  dispatching,
  unknown: after(dispatching, { type: 'dispatchLost', reason: lost, at }),
  running,
  cancelling: after(running, { type: 'cancelSent', sentAt: at, answer: 'accepted', at }),
  collecting,
  succeeded: after(collecting, { type: 'collected', at }),
  aborted: after(running, answered(aborted, at), { type: 'collected', at }),
  cancelled: after(uploadingRun, { type: 'abandoned', at }),
  failed: after(uploadingRun, { type: 'failed', failure: lost, at }),
  imported: {
    ...uploadingRun,
    state: 'imported',
    baseUrl: '',
    organizationId: '',
    targets: [{ folder: '/home/somebody/shop', name: 'shop' }],
    endedAt: 1,
    importedFrom: 'findings.sarif',
    artifacts: [{ name: 'findings', file: 'findings.json', bytes: 2 }],
  },
};

/** There is one event of each type, and of `answered` one for each kind of answer. */
export const eventOf = {
  reserved: { type: 'reserved', target: 0, fileId: 'file-2', at },
  confirmed: launch[1]!,
  dispatchIntended: launch[2]!,
  dispatched: { type: 'dispatched', intendedAt: at, runId: 'run-2', at },
  'dispatched for another intent': { type: 'dispatched', intendedAt: 9, runId: 'run-3', at },
  dispatchStopped: { type: 'dispatchStopped', intendedAt: at, by: 'user', at },
  'dispatchStopped for another intent': { type: 'dispatchStopped', intendedAt: 9, by: 'user', at },
  'dispatchStopped by the window': { type: 'dispatchStopped', intendedAt: at, by: 'windowClose', at },
  takenOver: { type: 'takenOver', at },
  dispatchLost: { type: 'dispatchLost', reason: lost, at },
  'answered RUNNING': answered(stillRunning, 20),
  'answered SUCCESS': answered(success, at),
  'answered ABORTED': answered(aborted, at),
  stepFailed: { type: 'stepFailed', failure: lost, at },
  'stepFailed with Retry-After': { type: 'stepFailed', failure: lost, retryAt: 60_000, at },
  cancelSent: { type: 'cancelSent', sentAt: at, at },
  'cancelSent and refused': { type: 'cancelSent', sentAt: at, answer: 'refused', at },
  'cancelSent and accepted': { type: 'cancelSent', sentAt: at, answer: 'accepted', at },
  artifactDownloaded: {
    type: 'artifactDownloaded',
    artifact: { name: 'report', file: 'report.md', bytes: 3 },
    at,
  },
  collected: { type: 'collected', at },
  failed: { type: 'failed', failure: lost, at },
  'failed for another intent': { type: 'failed', intendedAt: 9, failure: lost, at },
  abandoned: { type: 'abandoned', at },
  uploadRemoved: { type: 'uploadRemoved', target: 0, state: 'deleted', at },
  archivesRemoved: { type: 'archivesRemoved', at },
  endNotified: { type: 'endNotified', at },
} as const satisfies Record<string, RunEvent>;

/** Says whether something holds for a run so many milliseconds after `at`. */
export function holdsAfter(
  holds: (run: Run, now: number) => boolean,
  run: Run,
  at: number,
  ms: readonly number[],
): boolean[] {
  return ms.map((passed) => holds(run, at + passed));
}
