import { hash } from 'node:crypto';
import * as z from 'zod/mini';
import { isObject } from '../../json.ts';
import type { Run } from '../../run/state/run.ts';
import type { Finding } from '../finding.ts';
import type { Named } from '../identity.ts';
import type { EvidenceOfLocations } from '../location/evidence.ts';
import type { UploadedFile } from '../location/uploadedFiles.ts';

/*
 * What a run found. A worker makes it once (`workOut`): it reads the findings file, gives locations
 * their lines in what was uploaded (`location/evidence`), pairs the findings with those of earlier
 * results (`match`), judges them (`compareRuns`), and saves two files (`resultFile`). The host
 * reads these (`readResult`).
 */

const REPORTED = ['new', 'foundAgain', 'stillPresent', 'reportedAgain', 'carriedOver'] as const;
const ABSENT = [
  'codeChanged',
  'fileUnchanged',
  'notUploaded',
  'pairTested',
  'notApplicable',
  'pairNotTested',
  'unknown',
] as const;

/** The most important first. */
export const VERDICTS = [...REPORTED, ...ABSENT] as const;

/** `unknown`: the finding is absent, and the cause cannot be known. */
export type Verdict = (typeof VERDICTS)[number];

export function isReported(verdict: Verdict | undefined): boolean {
  return verdict === undefined || REPORTED.some((each) => each === verdict);
}

export function countVerdicts(
  shown: readonly { readonly verdict?: Verdict | undefined }[],
): readonly { readonly verdict: Verdict; readonly count: number }[] {
  const counts = Map.groupBy(shown, ({ verdict }) => verdict);
  return VERDICTS.map((verdict) => ({ verdict, count: counts.get(verdict)?.length ?? 0 }));
}

export interface ResultFinding extends Named {
  readonly finding: Finding;
  readonly run: string;
  /** The folder that it is about: its run's first where it may be in several. */
  readonly ofTarget: string;
  /** The folder that it surely belongs to. */
  readonly uploadedFolder: string | undefined;
  /** Of its main location, as uploaded, else as reported. */
  readonly uploadedPath: string;
  readonly uploaded: readonly (UploadedFile | undefined)[];
  /** `quoteKeyOf` each location; empty for a location without a quote that identifies code. */
  readonly quotes: readonly string[];
  readonly evidence?: EvidenceOfLocations | undefined;
  /** Undefined where earlier runs say nothing, or where this run could not report it. */
  readonly verdict?: Verdict | undefined;
  /** `createdAt` of the run since which it is reported, or not reported, without a gap. */
  readonly statusSince: number;
  /** A complete run of its folder did not report it. */
  readonly missed?: true | undefined;
}

/**
 * Raised whenever results would come out differently: saved ones are then worked out again, with
 * their names and evidence.
 */
export const resultFormat = 12;

const cutSchema = z.object({ shown: z.number(), total: z.number() });

export const headSchema = z.object({
  format: z.number().check(z.maximum(resultFormat)),
  id: z.string(),
  /**
   * Changes with `format`, `facts`, `fileStamp`, `before` and `skipped`: all that the result
   * depends on.
   */
  inputs: z.string(),
  /** `factsOf` the run's journal, and the mark of its findings file. */
  facts: z.string(),
  fileStamp: z.string(),
  /** The results that it takes into account: for each folder of the run, and the baseline. */
  before: z.array(z.nullable(z.object({ id: z.string(), inputs: z.string(), createdAt: z.number() }))),
  /** Earlier runs whose findings could not be read, with the marks of these. */
  skipped: z.array(z.object({ id: z.string(), fileStamp: z.optional(z.string()) })),
  file: z.string(),
  knowsUploaded: z.array(z.boolean()),
  cut: z.optional(cutSchema),
  /** New findings are new since this run; its cut, if not all of its findings are known. */
  baseline: z.optional(z.object({ id: z.string(), cut: z.optional(cutSchema) })),
  /** How many absent findings are beyond the limit. */
  unlisted: z.number(),
  counts: z.object({ findings: z.number(), absent: z.number() }),
});
export type ResultHead = z.infer<typeof headSchema>;

export interface FoundByRun {
  readonly findings: readonly ResultFinding[];
  /**
   * What only earlier runs, or earlier findings files of the run, report, as it was reported last.
   */
  readonly absent: readonly ResultFinding[];
}

export interface RunResult extends FoundByRun {
  readonly head: ResultHead;
}

/** Everything in a run's journal that its result depends on. */
export function factsOf(run: Run): string {
  const { state, workflow, input, baseUrl, organizationId, targets } = run;
  const artifacts = 'artifacts' in run ? run.artifacts : undefined;
  const endedEarly = 'endedEarly' in run ? run.endedEarly : undefined;
  const folders = targets.map(({ folder, name }) => [folder, name]);
  const facts = [state, workflow, input, baseUrl, organizationId, folders, artifacts, endedEarly];
  return digest([...facts, run.continuesOnePair]);
}

export function newHead(facts: Omit<ResultHead, 'format' | 'inputs'>): ResultHead {
  const before = facts.before.map((each) => each && [each.id, each.inputs]);
  const inputs = digest([resultFormat, facts.facts, facts.fileStamp, before, facts.skipped]);
  return { format: resultFormat, inputs, ...facts };
}

function digest(parts: readonly unknown[]): string {
  return hash('sha256', JSON.stringify(parts, sorted), 'hex').slice(0, 16);
}

/** A journal that was read has another order of members than one in memory. */
function sorted(_: string, value: unknown): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}
