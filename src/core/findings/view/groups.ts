import { pathKey } from '../../paths.ts';
import { isReported, type Verdict, VERDICTS } from '../result/result.ts';
import { type Severity, SEVERITIES, severityRank } from '../finding.ts';
import type { ShownFinding } from '../shownFinding.ts';
import { type TriageState, TRIAGE_STATES } from '../triage/triage.ts';

/** The default first. */
export const GROUPINGS = ['severity', 'file', 'feature', 'cwe', 'triage', 'owner'] as const;

export type Grouping = (typeof GROUPINGS)[number];

/** What the findings of a group share; `key` is unique among groups on one level. */
export type GroupTopic =
  | { readonly kind: 'severity'; readonly key: string; readonly severity: Severity }
  | { readonly kind: 'file'; readonly key: string; readonly file: string | undefined }
  | { readonly kind: 'feature'; readonly key: string; readonly feature: string | undefined }
  | { readonly kind: 'cwe'; readonly key: string; readonly cwe: number | undefined }
  | { readonly kind: 'triage'; readonly key: string; readonly state: TriageState }
  | { readonly kind: 'owner'; readonly key: string; readonly owners: readonly string[] }
  | { readonly kind: 'verdict'; readonly key: string; readonly verdict: Verdict | undefined };

export interface Group {
  readonly topic: GroupTopic;
  readonly shown: readonly ShownFinding[];
}

/** Each finding is in one group: reported findings by `grouping`, then absent ones by verdict. */
export function toGroups(shown: readonly ShownFinding[], grouping: Grouping): Group[] {
  const reported = shown.filter(({ verdict }) => isReported(verdict));
  return [
    ...groupsOf(reported, grouping),
    ...toVerdictGroups(shown.filter(({ verdict }) => !isReported(verdict))),
  ];
}

/** Severities worst first, files by path, CWEs (a finding's first) by number, features and owners by name. Findings without any come last. */
function groupsOf(shown: readonly ShownFinding[], grouping: Grouping): Group[] {
  switch (grouping) {
    case 'severity': {
      const groups = Map.groupBy(shown, ({ finding }) => finding.severity);
      return SEVERITIES.flatMap((severity) =>
        toGroup({ kind: 'severity', key: severity, severity }, groups.get(severity)),
      );
    }
    case 'triage': {
      const groups = Map.groupBy(shown, ({ triage }) => triage.state);
      return TRIAGE_STATES.flatMap((state) =>
        toGroup({ kind: 'triage', key: state, state }, groups.get(state)),
      );
    }
    case 'cwe': {
      const groups = Map.groupBy(shown, ({ finding }) => finding.cwes[0]);
      return [...groups]
        .sort(([a], [b]) => (a ?? Infinity) - (b ?? Infinity))
        .flatMap(([cwe, group]) => toGroup({ kind: 'cwe', key: String(cwe), cwe }, group));
    }
    case 'owner': {
      const groups = Map.groupBy(shown, ({ owners = [] }) => owners.join(' '));
      return [...groups]
        .sort(([a], [b]) => Number(a === '') - Number(b === '') || compareText(a, b))
        .flatMap(([key, group]) => toGroup({ kind: 'owner', key, owners: group[0]?.owners ?? [] }, group));
    }
    case 'file':
      return toPlaceGroups(shown);
    case 'feature':
      return toFeatureGroups(shown);
  }
}

export function toVerdictGroups(shown: readonly ShownFinding[]): Group[] {
  const groups = Map.groupBy(shown, ({ verdict }) => verdict);
  return [...VERDICTS, undefined].flatMap((verdict) =>
    toGroup({ kind: 'verdict', key: String(verdict), verdict }, groups.get(verdict)),
  );
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
  return [...toFileGroups(here), ...toFeatureGroups(live), ...toFileGroups(nowhere)];
}

function toFeatureGroups(shown: readonly ShownFinding[]): Group[] {
  return [...Map.groupBy(shown, ({ finding }) => finding.feature)]
    .sort(([a], [b]) => Number(a === undefined) - Number(b === undefined) || compareText(a ?? '', b ?? ''))
    .flatMap(([feature, group]) => toGroup({ kind: 'feature', key: feature ?? '', feature }, group));
}

function toFileGroups(shown: readonly ShownFinding[]): Group[] {
  const groups = Map.groupBy(shown, ({ places: [place] }) => place && pathKey(place.file));
  return [...groups.values()]
    .map((group) => ({ file: group[0]?.places[0]?.file, group, path: group[0]?.places[0]?.path ?? '' }))
    .sort(
      (a, b) =>
        Number(a.file === undefined) - Number(b.file === undefined) ||
        compareText(a.path, b.path) ||
        compareText(a.file ?? '', b.file ?? ''),
    )
    .flatMap(({ file, group }) => toGroup({ kind: 'file', key: file ?? '', file }, group));
}

export function inReadingOrder(shown: readonly ShownFinding[]): ShownFinding[] {
  return shown.toSorted(
    (a, b) =>
      severityRank(a.finding.severity) - severityRank(b.finding.severity) ||
      (a.places[0]?.startLine ?? 0) - (b.places[0]?.startLine ?? 0) ||
      a.finding.index - b.finding.index,
  );
}

function toGroup(topic: GroupTopic, shown: readonly ShownFinding[] | undefined): Group[] {
  return shown === undefined ? [] : [{ topic, shown }];
}

/** By code units: ten times as fast as a locale's order, and the same everywhere. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
