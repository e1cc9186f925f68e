import { hash } from 'node:crypto';
import * as z from 'zod/mini';
import { isObject } from '../../json.ts';
import type { Run } from '../../run/state/run.ts';
import type { PairedFinding } from './laterLines.ts';
import type { Verdict } from './verdict.ts';
import type { Named } from '../identity.ts';
import type { EvidenceOfPlaces } from '../place/evidence.ts';

/** Raised whenever results would come out differently: saved ones are then worked out again. */
const format = 4;

/** A finding with what its run's result says about it. */
export interface ResultFinding extends PairedFinding, Named {
  /** The folder that it surely belongs to; `home` is its run's first where it may be in several. */
  readonly folder: string | undefined;
  readonly evidence?: EvidenceOfPlaces | undefined;
  /** Undefined where earlier runs say nothing, or, for a finding that is not reported, where this run could not report it. */
  readonly verdict?: Verdict | undefined;
  /** `createdAt` of the run from which on it is reported, or not reported, without a gap. */
  readonly since: number;
  /** True once a complete run of its folder did not report it. */
  readonly missed?: true | undefined;
}

const cutSchema = z.object({ shown: z.number(), total: z.number() });

export const headSchema = z.object({
  format: z.literal(format),
  /** The local ID of the run. */
  id: z.string(),
  /** Changes with all that follows in this list. */
  inputs: z.string(),
  /** `factsOf` the run's journal, and the mark of its findings file. */
  facts: z.string(),
  mark: z.string(),
  /** The earlier runs whose results it takes into account. */
  before: z.array(z.object({ id: z.string(), inputs: z.string(), createdAt: z.number() })),
  /** Earlier runs whose findings could not be read, with the marks of their findings files, if any. */
  skipped: z.array(z.object({ id: z.string(), mark: z.optional(z.string()) })),
  cut: z.optional(cutSchema),
  /** The complete run that new findings are new since, and how many of its findings are known, if not all. */
  baseline: z.optional(z.object({ id: z.string(), cut: z.optional(cutSchema) })),
  /** How many findings that are not reported are beyond the limit. */
  unlisted: z.number(),
  counts: z.object({ findings: z.number(), absent: z.number() }),
});
/** What is known of a result without its findings. */
export type ResultHead = z.infer<typeof headSchema>;

/** What a result depends on besides what was sent. */
export type Inputs = Pick<ResultHead, 'facts' | 'mark' | 'before' | 'skipped'>;

export interface FoundByRun {
  /** In the order of the file. */
  readonly findings: readonly ResultFinding[];
  /** Findings that only earlier runs report, each as the last of these does. */
  readonly absent: readonly ResultFinding[];
}

/** What a run found. It depends on the run, on what was sent, and on the results of the runs before it. */
export interface RunResult extends FoundByRun {
  readonly head: ResultHead;
}

/** Changes with everything in a run's journal that its result depends on. */
export function factsOf(run: Run): string {
  const { state, workflow, input, baseUrl, organizationId, targets } = run;
  const artifacts = 'artifacts' in run ? run.artifacts : undefined;
  const endedEarly = 'endedEarly' in run ? run.endedEarly : undefined;
  const folders = targets.map(({ folder, name }) => [folder, name]);
  const facts = [state, workflow, input, baseUrl, organizationId, folders, artifacts, endedEarly];
  return digest([...facts, run.continuesOnePair]);
}

export function inputsOf({ facts, mark, before, skipped }: Inputs): string {
  return digest([format, facts, mark, before.map(({ id, inputs }) => [id, inputs]), skipped]);
}

function digest(parts: readonly unknown[]): string {
  return hash('sha256', JSON.stringify(parts, sorted), 'hex').slice(0, 16);
}

/** Members in one order, since a journal that was read has another one than a journal in memory. */
function sorted(_: string, value: unknown): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}
