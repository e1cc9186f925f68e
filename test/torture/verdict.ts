import { readdir } from 'node:fs/promises';
import { isFinal, type Run } from '../../src/core/run/state/run.ts';
import type { InputFile } from '../service/inputFiles.ts';
import type { LoggedRequest } from '../service/httpServer.ts';
import type { RunState } from '../service/runs/run.ts';

/** For one start, this is the final state of client and service. */
export interface Evidence {
  readonly root: string;
  readonly journals: readonly Run[];
  /** The service has these runs and requests of this start. */
  readonly remote: readonly RunState[];
  readonly files: readonly InputFile[];
  readonly requests: readonly LoggedRequest[];
  /** These IDs of files were in a journal. */
  readonly known: ReadonlySet<string>;
  /** So many dispatches were requested. */
  readonly intents: number;
  readonly deleteSource: boolean;
  /** If this is true, a window closed early. */
  readonly wasInterrupted: boolean;
  /** If this is true, a fault can leave the arrival of a dispatch unknown. */
  readonly mayLoseDispatch: boolean;
}

/** Says what is not as it must be. */
export async function judge(evidence: Evidence): Promise<string[]> {
  const { journals } = evidence;
  return [
    ...(journals.length > 1 ? [`there are ${String(journals.length)} journals`] : []),
    ...dispatches(evidence),
    ...journals.flatMap((run) => untruths(run, evidence)),
    ...leftOnService(evidence),
    ...(await leftOnDisk(evidence)),
  ];
}

function dispatches({ requests, remote, intents }: Evidence): string[] {
  const perhaps = requests.filter(isPerhapsDispatched);
  return [
    ...(perhaps.length > intents
      ? [`${String(perhaps.length)} dispatches may have been accepted for ${String(intents)} intents`]
      : []),
    ...(remote.length > intents ? [`${String(remote.length)} runs were started`] : []),
  ];
}

/** The journal of a run and the service may contradict each other. */
function untruths(run: Run, { remote, requests, mayLoseDispatch }: Evidence): string[] {
  const its = 'runId' in run ? remote.find(({ id }) => id === run.runId) : undefined;
  const exit = its?.output as { kind?: string } | undefined;
  const claim = (holds: boolean): string[] =>
    holds ? [] : [`${run.state} is not what the service knows: ${JSON.stringify({ its, run })}`];
  switch (run.state) {
    case 'succeeded':
      return claim(exit?.kind === 'SUCCESS' && its?.status === 'EXITED');
    case 'aborted':
      return claim(exit?.kind === 'ABORTED');
    case 'cancelled':
      // A cancellation whose answer was lost may have been accepted.
      if (run.runId !== undefined)
        return claim(its?.status === 'EXITED' && (its.cancelRequested || requests.some(isPerhapsCancelled)));
      // The run was abandoned before the dispatch, or by a user who knew that it may have arrived.
      return claim(remote.length === 0 || mayLoseDispatch);
    case 'failed':
      if (run.runId !== undefined) return claim(its?.status === 'EXITED' && its.output === undefined);
      return claim(remote.length === 0);
    case 'unknown':
      return claim(mayLoseDispatch);
    default:
      return [`${run.state} has not come to rest: ${JSON.stringify(run)}`];
  }
}

function isPerhapsDispatched({ path, status }: LoggedRequest): boolean {
  return path.endsWith('/dispatch') && mayHaveArrived(status);
}

function isPerhapsCancelled({ path, status }: LoggedRequest): boolean {
  return path.endsWith('/cancel') && mayHaveArrived(status);
}

function leftOnService({
  journals,
  files,
  requests,
  known,
  deleteSource,
  wasInterrupted,
}: Evidence): string[] {
  const [run] = journals;
  const mayStay = (file: InputFile): boolean => {
    // The ID of a lost reply is unknown: the service cannot list files.
    if (!known.has(file.fileId))
      return file.state === 'reserved' && (wasInterrupted || requests.some(isLostReservation));
    if (run !== undefined && !isFinal(run)) return true;
    // A false "not found" of the service is trusted.
    if (file.state === 'confirmed' && requests.some(isDenial)) return true;
    const believed = run?.targets.find(({ upload }) => upload?.fileId === file.fileId)?.upload?.state;
    // A confirmation refused as a conflict counts as done before.
    return believed === 'confirmed' && file.state !== 'reserved' && !deleteSource;
  };
  return files
    .filter((file) => !['cancelled', 'deleted', 'expired'].includes(file.state) && !mayStay(file))
    .map(({ fileId, state }) => `${fileId} is still ${state} at ${run?.state ?? 'no run'}`);
}

function isDenial({ path, status }: LoggedRequest): boolean {
  return path.endsWith('/delete') && status === 404;
}

function isLostReservation({ path, status }: LoggedRequest): boolean {
  return path.endsWith('/get-upload-url') && mayHaveArrived(status);
}

/** Only a clear refusal shows that a request has no effect. */
function mayHaveArrived(status: number | undefined): boolean {
  return status === undefined || status < 400 || status >= 500;
}

async function leftOnDisk({ root, journals }: Evidence): Promise<string[]> {
  const names = await readdir(root, { recursive: true }).catch(() => []);
  // The source of findings is read from the archive once there are findings.
  const needsArchive = journals.some(
    (run) =>
      !isFinal(run) || ('artifacts' in run && run.artifacts?.some(({ failure }) => failure !== undefined)),
  );
  const isWaste = (name: string): boolean =>
    /\.(?:tmp|part)$|\.damaged-\d+$/u.test(name) || (name.includes('archive-') && !needsArchive);
  const folders = names.filter((name) => !/[\\/]/u.test(name));
  const orphans = folders.filter((folder) => !journals.some(({ id }) => id === folder));
  return [
    ...names.filter(isWaste).map((name) => `${name} was left`),
    ...orphans.map((folder) => `${folder} has no journal`),
  ];
}
