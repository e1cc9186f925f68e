import { hash } from 'node:crypto';
import * as z from 'zod/mini';
import { isObject } from '../../json.ts';
import type { Run } from '../../run/state/run.ts';
import type { Finding } from '../finding.ts';
import type { Named } from '../identity.ts';
import type { EvidenceOfLocations } from '../location/evidence.ts';
import type { UploadedFile } from '../location/uploadedFiles.ts';

/**
 * A result has what a run found. A worker (`workOut`) reads the findings file, and gives locations
 * their lines in the uploaded text (`location/evidence`). It pairs the findings with earlier ones
 * (`match`), and gives them verdicts (`compareRuns`). The host (`readResult`) reads the two files
 * that the worker saves (`resultFile`).
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

export const VERDICTS = [...REPORTED, ...ABSENT] as const;

/** `unknown` means that the finding is absent for an unknown reason. */
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
  /** This is `uploadedFolder` or, if that is undefined, the run's first folder. */
  readonly ofTarget: string;
  /** It is undefined if several folders are possible, and empty if no folder is. */
  readonly uploadedFolder: string | undefined;
  /**
   * This is the path of the main location's uploaded file or, if that file is unknown, the reported
   * path.
   */
  readonly uploadedPath: string;
  readonly uploaded: readonly (UploadedFile | undefined)[];
  /** Each location has its `quoteKeyOf`, which may be empty. */
  readonly quotes: readonly string[];
  readonly evidence?: EvidenceOfLocations | undefined;
  /** It is undefined if no comparison with earlier runs is possible. */
  readonly verdict?: Verdict | undefined;
  /** The finding has been reported or absent since the run with this `createdAt`. */
  readonly statusSince: number;
  /** A complete run of the finding's folder did not report it. */
  readonly missed?: true | undefined;
}

/**
 * Increase this when a code change alters results. Saved results are then worked out again, but
 * their names and evidence may be kept.
 */
export const resultFormat = 12;

const cutSchema = z.object({ shown: z.number(), total: z.number() });

export const headSchema = z.object({
  format: z.number().check(z.maximum(resultFormat)),
  id: z.string(),
  inputs: z.string(),
  facts: z.string(),
  fileStamp: z.string(),
  /** These are earlier results: one for each folder of the run, then the baseline's. */
  before: z.array(z.nullable(z.object({ id: z.string(), inputs: z.string(), createdAt: z.number() }))),
  /** The findings of these earlier runs could not be read. */
  skipped: z.array(z.object({ id: z.string(), fileStamp: z.optional(z.string()) })),
  file: z.string(),
  knowsUploaded: z.array(z.boolean()),
  cut: z.optional(cutSchema),
  /** New findings are new since this run. With `cut`, not all of its findings are known. */
  baseline: z.optional(z.object({ id: z.string(), cut: z.optional(cutSchema) })),
  unlisted: z.number(),
  counts: z.object({ findings: z.number(), absent: z.number() }),
});
export type ResultHead = z.infer<typeof headSchema>;

export interface FoundByRun {
  readonly findings: readonly ResultFinding[];
  /** Only earlier runs, or earlier findings files of the run, report these. */
  readonly absent: readonly ResultFinding[];
}

export interface RunResult extends FoundByRun {
  readonly head: ResultHead;
}

/** Changes to other members of a run's journal don't affect the result. */
export function factsOf(run: Run): string {
  const { state, workflow, input, baseUrl, organizationId, targets } = run;
  const { artifacts, endedEarly } = { artifacts: undefined, endedEarly: undefined, ...run };
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

/** A journal from the disk may have its members in another order. */
function sorted(_: string, value: unknown): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}
