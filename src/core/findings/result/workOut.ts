import { join } from 'node:path';
import { readArtifactFile } from '../../features/artifactFile.ts';
import { readScanProgress } from '../../features/scanProgress.ts';
import { markOf } from '../../files.ts';
import { pathKey } from '../../paths.ts';
import type { Run } from '../../run/state/run.ts';
import { isOfService } from '../chooseRun.ts';
import { type Finding, type Place, type ReportedFinding, splitReported } from '../finding.ts';
import { fingerprintOf, quoteKeyOf } from '../identity.ts';
import { findingsMarkOf, readFindings } from '../parse/readFindings.ts';
import { checkEvidence, type Evidence, type KnownEvidence } from '../place/evidence.ts';
import { createDecode, type Encodings } from '../place/encodings.ts';
import { createResolver } from '../place/resolver.ts';
import { readSent, type SentOfRun, sentFileOf } from '../place/sentFiles.ts';
import { compareFindings, type ComparedRun, type OwnFinding } from './compareRuns.ts';
import { type DetailsByIndex, writeDetails } from './details.ts';
import { keepSource } from './keepSource.ts';
import { copyMarker, laterPathsIn } from './laterPath.ts';
import { factsOf, inputsOf, type ResultFinding, type ResultHead, type RunResult } from './result.ts';
import { readSaved, resultName, writeResult } from './resultFile.ts';

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

/** Findings that are not reported; the others are counted. */
const maxAbsent = 10_000;
/** Another window may work out the same run. */
const maxTries = 3;

/** The result and the details if they could not be saved. Throws what `readFindings` throws. */
export async function workOut(task: WorkOut): Promise<RunResult | undefined> {
  const { run, runsFolder, isReadOnly } = task;
  const runFolder = join(runsFolder, run.id);
  const mark = (await findingsMarkOf(runFolder)) ?? '';
  const sent = await readSent(run, runFolder);
  const { findings: reported, cut, file } = await readFindings(runFolder);
  const findings = reported.map((each) => splitReported(each).finding);
  const located = await locate(task, findings, sent);
  if (!isReadOnly) {
    // What is not kept cannot be followed later; the findings do not depend on it.
    await keepSource(run, runFolder, located.spots.flat()).catch(() => undefined);
    await writeDetails(runFolder, mark, detailsIn(reported)).catch(() => undefined);
  }
  const results = await readBefore(task);
  for (let tries = 1; ; tries += 1) {
    const savedMark = await markOf(join(runFolder, resultName));
    const former = task.kept.find(({ head }) => head.id === run.id) ?? (await readSaved(runFolder));
    const own = await toOwn(task, findings, file, located, former);
    const result = await compare(task, { findings: own, cut, mark, sent, results, former });
    if (isReadOnly) return result;
    // What another window has saved meanwhile keeps its names.
    if ((await markOf(join(runFolder, resultName))) !== savedMark && tries < maxTries) continue;
    try {
      await writeResult(runFolder, result);
      return undefined;
    } catch {
      return result; // the host keeps it
    }
  }
}

/** Details of what a run reports, read from its findings file. */
export async function readDetailsAgain(
  { id }: Run,
  runsFolder: string,
  indexes: ReadonlySet<number>,
  isReadOnly: boolean,
): Promise<DetailsByIndex> {
  const runFolder = join(runsFolder, id);
  const mark = (await findingsMarkOf(runFolder)) ?? '';
  const details = detailsIn((await readFindings(runFolder)).findings);
  if (!isReadOnly) await writeDetails(runFolder, mark, details).catch(() => undefined);
  return new Map([...details].filter(([index]) => indexes.has(index)));
}

function detailsIn(reported: readonly ReportedFinding[]): DetailsByIndex {
  return new Map(reported.map((each) => [each.index, splitReported(each).details]));
}

/** The item of a findings file as JSON; undefined if it is too long or nested too deeply. */
export async function readItem({ id }: Run, runsFolder: string, index: number): Promise<string | undefined> {
  const { findings } = await readFindings(join(runsFolder, id));
  return findings.find((each) => each.index === index)?.raw;
}

type Located = Awaited<ReturnType<typeof locate>>;

/** The sent files of all places, and what each finding is about. */
async function locate({ run, runsFolder }: WorkOut, findings: readonly Finding[], sent: SentOfRun) {
  const places = findings.flatMap((finding) => finding.places);
  const resolver = createResolver({ targets: run.targets, sent, places });
  const source = { run, runFolder: join(runsFolder, run.id), sent, resolver };
  const markCopies = copyMarker(sent);
  const spots: OwnFinding['sent'][] = [];
  const sentPaths = [];
  for (const finding of findings) {
    const found = await Promise.all(finding.places.map((place) => sentFileOf(source, place)));
    spots.push(markCopies(found));
    sentPaths.push(await resolver.sentPath(finding.places[0] ?? { path: '' }));
  }
  return { source, spots, sentPaths };
}

async function toOwn(
  { run, encodings }: WorkOut,
  findings: readonly Finding[],
  file: string,
  { source, spots, sentPaths }: Located,
  former: RunResult | undefined,
): Promise<readonly OwnFinding[]> {
  const located = findings.map((finding, at) => ({ finding, sent: spots[at] ?? [] }));
  const known = evidenceIn(former, findings);
  const checked = await checkEvidence(located, source, known, createDecode(encodings));
  return findings.map((finding, at) => {
    const { folder, path } = sentPaths[at] ?? { folder: '', path: '' };
    return {
      finding: checked[at]?.finding ?? finding,
      run: run.id,
      file,
      index: finding.index,
      fingerprint: fingerprintOf(finding, { path }),
      home: folder ?? run.targets[0]?.folder ?? '',
      folder,
      path,
      sent: spots[at] ?? [],
      quotes: finding.places.map(({ snippet }) => quoteKeyOf(snippet)),
      evidence: checked[at]?.evidence,
    };
  });
}

/** A quote keeps the evidence that was found while the archive was here. */
function evidenceIn(former: RunResult | undefined, findings: readonly Finding[]): KnownEvidence {
  const keyOf = ({ path, targetIndex }: Place, quote: string): string =>
    JSON.stringify([path, targetIndex, quote]);
  const byQuote = new Map<string, Evidence | undefined>();
  for (const { finding, quotes, evidence } of former?.findings ?? [])
    for (const [at, place] of finding.places.entries())
      byQuote.set(keyOf(place, quotes[at] ?? ''), evidence?.[at]);
  const known = new Map<Place, Evidence | undefined>();
  for (const { places } of findings)
    for (const place of places) {
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

interface Compared extends Pick<ComparedRun, 'cut' | 'sent'> {
  readonly findings: readonly OwnFinding[];
  readonly mark: string;
  readonly results: ReadonlyMap<string, RunResult>;
  readonly former: RunResult | undefined;
}

async function compare(
  { run, runsFolder, before, beforeOf, baseline, skipped, continued, encodings }: WorkOut,
  { findings: own, cut, mark, sent, results, former }: Compared,
): Promise<RunResult> {
  const progressOf = (each: Run) => readScanProgress(each, join(runsFolder, each.id), readArtifactFile);
  const isBlackbox = run.workflow === 'blackbox-assessment';
  const compared: ComparedRun = {
    run,
    runsFolder,
    sent,
    laterPathOf: laterPathsIn(run, sent),
    cut,
    progress: isBlackbox ? await progressOf(run) : undefined,
    progressBefore: continued && (await progressOf(continued)),
  };
  const isFrom = (id: string) => (finding: ResultFinding) => beforeOf.get(pathKey(finding.home)) === id;
  const used = [...results].filter(([id]) => [...beforeOf.values()].includes(id));
  const ofBaseline = baseline === undefined ? undefined : results.get(baseline);
  const { findings, absent } = await compareFindings(
    compared,
    own,
    {
      findings: used.flatMap(([id, result]) => result.findings.filter(isFrom(id))),
      absent: used.flatMap(([id, result]) => result.absent.filter(isFrom(id))),
      former: former ?? { findings: [], absent: [] },
      isOnlyForNames: !isOfService(run),
      hasBaseline: ofBaseline !== undefined && ofBaseline.head.cut === undefined,
    },
    createDecode(encodings),
  );
  const listed = absent.slice(0, maxAbsent);
  const unlisted = Math.max(0, ...used.map(([, { head }]) => head.unlisted));
  const inputs = {
    facts: factsOf(run),
    mark,
    before: before.flatMap(({ id, createdAt }) => {
      const head = results.get(id)?.head;
      return head === undefined ? [] : [{ id, inputs: head.inputs, createdAt }];
    }),
    skipped,
  };
  const head: ResultHead = {
    format: 4,
    id: run.id,
    inputs: inputsOf(inputs),
    ...inputs,
    cut,
    baseline: baseline !== undefined && ofBaseline ? { id: baseline, cut: ofBaseline.head.cut } : undefined,
    unlisted: unlisted + absent.length - listed.length,
    counts: { findings: findings.length, absent: listed.length },
  };
  return { head, findings, absent: listed };
}
