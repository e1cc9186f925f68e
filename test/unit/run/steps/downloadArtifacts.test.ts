import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { AssessmentClient } from '../../../../src/core/api/client.ts';
import { AssessmentError, type ErrorData, type ErrorKind } from '../../../../src/core/errors.ts';
import { downloadAgain, downloadArtifacts } from '../../../../src/core/run/steps/downloadArtifacts.ts';
import type { RunWithResults } from '../../../../src/core/run/state/artifacts.ts';
import type { RunStore } from '../../../../src/core/run/disk/runStore.ts';
import type { StepDeps } from '../../../../src/core/run/steps/step.ts';
import type { Artifact, RunIn, Trouble } from '../../../../src/core/run/state/run.ts';
import { runOf } from '../sampleRuns.ts';
import { VirtualClock } from '../virtualClock.ts';

const collecting = runOf.collecting as RunIn<'collecting'>;
const { signal } = new AbortController();

/** A client with one answer per artifact: a failure, or else five bytes. Lists the artifacts that were asked for, each with the name of its file. */
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

/** Keeps its files in no folder. */
const depsFor = (client: AssessmentClient, save: StepDeps['save'] = () => Promise.resolve(collecting)) => ({
  store: { folderOf: () => '' } as unknown as RunStore,
  clientFor: () => client,
  clock: new VirtualClock(),
  signal,
  save,
});

async function download(run: RunIn<'collecting'>, failures: Record<string, Error | undefined>) {
  const { client, asked } = stubClient(failures);
  const saved: string[] = [];
  const save: StepDeps['save'] = (event) => {
    if (event.type === 'artifactDownloaded') saved.push(event.artifact.name);
    return Promise.resolve(run);
  };
  const [outcome] = await Promise.allSettled([downloadArtifacts(run, depsFor(client, save))]);
  const failure = outcome.status === 'rejected' ? (outcome.reason as AssessmentError) : undefined;
  return {
    artifacts: outcome.status === 'fulfilled' ? outcome.value.artifacts : undefined,
    failure,
    asked,
    saved,
  };
}

const trouble = (kind: ErrorKind, times: number): Trouble => ({
  kind,
  times,
  since: 1,
  failures: 1,
  tokens: 0,
});

describe('the artifacts of a run', () => {
  test('are downloaded in the order of the service, without those that are here', async () => {
    const all = await download(collecting, {});
    assert.deepEqual(all.artifacts, [findings, report]);
    assert.deepEqual([all.asked, all.saved], [['findings as findings.json', 'report as report.md'], ['findings', 'report']]); // prettier-ignore
    const rest = await download({ ...collecting, artifacts: [report] }, {});
    assert.deepEqual(rest.artifacts, [findings, report]);
    assert.deepEqual(rest.saved, ['findings']);
  });

  test('without a known role have a file named by the hash of their name', async () => {
    const run = { ...collecting, exit: { ...collecting.exit, artifacts: ['../trace'] } };
    const { asked } = await download(run, {});
    assert.match(asked[0] ?? '', /^..\/trace as artifact-[0-9a-f]{32}$/);
  });

  for (const kind of ['rejected', 'tooLarge', 'insecureUrl'] as const)
    test(`are given up at once after ${kind}`, async () => {
      const { artifacts, saved } = await download(collecting, { findings: failing(kind) });
      assert.deepEqual(artifacts, [{ name: 'findings', failure: { kind } }, report]);
      assert.deepEqual(saved, ['report']);
    });

  for (const kind of ['unauthorized', 'notSignedIn', 'tokenCommand', 'diskFull', 'storage'] as const)
    test(`wait for a person after ${kind}, however often that was tried`, async () => {
      const run = { ...collecting, trouble: trouble(kind, 99) };
      const { failure, asked } = await download(run, { findings: failing(kind) });
      assert.equal(failure?.kind, kind);
      assert.equal(asked.length, 1);
    });

  for (const [kind, before, times, isGivenUp] of [
    ['notFound', undefined, 0, false],
    ['notFound', 'notFound', 19, false],
    ['notFound', 'notFound', 20, true],
    ['tls', 'addressRefused', 20, true],
    ['notFound', 'serverError', 20, false],
    ['notFound', 'unauthorized', 20, false],
    ['serverError', 'notFound', 20, false],
    ['serverError', 'serverError', 99, false],
  ] as const)
    test(`F67 ${isGivenUp ? 'end' : 'stay due'} after ${kind} and ${String(times)} × ${before ?? 'nothing'}`, async () => {
      const run = { ...collecting, trouble: before && trouble(before, times) };
      const { artifacts, failure, saved } = await download(run, { findings: failing(kind) });
      assert.deepEqual(saved, ['report']);
      if (isGivenUp) assert.deepEqual(artifacts, [{ name: 'findings', failure: { kind } }, report]);
      else assert.equal(failure?.kind, kind);
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
    const bug = new TypeError('invented');
    const { client } = stubClient({ findings: bug });
    const deps = depsFor(client);
    await assert.rejects(downloadArtifacts(collecting, deps), bug);
    await assert.rejects(downloadAgain(runOf.succeeded as RunWithResults, deps), bug);
  });

  test('are all asked for again, none after a rate limit, and earlier copies stay', async () => {
    const run = { ...(runOf.succeeded as RunWithResults), artifacts: [report] } as RunWithResults;
    const clock = new VirtualClock();
    const again = (failures: Record<string, Error>) =>
      downloadAgain(run, { ...depsFor(stubClient(failures).client), clock });
    const at = clock.now();
    const missing = await again({ findings: failing('notFound'), report: failing('forbidden') });
    assert.equal(missing.failure?.kind, 'notFound');
    assert.deepEqual(missing.artifacts, [{ name: 'findings', failure: { kind: 'notFound' } }, report]);
    const second = await again({ findings: failing('notFound') });
    assert.deepEqual(second.artifacts[1], { ...report, at });
    const limited = await again({ findings: failing('rateLimited') });
    assert.deepEqual(limited.artifacts, [{ name: 'findings', failure: { kind: 'rateLimited' } }, report]);
  });
});
