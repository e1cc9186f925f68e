import { join } from 'node:path';
import { readArtifactFile } from '../../features/artifactFile.ts';
import { readScanProgress } from '../../features/scanProgress.ts';
import { markOf } from '../../files.ts';
import { pathKey } from '../../paths.ts';
import type { Run } from '../../run/state/run.ts';
import { isOfService } from '../chooseRun.ts';
import { type Place, type ReportedFinding, splitReported } from '../finding.ts';
import { fingerprintOf, quoteKeyOf, reportKey } from '../identity.ts';
import { findingsMarkOf, readFindings } from '../parse/readFindings.ts';
import type { Cut } from '../parse/parseFindings.ts';
import { checkEvidence, type Evidence, type KnownEvidence, type RunSource } from '../place/evidence.ts';
import { createResolver } from '../place/resolver.ts';
import {
  createDecode,
  type Decode,
  type Encodings,
  keepSource,
  readSent,
  type SentFile,
  type SentOfRun,
} from '../place/sentFiles.ts';
import { compareFindings } from './compareRuns.ts';
import { laterPathsIn, uniquePaths } from './match.ts';
import { factsOf, newHead, type ResultFinding, type ResultHead, type RunResult } from './result.ts';
import { type DetailsByIndex, readSaved, resultName, writeDetails, writeResult } from './resultFile.ts';

/*
 * Works out what a run found, in the worker: reads its findings file once, finds the sent files that its places point at and keeps their texts, looks up lines
 * and quotes in these, and names and judges the findings by the results of earlier runs, which exist already. Two files are written.
 */

/** Plain data. */
export interface WorkOut {
  readonly run: Run;
  /** The folder with the folders of all runs. */
  readonly runsFolder: string;
  /** The earlier runs to compare with, and what these could not be read. */
  readonly before: readonly Run[];
  readonly skipped: ResultHead['skipped'];
  /** By `pathKey` of a folder, the local ID of the run whose findings about it come before. */
  readonly beforeOf: ReadonlyMap<string, string>;
  readonly baseline: string | undefined;
  /** The run that it continues. */
  readonly continued: Run | undefined;
  /** Results that could not be saved. */
  readonly kept: readonly RunResult[];
  readonly encodings: Encodings;
  /** True: write nothing. */
  readonly isReadOnly: boolean;
}

/** What is not saved, since it must not or could not be. `file` is that of the findings' `Identity`. */
export interface Unsaved {
  readonly file: string;
  readonly result?: RunResult | undefined;
  readonly details?: DetailsByIndex | undefined;
}

/** Findings that are not reported; the others are counted. */
const maxAbsent = 10_000;
/** Another window may work out the same run. */
const maxTries = 3;

/** Throws what `readFindings` throws. */
export async function workOut(task: WorkOut): Promise<Unsaved> {
  const { run, runsFolder, isReadOnly } = task;
  const runFolder = join(runsFolder, run.id);
  const mark = (await findingsMarkOf(runFolder)) ?? '';
  const sent = await readSent(run, runFolder);
  const { findings: reported, cut, file } = await readFindings(runFolder);
  const decode = createDecode(task.encodings);
  const details = detailsOf(reported);
  const places = reported.flatMap((each) => each.places);
  const resolver = createResolver({ targets: run.targets, sent, places });
  const source = { run, runFolder, sent, resolver };
  const onlyCopies = sent.map((files) => files && uniquePaths(files, ({ sha256 }) => sha256));
  const own = await Promise.all(
    reported.map(async (each) => {
      const found = await toOwn(each, file, source);
      // Where no other file had its bytes, a file can be recognized under another path.
      const isOnlyCopy = ({ target, sha256 }: SentFile): boolean =>
        onlyCopies[target]?.get(sha256) !== undefined;
      return { ...found, sent: found.sent.map((one) => one && { ...one, isOnlyCopy: isOnlyCopy(one) }) };
    }),
  );
  let unsavedDetails: DetailsByIndex | undefined = details;
  if (!isReadOnly) {
    // What is not kept cannot be followed later; the findings do not depend on it.
    await keepSource(
      run,
      runFolder,
      own.flatMap((each) => each.sent),
    ).catch(() => undefined);
    unsavedDetails = await unlessFailed(writeDetails(runFolder, file, details), details);
  }
  const before = await readBefore(task);
  for (let tries = 1; ; tries += 1) {
    const savedMark = await markOf(join(runFolder, resultName));
    const former = task.kept.find(({ head }) => head.id === run.id) ?? (await readSaved(runFolder));
    const findings = await anchor(own, reported, source, former, decode);
    const result = await compare(task, { findings, cut, mark, sent, before, former, decode });
    if (isReadOnly) return { file, result, details };
    // What another window has saved meanwhile keeps its names.
    if ((await markOf(join(runFolder, resultName))) !== savedMark && tries < maxTries) continue;
    const unsaved = await unlessFailed(writeResult(runFolder, result), result);
    return { file, result: unsaved, details: unsavedDetails };
  }
}

/** What cannot be written, the host keeps. */
async function unlessFailed<T>(writing: Promise<void>, written: T): Promise<T | undefined> {
  return writing.then(
    () => undefined,
    () => written,
  );
}

function detailsOf(reported: readonly ReportedFinding[]): DetailsByIndex {
  return new Map(reported.map((each) => [each.index, splitReported(each).details]));
}

/** From the findings file, for an export. Undefined if that is another one now. */
export async function readDetailsAgain(runFolder: string, file: string): Promise<DetailsByIndex | undefined> {
  const read = await readFindings(runFolder);
  return read.file === file ? detailsOf(read.findings) : undefined;
}

/** The item of a findings file as JSON; undefined if it is too long or nested too deeply. */
export async function readItem({ id }: Run, runsFolder: string, index: number): Promise<string | undefined> {
  const { findings } = await readFindings(join(runsFolder, id));
  return findings.find((each) => each.index === index)?.raw;
}

/** A finding as its file has it, with its sent files, and with the name of its report. */
async function toOwn(reported: ReportedFinding, file: string, source: RunSource): Promise<ResultFinding> {
  const { run, resolver } = source;
  const { finding } = splitReported(reported);
  const { folder, path } = await resolver.sentPath(finding.places[0] ?? { path: '' });
  const sent = await Promise.all(finding.places.map((place) => resolver.sentFile(place)));
  return {
    finding,
    run: run.id,
    name: reportKey({ file, index: finding.index }),
    maybe: [],
    file,
    index: finding.index,
    fingerprint: fingerprintOf(reported, { path }),
    home: folder ?? run.targets[0]?.folder ?? '',
    folder,
    path,
    sent: sent.map((file) => (typeof file === 'string' ? undefined : file)),
    quotes: finding.places.map((_, at) => quoteKeyOf(reported.places[at]?.snippet)),
    since: run.createdAt,
  };
}

/** Gives places their lines in the text that was sent, and their evidence. */
async function anchor(
  own: readonly ResultFinding[],
  reported: readonly ReportedFinding[],
  source: RunSource,
  former: RunResult | undefined,
  decode: Decode,
): Promise<readonly ResultFinding[]> {
  const located = own.map(({ finding, sent }, at) => ({
    places: reported[at]?.places.slice(0, finding.places.length) ?? [],
    sent,
  }));
  const checked = await checkEvidence(located, source, evidenceIn(former, located), decode);
  return own.map((each, at) => {
    const found = (located[at]?.places ?? []).map((place) => checked.get(place));
    const evidence = found.map((one) => one?.evidence);
    return {
      ...each,
      finding: { ...each.finding, places: found.flatMap((one) => one?.anchored ?? []) },
      evidence: evidence.some((one) => one !== undefined) ? evidence : undefined,
    };
  });
}

/** A quote keeps the evidence that was found while the archive was here. */
function evidenceIn(
  former: RunResult | undefined,
  findings: readonly { readonly places: readonly Place[] }[],
): KnownEvidence {
  const keyOf = ({ path, targetIndex }: Place, quote: string): string =>
    JSON.stringify([path, targetIndex, quote]);
  const byQuote = new Map<string, Evidence | undefined>();
  for (const { finding, quotes, evidence } of former?.findings ?? [])
    for (const [at, place] of finding.places.entries())
      byQuote.set(keyOf(place, quotes[at] ?? ''), evidence?.[at]);
  const known = new Map<Place, Evidence | undefined>();
  for (const place of findings.flatMap(({ places }) => places)) {
    const quote = quoteKeyOf(place.snippet);
    const key = keyOf(place, quote);
    if (quote !== '' && byQuote.has(key)) known.set(place, byQuote.get(key));
  }
  return known;
}

async function readBefore({ before, kept, runsFolder }: WorkOut): Promise<ReadonlyMap<string, RunResult>> {
  const results = new Map<string, RunResult>();
  for (const { id } of before) {
    const result = kept.find(({ head }) => head.id === id) ?? (await readSaved(join(runsFolder, id)));
    if (result !== undefined) results.set(id, result);
  }
  return results;
}

interface Compared {
  readonly findings: readonly ResultFinding[];
  readonly cut: Cut | undefined;
  readonly mark: string;
  readonly sent: SentOfRun;
  readonly before: ReadonlyMap<string, RunResult>;
  readonly former: RunResult | undefined;
  readonly decode: Decode;
}

async function compare(
  { run, runsFolder, before: runsBefore, beforeOf, baseline, skipped, continued }: WorkOut,
  { findings: own, cut, mark, sent, before, former, decode }: Compared,
): Promise<RunResult> {
  const progressOf = (each: Run) => readScanProgress(each, join(runsFolder, each.id), readArtifactFile);
  const isBlackbox = run.workflow === 'blackbox-assessment';
  const isFrom = (id: string) => (finding: ResultFinding) => beforeOf.get(pathKey(finding.home)) === id;
  const used = [...before].filter(([id]) => [...beforeOf.values()].includes(id));
  const ofBaseline = baseline === undefined ? undefined : before.get(baseline);
  const { findings, absent } = await compareFindings(
    {
      run,
      runsFolder,
      sent,
      laterPathOf: laterPathsIn(run, sent),
      decode,
      cut,
      progress: isBlackbox ? await progressOf(run) : undefined,
      progressBefore: continued && (await progressOf(continued)),
    },
    own,
    {
      findings: used.flatMap(([id, result]) => result.findings.filter(isFrom(id))),
      absent: used.flatMap(([id, result]) => result.absent.filter(isFrom(id))),
      former: former ?? { findings: [], absent: [] },
      isOnlyForNames: !isOfService(run),
      hasBaseline: ofBaseline !== undefined && ofBaseline.head.cut === undefined,
    },
  );
  const listed = absent.slice(0, maxAbsent);
  const unlisted = used.reduce((sum, [, { head }]) => sum + head.unlisted, 0);
  const head = newHead({
    id: run.id,
    facts: factsOf(run),
    mark,
    before: runsBefore.flatMap(({ id, createdAt }) => {
      const inputs = before.get(id)?.head.inputs;
      return inputs === undefined ? [] : [{ id, inputs, createdAt }];
    }),
    skipped,
    knowsSent: sent.map((files) => files !== undefined),
    cut,
    baseline: baseline !== undefined && ofBaseline ? { id: baseline, cut: ofBaseline.head.cut } : undefined,
    unlisted: unlisted + absent.length - listed.length,
    counts: { findings: findings.length, absent: listed.length },
  });
  return { head, findings, absent: listed };
}
