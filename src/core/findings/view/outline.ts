import type { ShownFinding } from '../shownFinding.ts';
import { fileOf, type Group, type GroupTopic, inReadingOrder, toFileGroups } from './groups.ts';

/** Findings under a heading; `shown` is what is below it now, at any depth. */
export interface GroupNode {
  readonly kind: 'group';
  /** The same for the same heading as long as the window lives; unlike that of any other node. */
  readonly id: string;
  readonly topic: GroupTopic;
  readonly shown: readonly ShownFinding[];
  readonly parent: GroupNode | undefined;
}

/** One finding. */
export interface FindingNode {
  readonly kind: 'finding';
  readonly id: string;
  readonly shown: ShownFinding;
  readonly parent: GroupNode;
}

/** Stands for children that are too many to be shown. */
interface MoreNode {
  readonly kind: 'more';
  readonly id: string;
  readonly count: number;
  readonly parent: GroupNode | undefined;
}

/** A line of a tree of findings. */
export type OutlineNode = GroupNode | FindingNode | MoreNode;

/** Most children of one node: more help nobody and cost seconds. */
export const MAX_CHILDREN = 2_000;

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/**
 * A tree of findings whose nodes outlive updates, so that what is expanded and selected stays so: groups, under them files, under those
 * findings; groups that are files themselves hold findings. Children are made when they are asked for.
 */
export class Outline {
  #roots: readonly OutlineNode[] = [];
  /** The ids of all groups of the first level, also of those too many to be shown. */
  #headings: readonly string[] = [];
  #nodes = new Map<string, OutlineNode>();
  /** Nodes from before the last reset, which may come again. */
  #former: ReadonlyMap<string, OutlineNode> = new Map();

  /** The children of a node, or the first level. */
  children(node?: OutlineNode): readonly OutlineNode[] {
    if (node === undefined) return this.#roots;
    if (node.kind !== 'group') return [];
    return node.topic.kind === 'file'
      ? this.#capped(inReadingOrder(node.shown), node, (shown) => this.#findingNode(shown, node))
      : this.#capped(toFileGroups(node.shown), node, (group) => this.#groupNode(group, node));
  }

  /** Takes these findings in the place of all. */
  reset(groups: readonly Group[]): void {
    this.#former = this.#nodes;
    this.#nodes = new Map();
    this.#headings = groups.map((group) => idOf(group, undefined));
    this.#roots = this.#capped(groups, undefined, (group) => this.#groupNode(group, undefined));
  }

  /**
   * Takes groups that differ from the present ones only in findings whose main place is in one of these files (absolute paths). Returns
   * the nodes to draw again with what is below them, or undefined when that is the whole tree.
   */
  update(groups: readonly Group[], files: ReadonlySet<string>): readonly OutlineNode[] | undefined {
    const headings = groups.map((group) => idOf(group, undefined));
    if (headings.join('\n') !== this.#headings.join('\n')) {
      this.reset(groups);
      return undefined;
    }
    return groups.flatMap((group, at) => this.#updateRoot(headings[at] ?? '', group, files));
  }

  #updateRoot(id: string, { topic, shown }: Group, files: ReadonlySet<string>): readonly OutlineNode[] {
    const root = this.#nodes.get(id);
    if (root?.kind !== 'group') return []; // one of too many to be shown
    const isAffected = (each: ShownFinding): boolean => files.has(fileOf(each) ?? '');
    const before = Map.groupBy(root.shown.filter(isAffected), fileOf);
    const after = Map.groupBy(shown.filter(isAffected), fileOf);
    const hasSameLines =
      root.shown.length === shown.length &&
      [...before.keys(), ...after.keys()].every((file) => before.has(file) && after.has(file));
    this.#groupNode({ topic, shown }, undefined);
    if (before.size === 0 && after.size === 0) return [];
    if (topic.kind === 'file' || !hasSameLines) return [root];
    return [...after].flatMap(([file, own]) => {
      const group = { topic: { kind: 'file', key: file ?? '', file }, shown: own } as const;
      return this.#nodes.has(idOf(group, root)) ? [this.#groupNode(group, root)] : [];
    });
  }

  #groupNode({ topic, shown }: Group, parent: GroupNode | undefined): GroupNode {
    const id = idOf({ topic }, parent);
    const node = this.#known<Mutable<GroupNode>>(id, 'group') ?? { kind: 'group', id, topic, shown, parent };
    this.#nodes.set(id, Object.assign(node, { topic, shown, parent }));
    return node;
  }

  #findingNode(shown: ShownFinding, parent: GroupNode): FindingNode {
    const id = `${parent.id}/finding:${shown.run.id}:${String(shown.finding.index)}`;
    const node = this.#known<Mutable<FindingNode>>(id, 'finding') ?? { kind: 'finding', id, shown, parent };
    this.#nodes.set(id, Object.assign(node, { shown, parent }));
    return node;
  }

  #known<T extends OutlineNode>(id: string, kind: T['kind']): T | undefined {
    const known = this.#nodes.get(id) ?? this.#former.get(id);
    return known?.kind === kind ? (known as T) : undefined;
  }

  #capped<T>(
    items: readonly T[],
    parent: GroupNode | undefined,
    toNode: (item: T) => OutlineNode,
  ): readonly OutlineNode[] {
    const nodes = items.slice(0, MAX_CHILDREN).map(toNode);
    const count = items.length - nodes.length;
    return count === 0 ? nodes : [...nodes, { kind: 'more', id: `${parent?.id ?? ''}/more`, count, parent }];
  }
}

function idOf({ topic }: Pick<Group, 'topic'>, parent: GroupNode | undefined): string {
  return `${parent?.id ?? ''}/${topic.kind}:${topic.key}`;
}
