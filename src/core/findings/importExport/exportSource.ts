import type { Run } from '../../run/state/run.ts';
import type { Cut } from '../parse/parse.ts';
import type { ShownFinding } from '../shownFinding.ts';

/** What is handed on of a run: all of its findings, whatever the settings hide, and what was there before. */
export interface ExportSource {
  readonly run: Run;
  /** In the order of the findings file. */
  readonly shown: readonly ShownFinding[];
  /** Where the findings file has more of them than are handed on. */
  readonly cut?: Cut | undefined;
  /** Findings of the run before that are not there any more, as a `Comparison` has them; absent when there is no run before. */
  readonly fixed?: readonly ShownFinding[] | undefined;
}

/** Who writes an export. */
export interface ExportTool {
  readonly name: string;
  readonly version: string;
}
