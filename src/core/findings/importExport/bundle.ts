import type * as z from 'zod/mini';
import { placeCentral, zipEnd, zipSegments } from '../../upload/archive/zip.ts';
import { hasAllFindings } from '../chooseRun.ts';
import { type Run, runIdOf } from '../../run/state/run.ts';
import type { ShownRun } from '../shownFinding.ts';
import { type bundleSchema, type RunFacts, sha256 } from './readContent.ts';
import type { ExportTool } from './sarif/sarif.ts';
import { asDecided, optionalFieldsOf, isUndecided } from '../triage/triage.ts';

const mode = 0o644;

export interface BundleFile {
  readonly path: string;
  readonly content: Buffer;
}

/** The files of an offline bundle, its index first. The only source code in it is what findings quote. */
export function toBundle(
  { run, shown }: ShownRun,
  artifacts: readonly BundleFile[],
  tool: ExportTool,
): readonly BundleFile[] {
  const decisions = shown
    // The findings file itself has what its tool decided.
    .filter(({ triage }) => !isUndecided(triage) && triage.via !== 'tool')
    .map(({ finding: { index }, triage }) => {
      const { state, note, at, ...more } = asDecided(triage);
      return { index, state, note, at, ...optionalFieldsOf({ state, ...more }) };
    });
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

export function zipBundle(files: readonly BundleFile[]): Buffer {
  const zip = zipSegments();
  for (const { path, content } of files) zip.add({ path, mode }, content);
  const segment = zip.take();
  if (segment === undefined) throw new Error('A bundle has files');
  const central = placeCentral(segment.central, segment.offsets, 0);
  return Buffer.concat([segment.data, central, zipEnd(files.length, segment.data.length, central.length)]);
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
