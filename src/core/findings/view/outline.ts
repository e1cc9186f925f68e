import type { ShownFinding } from '../shownFinding.ts';
import { type Group, type GroupTopic, inReadingOrder, toPlaceGroups } from './groups.ts';

/** `shown` has all findings below the heading, at any depth. */
export interface GroupNode {
  readonly kind: 'group';
  /** Unique, and the same whenever the tree is built. */
  readonly id: string;
  readonly topic: GroupTopic;
  readonly shown: readonly ShownFinding[];
  readonly parent: GroupNode | undefined;
}

export interface FindingNode {
  readonly kind: 'finding';
  readonly id: string;
  readonly shown: ShownFinding;
  readonly parent: GroupNode;
}

interface MoreNode {
  readonly kind: 'more';
  readonly id: string;
  readonly count: number;
  readonly parent: GroupNode | undefined;
}

/** Decisions of others that nobody has answered. */
interface ProposalsNode {
  readonly kind: 'proposals';
  readonly id: string;
  readonly folder: string;
  readonly count: number;
}

export type OutlineNode = GroupNode | FindingNode | MoreNode | ProposalsNode;

/** Of one node; more take seconds to show. */
export const maxChildren = 2_000;

export function rootNodes(groups: readonly Group[]): readonly OutlineNode[] {
  return capped(groups, undefined, (group) => groupNode(group, undefined));
}

/** Below a file or a feature its findings, below any other group files and features. */
export function childNodes(node: OutlineNode): readonly OutlineNode[] {
  if (node.kind !== 'group') return [];
  const { topic } = node;
  return topic.kind === 'file' || (topic.kind === 'feature' && topic.value !== undefined)
    ? capped(inReadingOrder(node.shown), node, (shown) => findingNode(shown, node))
    : capped(toPlaceGroups(node.shown), node, (group) => groupNode(group, node));
}

function groupNode({ topic, shown }: Group, parent: GroupNode | undefined): GroupNode {
  const id = `${parent?.id ?? ''}/${topic.kind}:${String(topic.value ?? '')}`;
  return { kind: 'group', id, topic, shown, parent };
}

function findingNode(shown: ShownFinding, parent: GroupNode): FindingNode {
  const id = `${parent.id}/finding:${shown.run.id}:${shown.name}`;
  return { kind: 'finding', id, shown, parent };
}

function capped<T>(
  items: readonly T[],
  parent: GroupNode | undefined,
  toNode: (item: T) => OutlineNode,
): readonly OutlineNode[] {
  const nodes = items.slice(0, maxChildren).map(toNode);
  const count = items.length - nodes.length;
  return count === 0 ? nodes : [...nodes, { kind: 'more', id: `${parent?.id ?? ''}/more`, count, parent }];
}
