import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { AssessmentClient } from '../../../../src/core/api/client.ts';
import { AssessmentError, type ErrorData, type ErrorKind } from '../../../../src/core/errors.ts';
import { downloadArtifacts } from '../../../../src/core/run/steps/downloadArtifacts.ts';
import type { StepDeps } from '../../../../src/core/run/steps/step.ts';
import type { RunStore } from '../../../../src/core/run/disk/runStore.ts';
import type { RunEvent } from '../../../../src/core/run/state/advance.ts';
import type { Artifact, RunIn } from '../../../../src/core/run/state/run.ts';
import { silent } from '../../../silentLog.ts';
import { runOf } from '../sampleRuns.ts';
import { VirtualClock } from '../virtualClock.ts';

const collecting = runOf.collecting as RunIn<'collecting'>;
const { signal } = new AbortController();

/**
 * The client has one answer for each artifact: a failure, or else five bytes. Lists the artifacts
 * that were asked for, each with the name of its file.
 */
function stubClient(failures: Record<string, Error | undefined>) {
  const asked: string[] = [];
  const client = {
    downloadArtifact: (_workflow: string, _runId: string, name: string, path: string) => {
      asked.push(`${name} as ${path}`);
      const failure = failures[name];
      return failure === undefined ? Promise.resolve(5) : Promise.reject(failure);
    },
  } as unknown as AssessmentClient;
  return { client, asked };
}

const failing = (kind: ErrorKind, data: ErrorData = {}): AssessmentError => new AssessmentError(kind, data);
const findings: Artifact = { name: 'findings', file: 'findings.json', bytes: 5 };
const report: Artifact = { name: 'report', file: 'report.md', bytes: 5 };

const hourMs = 3600_000;

/** Tries once to download these artifacts, and keeps their files in no folder. */
async function download(
  run: RunIn<'collecting'>,
  failures: Record<string, Error | undefined>,
  clock = new VirtualClock(),
  firstSeen = new Map<string, number>(),
) {
  const { client, asked } = stubClient(failures);
  const saved: Artifact[] = [];
  const store = {
    folderOf: () => '',
    apply: (_id: string, event: RunEvent) => {
      if (event.type === 'artifactDownloaded') saved.push(event.artifact);
      return Promise.resolve(run);
    },
  } as unknown as RunStore;
  const deps = { store, clientFor: () => client, clock, log: silent, signal, firstSeen };
  const [outcome] = await Promise.allSettled([downloadArtifacts(run, deps as unknown as StepDeps)]);
  const failure = outcome.status === 'rejected' ? (outcome.reason as AssessmentError) : undefined;
  return { failure, asked, saved };
}

describe('the artifacts of a run', () => {
  test('are downloaded in the order of the service, without those that are here', async () => {
    const all = await download(collecting, {});
    assert.deepEqual(all.saved, [findings, report]);
    assert.deepEqual(all.asked, ['findings as findings.json', 'report as report.md']);
    const rest = await download({ ...collecting, artifacts: [report] }, {});
    assert.deepEqual(rest.saved, [findings]);
  });

  test('without a known role have a file named by the hash of their name', async () => {
    const run = { ...collecting, exit: { ...collecting.exit, artifacts: ['../trace'] } };
    const { asked } = await download(run, {});
    assert.match(asked[0] ?? '', /^..\/trace as artifact-[0-9a-f]{32}$/);
  });

  for (const kind of ['rejected', 'tooLarge', 'insecureUrl'] as const)
    test(`are given up at once after ${kind}`, async () => {
      const { saved } = await download(collecting, { findings: failing(kind) });
      assert.deepEqual(saved, [{ name: 'findings', failure: { kind } }, report]);
    });

  for (const kind of ['unauthorized', 'notSignedIn', 'tokenCommand', 'diskFull', 'storage'] as const)
    test(`wait for a person after ${kind}`, async () => {
      const { failure, asked } = await download(collecting, { findings: failing(kind) });
      assert.equal(failure?.kind, kind);
      assert.equal(asked.length, 1);
    });

  for (const [tries, jumpHours, isGivenUp] of [
    [['notFound 0', 'forbidden 5.9'], 0, false],
    [['notFound 0', 'addressRefused 3', 'conflict 6'], 0, true],
    [['notFound 0', 'forbidden 0.4'], 99, false],
    [['badResponse 0', 'badResponse 0.5'], 99, true],
    [['unauthorized 0', 'forbidden 7'], 0, false],
    [['notFound 0', 'serverError 3', 'notFound 8.9'], 0, false],
    [['notFound 0', 'proxy 3', 'notFound 8.9', 'notFound 9.4'], 0, true],
    [['notFound 0', 'tls 5', 'notFound 6'], 0, false],
    [['serverError 0', 'serverError 9', 'serverError 99'], 0, false],
    [['connectionLost 0', 'intercepted 9', 'connectionLost 99'], 0, false],
    [['addressRefused 0 page', 'addressRefused 9 page', 'addressRefused 99 page'], 0, false],
  ] as const)
    test(`F67 are ${isGivenUp ? 'lost' : 'due'} after ${tries.join(', ')} h, ${jumpHours} h ahead, beside a flaky one`, async () => {
      const [clock, firstSeen] = [new VirtualClock(), new Map<string, number>()];
      const [began, exitedAt, saved] = [clock.monotonic(), clock.now(), [] as Artifact[]];
      clock.moveWall(jumpHours * hourMs);
      for (const [kind, hours, page] of tries.map(
        (each) => each.split(' ') as [ErrorKind, string, string?],
      )) {
        clock.advance(began + Number(hours) * hourMs - clock.monotonic());
        const failures = {
          findings: failing(kind, { isPage: page !== undefined }),
          report: failing('timeout'),
        };
        saved.push(...(await download({ ...collecting, exitedAt }, failures, clock, firstSeen)).saved);
      }
      assert.deepEqual(
        saved.map(({ name }) => name),
        isGivenUp ? ['findings'] : [],
      );
    });

  test('are tried again after the longest wait of several, and none is asked for after a rate limit', async () => {
    const of = (retryAfterMs?: number): AssessmentError => failing('serverError', { retryAfterMs });
    const waits = async (first?: number, second?: number): Promise<number | undefined> => {
      const { failure } = await download(collecting, { findings: of(first), report: of(second) });
      return failure?.data.retryAfterMs;
    };
    assert.deepEqual([await waits(1, 2), await waits(2, 1), await waits(undefined, 3)], [2, 2, 3]);
    const limited = await download(collecting, { findings: failing('rateLimited') });
    assert.deepEqual([limited.failure?.kind, limited.asked.length], ['rateLimited', 1]);
  });

  test('of an unexpected error keep none', async () => {
    const { failure, saved } = await download(collecting, { findings: new TypeError('invented') });
    assert.deepEqual([String(failure), saved], ['TypeError: invented', []]);
  });
});
