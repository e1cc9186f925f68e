import { join } from 'node:path';
import { readArtifactFile } from '../../features/artifactFile.ts';
import { readScanProgress } from '../../features/scanProgress.ts';
import { knownError } from '../../errors.ts';
import { fileStampOf } from '../../files.ts';
import { isSamePath } from '../../paths.ts';
import { type Failure, type Run, toFailure } from '../../run/state/run.ts';
import { type Location, type ReportedFinding, splitReported } from '../finding.ts';
import { fingerprintOf, quoteKeyOf, reportKey } from '../identity.ts';
import { findingsStampOf, readFindings } from '../parse/readFindings.ts';
import { checkEvidence, type Evidence, type KnownEvidence, type RunSource } from '../location/evidence.ts';
import { findUploaded, type UploadPaths } from '../location/resolver.ts';
import {
  createDecode,
  type Encodings,
  keepSource,
  readUploaded,
  type UploadedFile,
  utf8Only,
} from '../location/uploadedFiles.ts';
import { compareFindings, type ComparedRun, type FoundBefore } from './compareRuns.ts';
import { laterPathsIn, uniquePaths } from './match.ts';
import { factsOf, newHead, type ResultFinding, type ResultHead, type RunResult } from './result.ts';
import { isOfLaterVersion, readSaved, resultName, writeDetails, writeResult } from './resultFile.ts';

/**
 * `workOut` works out what a run found. It keeps the texts of uploaded files that locations point
 * at, and looks up lines and quotes in them. Names and verdicts depend on earlier results.
 */

export interface WorkOut {
  readonly run: Run;
  readonly runsFolder: string;
  /** There is an entry for each folder of the run, then one for the baseline. */
  readonly before?: readonly (Run | undefined)[];
  readonly skipped?: ResultHead['skipped'];
  readonly continued?: Run | undefined;
  /** These results could not be saved. */
  readonly kept?: readonly RunResult[];
  readonly encodings?: Encodings;
  readonly isReadOnly: boolean;
}

/** Further absent findings are only counted. */
const maxAbsent = 10_000;
/** Another window may work out the same run at the same time. */
const maxTries = 3;

export interface WorkedOut {
  readonly unsaved?: RunResult;
  /** It tells why not all texts could be kept. */
  readonly notSaved: Failure | undefined;
}

export async function workOut(task: WorkOut): Promise<WorkedOut> {
  const { run, runsFolder, skipped = [], kept = [], encodings = utf8Only } = task;
  const runFolder = join(runsFolder, run.id);
  const isReadOnly = task.isReadOnly || (await isOfLaterVersion(runFolder));
  const fileStamp = (await findingsStampOf(run, runFolder)) ?? '';
  const uploaded = await readUploaded(run, runFolder);
  const { findings: reported, cut, file } = await readFindings(run, runFolder);
  const decode = createDecode(encodings);
  const locations = reported.flatMap((each) => each.locations);
  const paths = findUploaded(run.targets, uploaded, locations);
  const source = { run, runFolder, uploaded, uploadedFile: paths.uploadedFile, decode };
  const onlyCopies = uploaded.map((files) => files && uniquePaths(files, ({ sha256 }) => sha256));
  const isOnlyCopy = ({ target, sha256 }: UploadedFile): boolean =>
    onlyCopies[target]?.get(sha256) !== undefined;
  const own = reported.map((each) => toOwn(each, file, run, paths, isOnlyCopy));
  const pointedAt = own.flatMap((each) => each.uploaded);
  const notSaved = isReadOnly
    ? undefined
    : await keepSource(run, runFolder, pointedAt).then(
        () => undefined,
        (error: unknown) => toFailure(knownError(error)),
      );
  const before = await readBefore(task);
  const compared = {
    ...{ run, runsFolder, uploaded, decode, cut },
    laterPathOf: laterPathsIn(run, uploaded),
    ...(await readProgress(task)),
  };
  for (let tries = 1; ; tries += 1) {
    const savedStamp = await fileStampOf(join(runFolder, resultName));
    const former = kept.find(({ head }) => head.id === run.id) ?? (await readSaved(runFolder));
    const anchored = await anchor(own, reported, source, former);
    const { findings, absent } = await compareFindings(compared, anchored, {
      ...before.found,
      former: former ?? { findings: [], absent: [] },
    });
    const listed = absent.slice(0, maxAbsent);
    const head = newHead({
      ...{ id: run.id, facts: factsOf(run), fileStamp, file, cut, ...before.head },
      skipped,
      knowsUploaded: uploaded.map((files) => files !== undefined),
      unlisted: before.head.unlisted + absent.length - listed.length,
      counts: { findings: findings.length, absent: listed.length },
    });
    const result = { head, findings, absent: listed };
    if (isReadOnly) return { unsaved: result, notSaved };
    try {
      await writeDetails(runFolder, file, reported);
      // Findings that another window saved meanwhile keep their names.
      if ((await fileStampOf(join(runFolder, resultName))) !== savedStamp && tries < maxTries) continue;
      await writeResult(runFolder, result);
      return { notSaved };
    } catch {
      return { unsaved: result, notSaved };
    }
  }
}

export interface AskedFindings {
  readonly run: Run;
  readonly file: string;
  readonly indexes: ReadonlySet<number>;
  readonly isReadOnly: boolean;
}

/**
 * Returns an empty list if the findings file has been replaced. If possible, saves all details
 * again: their file may be missing or damaged.
 */
export async function readReported(
  runFolder: string,
  { run, file, indexes, isReadOnly }: AskedFindings,
): Promise<readonly ReportedFinding[]> {
  const read = await readFindings(run, runFolder);
  if (read.file !== file) return [];
  if (!isReadOnly && !(await isOfLaterVersion(runFolder)))
    await writeDetails(runFolder, file, read.findings).catch(() => undefined); // They are read again next time.
  return read.findings.filter(({ index }) => indexes.has(index));
}

function toOwn(
  reported: ReportedFinding,
  file: string,
  run: Run,
  { uploadPathOf, uploadedFile }: UploadPaths,
  isOnlyCopy: (uploaded: UploadedFile) => boolean,
): ResultFinding {
  const { finding } = splitReported(reported);
  const { folder, path } = uploadPathOf(finding.locations[0] ?? { path: '' });
  const uploaded = finding.locations.map(uploadedFile);
  return {
    finding,
    run: run.id,
    name: reportKey({ file, index: finding.index }),
    possibleNames: [],
    file,
    index: finding.index,
    fingerprint: fingerprintOf(reported, { path }),
    ofTarget: folder ?? run.targets[0]?.folder ?? '',
    uploadedFolder: folder,
    uploadedPath: path,
    uploaded: uploaded.map((each) =>
      typeof each === 'object' ? { ...each, isOnlyCopy: isOnlyCopy(each) } : undefined,
    ),
    quotes: finding.locations.map((_, at) => quoteKeyOf(reported.locations[at]?.snippet)),
    statusSince: run.createdAt,
  };
}

async function anchor(
  own: readonly ResultFinding[],
  reported: readonly ReportedFinding[],
  source: RunSource,
  former: RunResult | undefined,
): Promise<readonly ResultFinding[]> {
  const locations = own.map(
    ({ finding }, at) => reported[at]?.locations.slice(0, finding.locations.length) ?? [],
  );
  const checked = await checkEvidence(locations.flat(), source, evidenceIn(former, locations.flat()));
  return own.map((each, at) => {
    const found = (locations[at] ?? []).map((location) => checked.get(location));
    const evidence = found.map((one) => one?.evidence);
    return {
      ...each,
      finding: { ...each.finding, locations: found.flatMap((one) => one?.anchored ?? []) },
      evidence: evidence.some((one) => one !== undefined) ? evidence : undefined,
    };
  });
}

/** A quote keeps the evidence from when the archive was still here. */
function evidenceIn(former: RunResult | undefined, locations: readonly Location[]): KnownEvidence {
  const keyOf = ({ path, targetIndex }: Location, quote: string): string =>
    JSON.stringify([path, targetIndex, quote]);
  const byQuote = new Map<string, Evidence | undefined>();
  for (const { finding, quotes, evidence } of former?.findings ?? [])
    for (const [at, location] of finding.locations.entries())
      byQuote.set(keyOf(location, quotes[at] ?? ''), evidence?.[at]);
  const known = new Map<Location, Evidence | undefined>();
  for (const location of locations) {
    const quote = quoteKeyOf(location.snippet);
    const key = keyOf(location, quote);
    if (quote !== '' && byQuote.has(key)) known.set(location, byQuote.get(key));
  }
  return known;
}

async function readProgress({
  run,
  runsFolder,
  continued,
}: WorkOut): Promise<Pick<ComparedRun, 'progress' | 'progressBefore'>> {
  const progressOf = (each: Run) => readScanProgress(each, join(runsFolder, each.id), readArtifactFile);
  return {
    progress: run.workflow === 'blackbox-assessment' ? await progressOf(run) : undefined,
    progressBefore: continued && (await progressOf(continued)),
  };
}

async function readBefore({ run: { targets }, before = [], kept = [], runsFolder }: WorkOut): Promise<{
  readonly found: Omit<FoundBefore, 'former'>;
  readonly head: Pick<ResultHead, 'before' | 'baseline' | 'unlisted'>;
}> {
  const byId = new Map<string, RunResult | undefined>();
  for (const id of new Set(before.flatMap((run) => run?.id ?? [])))
    byId.set(id, kept.find(({ head }) => head.id === id) ?? (await readSaved(join(runsFolder, id))));
  const results = before.map((run) => byId.get(run?.id ?? ''));
  const foundIn = (list: 'findings' | 'absent'): readonly ResultFinding[] =>
    targets.flatMap(({ folder }, at) =>
      (results[at]?.[list] ?? []).filter(({ ofTarget }) => isSamePath(ofTarget, folder)),
    );
  const baseline = results[targets.length]?.head;
  const ofFolders = new Set(results.slice(0, targets.length));
  return {
    found: {
      findings: foundIn('findings'),
      absent: foundIn('absent'),
      hasBaseline: baseline !== undefined && baseline.cut === undefined,
    },
    head: {
      before: before.map((run, at) => {
        const inputs = results[at]?.head.inputs;
        return run && inputs !== undefined ? { id: run.id, inputs, createdAt: run.createdAt } : null;
      }),
      baseline: baseline && { id: baseline.id, cut: baseline.cut },
      unlisted: [...ofFolders].reduce((sum, result) => sum + (result?.head.unlisted ?? 0), 0),
    },
  };
}
