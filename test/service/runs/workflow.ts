import type { JsonSchema } from '../apiSchemas.ts';
import type { InputFiles } from '../inputFiles.ts';

/**
 * A workflow can produce this artifact (section 2.4). With a schema, it is JSON, and its schema is
 * served with the documents.
 */
export interface ArtifactKind {
  readonly name: string;
  readonly required: boolean;
  readonly mediaType: string;
  readonly schema?: JsonSchema;
}

export type Contents = ReadonlyMap<string, string>;

/** A run works on this archive, of which these entries were found so far. */
export interface ReceivedArchive {
  readonly fileId: string;
  readonly archiveType: string;
  readonly entries: { readonly path: string; readonly bytes: number }[];
}

/** `perform` resolves to the artifacts of the run, and throws RunAborted. */
export interface RunWork {
  readonly archives: readonly ReceivedArchive[];
  readonly perform: (signal: AbortSignal) => Promise<Contents>;
}

/**
 * A `resume` refers to this run (sections 2.7 and 2.8). `end` is SUCCESS, an abort code, or
 * undefined for a run that is running or has exited without output.
 */
export interface EarlierRun {
  readonly input: unknown;
  readonly end: string | undefined;
  readonly contents: Contents;
}

/**
 * A workflow may use this when a run is dispatched. `directory` belongs to the run alone, and is
 * removed when the run's work ends or the dispatch is refused.
 */
export interface DispatchContext {
  readonly organizationId: string;
  readonly directory: string;
  readonly files: InputFiles;
  /** Refuses URLs of applications whose ownership is not verified (section 5.5). */
  readonly requireVerified: (urls: readonly string[]) => void;
  /** Finds a run of the same organization, or throws Refusal. */
  readonly earlierRun: (workflowId: string, runId: string) => EarlierRun;
}

/**
 * The operations of section 4.2 are the same for all workflows. The input and the artifacts are a
 * workflow's own (section 1).
 */
export interface Workflow {
  readonly id: string;
  readonly inputSchema: JsonSchema;
  readonly artifacts: readonly ArtifactKind[];
  /**
   * Checks what the schema cannot and takes what the run needs; throws Refusal. `input` fits
   * `inputSchema`.
   */
  readonly admit: (input: never, context: DispatchContext) => RunWork | Promise<RunWork>;
}

/** Ends a run as ABORTED with this reason (section 2.5) and these artifacts. */
export class RunAborted extends Error {
  readonly code: string;
  readonly detail: unknown;
  readonly contents: Contents;

  constructor(code: string, detail?: unknown, contents: Contents = new Map()) {
    super(`aborted: ${code}`);
    this.name = 'RunAborted';
    this.code = code;
    this.detail = detail;
    this.contents = contents;
  }
}
