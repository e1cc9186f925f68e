import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import * as z from 'zod/mini';
import { identifierSchema, languageSchema } from '../../api/schema.ts';
import { targetUrlsSchema } from '../../workflows/application.ts';
import { workflowIds } from '../../workflows/workflow.ts';
import { placeCentral, zipEnd, zipSegments } from '../../upload/archive/zip.ts';
import { hasAllFindings } from '../chooseRun.ts';
import { coverageSchema } from '../../run/state/coverage.ts';
import { type Run, runIdOf } from '../../run/state/run.ts';
import type { ShownRun } from '../shownFinding.ts';
import type { ExportTool } from './sarif/sarif.ts';
import { isUndecided } from '../triage/triage.ts';

const sliceBytes = 1024 * 1024;
const mode = 0o644;

const digits = z.int().check(z.minimum(0), z.maximum(8.64e15));

/** What a bundle says about its run: no address, no organization, no folder of this machine. */
const runFactsSchema = z.object({
  runId: z.optional(identifierSchema),
  /** Absent for a whitebox assessment. */
  workflow: z.optional(z.enum(workflowIds)),
  targetUrls: z.optional(targetUrlsSchema),
  language: languageSchema,
  dispatchedAt: z.optional(digits),
  exitedAt: z.optional(digits),
  /** True for a run that ended early, or tried one pair alone: it may not have found all. */
  endedEarly: z.optional(z.boolean()),
  targets: z
    .array(
      z.object({
        name: z.string().check(z.minLength(1), z.maxLength(256)),
        commit: z.optional(z.object({ id: z.string().check(z.maxLength(128)), dirty: z.boolean() })),
        coverage: z.optional(coverageSchema),
      }),
    )
    .check(z.minLength(1), z.maxLength(100)),
});
/** What is known of a run that came as a file. */
export type RunFacts = z.infer<typeof runFactsSchema>;

/** The index of a bundle, `bundle.json`: its version, its run and its other files. */
export const bundleSchema = z.object({
  kind: z.literal('whitebox-assessment-bundle'),
  version: z.literal(1),
  tool: z.object({ name: z.string(), version: z.string() }),
  run: runFactsSchema,
  files: z.array(z.object({ path: z.string(), bytes: z.int().check(z.minimum(0)), sha256: z.string() })),
});

/** A file of a bundle. */
export interface BundleFile {
  readonly path: string;
  readonly content: Buffer;
}

/** The names a bundle may have files under: its index, the artifacts as downloaded, decisions, and what was sent of each folder. */
export const bundlePath = /^(bundle\.json|findings\.json|report\.md|triage\.json|manifest-\d{1,2}\.json)$/;

/** The files of an offline bundle, its index first. Source code is not in it, but for the snippets that findings quote. */
export function toBundle(
  { run, shown }: ShownRun,
  artifacts: readonly BundleFile[],
  tool: ExportTool,
): readonly BundleFile[] {
  const decisions = shown
    .filter(({ triage }) => !isUndecided(triage))
    .map(({ finding: { index }, triage: { state, note, at } }) => ({ index, state, note, at }));
  const files = [...artifacts, { path: 'triage.json', content: toJson(decisions) }];
  const index: z.infer<typeof bundleSchema> = {
    kind: 'whitebox-assessment-bundle',
    version: 1,
    tool: { name: tool.name, version: tool.version },
    run: toRunFacts(run),
    files: files.map(({ path, content }) => ({ path, bytes: content.length, sha256: sha256(content) })),
  };
  return [{ path: 'bundle.json', content: toJson(index) }, ...files];
}

/** Packs a bundle's files as a zip; equal files give equal bytes. Yields between slices. */
export async function zipBundle(files: readonly BundleFile[]): Promise<Buffer> {
  const zip = zipSegments();
  for (const { path, content } of files) {
    if (content.length <= sliceBytes) {
      zip.add({ path, mode }, content);
      continue;
    }
    zip.begin({ path, mode }, content.length);
    for (let from = 0; from < content.length; from += sliceBytes) {
      const last = from + sliceBytes >= content.length;
      zip.slice(content.subarray(from, from + sliceBytes), last);
      await setImmediate();
    }
  }
  const segment = zip.take();
  if (segment === undefined) throw new Error('A bundle has files');
  const central = placeCentral(segment.central, segment.offsets, 0);
  return Buffer.concat([segment.data, central, zipEnd(files.length, segment.data.length, central.length)]);
}

/** SHA-256 in hex. */
export function sha256(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

function toRunFacts(run: Run): RunFacts {
  return {
    runId: runIdOf(run),
    language: run.language,
    dispatchedAt: 'dispatchedAt' in run ? run.dispatchedAt : undefined,
    exitedAt: 'exitedAt' in run ? run.exitedAt : undefined,
    workflow: run.workflow === 'whitebox-assessment' ? undefined : run.workflow,
    targetUrls: run.input?.target_urls,
    endedEarly: hasAllFindings(run) ? undefined : true,
    targets: run.targets.map(({ name, commit, coverage }) => ({ name, commit, coverage })),
  };
}

function toJson(value: unknown): Buffer {
  return Buffer.from(`${JSON.stringify(value, undefined, 1)}\n`);
}
