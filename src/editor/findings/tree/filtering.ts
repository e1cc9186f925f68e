import * as vscode from 'vscode';
import type { ShownFinding } from '../../../core/findings/shownFinding.ts';
import type { BranchState } from '../../../core/findings/view/branchChanges.ts';
import { activeParts, type Filter, filterSchema, toPredicate } from '../../../core/findings/view/filter.ts';
import { type Grouping, GROUPINGS } from '../../../core/findings/view/groups.ts';

const filterKey = 'findings.filter';
const groupingKey = 'findings.grouping';
const handlesKey = 'findings.ownHandles';

/** The filter and the grouping of the Findings view, kept for this workspace. */
export class Filtering {
  readonly #memory: vscode.Memento;
  readonly #userMemory: vscode.Memento;
  readonly #changed = new vscode.EventEmitter<void>();
  #filter: Filter;
  #branch: BranchState = { kind: 'pending' };
  #grouping: Grouping;
  #passes: (shown: ShownFinding) => boolean;

  /** What belongs to the workspace is kept in `memory`, what belongs to the person in `userMemory`. */
  constructor(memory: vscode.Memento, userMemory: vscode.Memento) {
    this.#memory = memory;
    this.#userMemory = userMemory;
    const kept = filterSchema.safeParse(memory.get(filterKey));
    this.#filter = kept.success ? kept.data : {};
    this.#passes = toPredicate(this.#filter);
    this.#grouping = GROUPINGS.find((each) => each === memory.get(groupingKey)) ?? GROUPINGS[0];
  }

  readonly onDidChange = this.#changed.event;

  get filter(): Filter {
    return this.#filter;
  }

  get grouping(): Grouping {
    return this.#grouping;
  }

  /** True when the filter can hide findings. */
  isActive(): boolean {
    return activeParts(this.#filter).length > 0;
  }

  /** Whether a finding passes the filter; the same function until the filter changes. */
  get passes(): (shown: ShownFinding) => boolean {
    return this.#passes;
  }

  /** How CODEOWNERS files name this person and their teams, with spaces between. */
  get handles(): string {
    return this.#userMemory.get(handlesKey, '');
  }

  /** Keeps the names of this person for all workspaces. */
  async keepHandles(handles: string): Promise<void> {
    await this.#userMemory.update(handlesKey, handles);
  }

  /** Replaces the filter. */
  async filterBy(filter: Filter): Promise<void> {
    this.#filter = filter;
    if (filter.changedOnBranch !== true) this.#branch = { kind: 'pending' };
    this.#passes = toPredicate(filter, this.#branch);
    this.#changed.fire();
    await this.#memory.update(filterKey, filter);
  }

  /** What is known of the branch's changes; `pending` while the filter doesn't ask for them. */
  get branch(): BranchState {
    return this.#branch;
  }

  /** Replaces what is known of the branch's changes. */
  useBranch(branch: BranchState): void {
    this.#branch = branch;
    this.#passes = toPredicate(this.#filter, branch);
    this.#changed.fire();
  }

  /** Replaces the grouping. */
  async groupBy(grouping: Grouping): Promise<void> {
    this.#grouping = grouping;
    this.#changed.fire();
    await this.#memory.update(groupingKey, grouping);
  }

  dispose(): void {
    this.#changed.dispose();
  }
}
