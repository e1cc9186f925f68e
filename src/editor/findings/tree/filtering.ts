import * as vscode from 'vscode';
import type { ShownFinding } from '../../../core/findings/shownFinding.ts';
import type { BranchState } from '../../../core/findings/view/branchChanges.ts';
import { type Filter, filterSchema, toPredicate } from '../../../core/findings/view/filter.ts';
import { type Grouping, GROUPINGS } from '../../../core/findings/view/outline.ts';

const filterKey = 'findings.filter';
const groupingKey = 'findings.grouping';
const handlesKey = 'findings.ownHandles';

export class Filtering {
  readonly #memory: vscode.Memento;
  readonly #userMemory: vscode.Memento;
  readonly #changes = new vscode.EventEmitter<void>();
  #filter: Filter;
  #branch: BranchState = { kind: 'pending' };
  #grouping: Grouping;
  #passes: (shown: ShownFinding) => boolean;

  constructor(memory: vscode.Memento, userMemory: vscode.Memento) {
    this.#memory = memory;
    this.#userMemory = userMemory;
    this.#filter = filterSchema.safeParse(memory.get(filterKey)).data ?? {};
    this.#passes = toPredicate(this.#filter);
    this.#grouping = GROUPINGS.find((grouping) => grouping === memory.get(groupingKey)) ?? GROUPINGS[0];
  }

  readonly onDidChange = this.#changes.event;

  get filter(): Filter {
    return this.#filter;
  }

  get grouping(): Grouping {
    return this.#grouping;
  }

  get passes(): (shown: ShownFinding) => boolean {
    return this.#passes;
  }

  /** Contains the names of the user and their teams in CODEOWNERS, separated by spaces. */
  get handles(): string {
    return this.#userMemory.get(handlesKey, '');
  }

  async saveHandles(handles: string): Promise<void> {
    await this.#userMemory.update(handlesKey, handles);
  }

  async filterBy(filter: Filter): Promise<void> {
    this.#filter = filter;
    if (filter.changedOnBranch !== true) this.#branch = { kind: 'pending' };
    this.#passes = toPredicate(filter, this.#branch);
    this.#changes.fire();
    await this.#memory.update(filterKey, filter);
  }

  get branch(): BranchState {
    return this.#branch;
  }

  useBranch(branch: BranchState): void {
    this.#branch = branch;
    this.#passes = toPredicate(this.#filter, branch);
    this.#changes.fire();
  }

  async groupBy(grouping: Grouping): Promise<void> {
    this.#grouping = grouping;
    this.#changes.fire();
    await this.#memory.update(groupingKey, grouping);
  }

  dispose(): void {
    this.#changes.dispose();
  }
}
