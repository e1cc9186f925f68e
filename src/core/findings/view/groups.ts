import { pathKey } from '../../paths.ts';
import { isReported, type Verdict, VERDICTS } from '../result/result.ts';
import { type Severity, severityRank } from '../finding.ts';
import type { ShownFinding } from '../shownFinding.ts';
import { type TriageState, TRIAGE_STATES } from '../triage/triage.ts';

/** The default first. */
export const GROUPINGS = ['severity', 'file', 'feature', 'cwe', 'triage', 'owner'] as const;

export type Grouping = (typeof GROUPINGS)[number];

/** What the findings of a group share, unique among groups on one level. Groups are sorted by `rank`; what is undefined comes last. */
export type GroupTopic = { readonly rank: number | string | undefined } & (
  | { readonly kind: 'severity'; readonly value: Severity }
  | { readonly kind: 'triage'; readonly value: TriageState }
  | { readonly kind: 'verdict'; readonly value: Verdict | undefined }
  /** The first CWE of a finding. */
  | { readonly kind: 'cwe'; readonly value: number | undefined }
  /** `pathKey` of the file. */
  | { readonly kind: 'file'; readonly value: string | undefined }
  /** All owners of a finding, with spaces. */
  | { readonly kind: 'feature' | 'owner'; readonly value: string | undefined }
);

export interface Group {
  readonly topic: GroupTopic;
  readonly shown: readonly ShownFinding[];
}

const topicsOf: { readonly [K in GroupTopic['kind']]: (shown: ShownFinding) => GroupTopic } = {
  severity: ({ finding: { severity: value } }) => ({ kind: 'severity', value, rank: severityRank(value) }),
  triage: ({ triage: { state: value } }) => ({ kind: 'triage', value, rank: TRIAGE_STATES.indexOf(value) }),
  verdict: ({ verdict: value }) => ({ kind: 'verdict', value, rank: value && VERDICTS.indexOf(value) }),
  cwe: ({ finding: { cwes } }) => ({ kind: 'cwe', value: cwes[0], rank: cwes[0] }),
  file: ({ places: [place] }) => {
    const value = place && pathKey(place.file);
    return { kind: 'file', value, rank: value && `${place.path}\0${value}` };
  },
  feature: ({ finding: { feature } }) => ({ kind: 'feature', value: feature, rank: feature }),
  owner: ({ owners = [] }) => {
    const value = owners.length === 0 ? undefined : owners.join(' ');
    return { kind: 'owner', value, rank: value };
  },
};

function groupsBy(kind: GroupTopic['kind'], shown: readonly ShownFinding[]): Group[] {
  const topicOf = topicsOf[kind];
  return [...Map.groupBy(shown, (each) => topicOf(each).value).values()]
    .flatMap((group) => group.slice(0, 1).map((first) => ({ topic: topicOf(first), shown: group })))
    .sort((one, other) => compareRanks(one.topic.rank, other.topic.rank));
}

/** Each finding is in one group: reported findings by `grouping`, then absent ones by verdict. */
export function toGroups(shown: readonly ShownFinding[], grouping: Grouping): Group[] {
  const reported = shown.filter(({ verdict }) => isReported(verdict));
  return [
    ...(grouping === 'file' ? toPlaceGroups(reported) : groupsBy(grouping, reported)),
    ...toVerdictGroups(shown.filter(({ verdict }) => !isReported(verdict))),
  ];
}

export function toVerdictGroups(shown: readonly ShownFinding[]): Group[] {
  return groupsBy('verdict', shown);
}

/** By file on this machine, then by feature of a live application, then the rest. */
export function toPlaceGroups(shown: readonly ShownFinding[]): Group[] {
  const {
    here = [],
    live = [],
    nowhere = [],
  } = Object.groupBy(shown, ({ places, finding }) =>
    places.length > 0 ? 'here' : finding.feature === undefined ? 'nowhere' : 'live',
  );
  return [...groupsBy('file', here), ...groupsBy('feature', live), ...groupsBy('file', nowhere)];
}

export function inReadingOrder(shown: readonly ShownFinding[]): ShownFinding[] {
  return shown.toSorted(
    (a, b) =>
      severityRank(a.finding.severity) - severityRank(b.finding.severity) ||
      (a.places[0]?.startLine ?? 0) - (b.places[0]?.startLine ?? 0) ||
      a.finding.index - b.finding.index,
  );
}

function compareRanks(a: GroupTopic['rank'], b: GroupTopic['rank']): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return Number(a === undefined) - Number(b === undefined) || compareText(String(a), String(b));
}

/** By code units: ten times as fast as a locale's order, and the same everywhere. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
