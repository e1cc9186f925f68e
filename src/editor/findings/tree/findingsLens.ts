import * as vscode from 'vscode';
import { activeParts, type Filter, filterSchema, toPredicate } from '../../../core/findings/view/filter.ts';
import type { ShownFinding } from '../../../core/findings/shownFinding.ts';
import { type Grouping, GROUPINGS } from '../../../core/findings/view/groups.ts';

const filterKey = 'findings.filter';
const groupingKey = 'findings.grouping';

/** How a person looks at the findings: filter and grouping of the Findings view, kept for this workspace. */
export class FindingsLens {
  readonly #memory: vscode.Memento;
  readonly #changed = new vscode.EventEmitter<void>();
  #filter: Filter;
  #grouping: Grouping;
  #passes: (shown: ShownFinding) => boolean;

  constructor(memory: vscode.Memento) {
    this.#memory = memory;
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

  /** True when the filter can keep findings out. */
  isFiltering(): boolean {
    return activeParts(this.#filter).length > 0;
  }

  /** Whether a finding passes the filter. */
  passes(shown: ShownFinding): boolean {
    return this.#passes(shown);
  }

  /** Takes another filter in the place of the present one. */
  async filterBy(filter: Filter): Promise<void> {
    this.#filter = filter;
    this.#passes = toPredicate(filter);
    this.#changed.fire();
    await this.#memory.update(filterKey, filter);
  }

  /** Groups by something else. */
  async groupBy(grouping: Grouping): Promise<void> {
    this.#grouping = grouping;
    this.#changed.fire();
    await this.#memory.update(groupingKey, grouping);
  }

  dispose(): void {
    this.#changed.dispose();
  }
}
