/** The severities, worst first; `none` is a finding without business impact, `unrated` one whose rating we cannot read. */
export const SEVERITIES = ['critical', 'high', 'medium', 'low', 'none', 'unrated'] as const;

/** How bad a finding is. */
export type Severity = (typeof SEVERITIES)[number];

/** 0 for the worst severity, growing as they get milder: sorts findings as people read them. */
export function severityRank(severity: Severity): number {
  return SEVERITIES.indexOf(severity);
}

/** Whether a finding passes a minimum; an unrated one always does, since nobody knows that it is mild. */
export function isAtLeast(severity: Severity, minimum: Severity): boolean {
  return severity === 'unrated' || severityRank(severity) <= severityRank(minimum);
}

/** Longest text that can be a path. */
export const MAX_PATH = 4_096;

/** What a place can be to its finding. */
export const PLACE_ROLES = ['source', 'sink', 'step', 'evidence', 'related'] as const;

/** What a place is to its finding, when the file says so. */
export type PlaceRole = (typeof PLACE_ROLES)[number];

/** A position in a file as the findings file tells it: lines and columns are 1-based, and an unknown line is absent. */
export interface Place {
  /** The path as it came, untrusted, without a line suffix: only a `Resolver` may turn it into a file. */
  readonly path: string;
  readonly startLine?: number | undefined;
  /** Never before `startLine`. */
  readonly endLine?: number | undefined;
  readonly startColumn?: number | undefined;
  readonly endColumn?: number | undefined;
  /** Code that is said to stand there, as it came. */
  readonly snippet?: string | undefined;
  readonly role?: PlaceRole | undefined;
  /** What the file says about this place, as it came. */
  readonly label?: string | undefined;
  /** Which of the uploaded archives the path belongs to, counted from 0. */
  readonly targetIndex?: number | undefined;
}

/** What a further block of prose is about; `details` is a second description, `recommendation` a second recommendation. */
export type BlockKind =
  | 'details'
  | 'impact'
  | 'exploitScenario'
  | 'attackScenario'
  | 'evidence'
  | 'reproductionSteps'
  | 'proofOfConcept'
  | 'recommendation';

/** Prose beside the description, as it came. */
export interface Block {
  readonly kind: BlockKind;
  readonly text: string;
}

/** A rating by the Common Vulnerability Scoring System: score 0 to 10, vector as it came. */
export interface Cvss {
  readonly score?: number | undefined;
  readonly vector?: string | undefined;
}

/**
 * One vulnerability finding of a run. `id`, `title`, `rule`, `severityText`, `confidence`, `url` and `feature` are single lines in which control and bidi characters
 * are visible; every other text is untrusted and as it came.
 */
export interface Finding {
  /** Position in the list of the findings file, counted from 0. */
  readonly index: number;
  /** The id in the file, else a hash of run, title, path, start line and ordinal: for display, not for identity across runs. */
  readonly id: string;
  /** True for an `id` that is a hash, which tells a person nothing. */
  readonly isIdMade?: boolean | undefined;
  /** Empty when the file names nothing that could be one. */
  readonly title: string;
  /** The ID of the rule that reports it, when the file names one. */
  readonly rule?: string | undefined;
  readonly severity: Severity;
  /** The rating as written, when it is not the name of `severity` itself. */
  readonly severityText?: string | undefined;
  /** How sure the finding is said to be, as written. */
  readonly confidence?: string | undefined;
  readonly description: string;
  readonly blocks: readonly Block[];
  readonly recommendation: string;
  /** The main place first; empty when no file path can be read. */
  readonly places: readonly Place[];
  readonly cwes: readonly number[];
  readonly cvss?: Cvss | undefined;
  /** Of a finding of a live application, the HTTP method; present only beside a `url`, a `feature` or a `perspective`. */
  readonly method?: string | undefined;
  /** The address in the application where it was found, untrusted: it may be relative. */
  readonly url?: string | undefined;
  /** The name of the feature of the application that has it. */
  readonly feature?: string | undefined;
  /** How the feature was tested, in the service's word (docs/api.md, section 2.7). */
  readonly perspective?: string | undefined;
  /** When the other members do not tell all: texts or places were cut, or the item is no object and only `raw` tells of it. */
  readonly shortfall?: 'clipped' | 'unreadable' | undefined;
  /** The item of the list as JSON, to be shown whole on request; absent when it is too long or nested too deeply for that. */
  readonly raw?: string | undefined;
}

/** True for a finding of a live application: it names an address, a feature or a perspective. */
export function isLiveFinding({ url, feature, perspective }: Finding): boolean {
  return (url ?? feature ?? perspective) !== undefined;
}

/** The places along which data flows, from source to sink; steps in the order of the findings file. */
export function flowOf({ places }: Pick<Finding, 'places'>): readonly Place[] {
  return (['source', 'step', 'sink'] as const).flatMap((role) =>
    places.filter((place) => place.role === role),
  );
}

/** How an attack goes through the code: all places, each once. The source is first, then steps and places without a role in the order of the file, the sink, and what supports the finding. */
export function attackPathOf({ places }: Pick<Finding, 'places'>): readonly Place[] {
  const rank = ({ role }: Place): number =>
    ({ source: 0, step: 1, sink: 2, evidence: 3, related: 3 })[role ?? 'step'];
  const isSameLine = (one: Place, other: Place): boolean =>
    one.path === other.path && one.startLine === other.startLine;
  // The main place is often also listed with its role.
  const isRepeated = (place: Place): boolean =>
    place.role === undefined && places.some((other) => other.role !== undefined && isSameLine(place, other));
  return places.filter((place) => !isRepeated(place)).toSorted((one, other) => rank(one) - rank(other));
}

const blockNames: Readonly<Record<BlockKind, string>> = {
  details: 'details',
  impact: 'impact',
  exploitScenario: 'exploit_scenario',
  attackScenario: 'attack_scenario',
  evidence: 'evidence',
  reproductionSteps: 'reproduction_steps',
  proofOfConcept: 'poc',
  recommendation: 'further_recommendations',
};

/** A finding under plain names, without what it does not have. */
export function toPlainFinding(finding: Finding): Readonly<Record<string, unknown>> {
  const { id, title, severity, severityText, confidence, description, recommendation, places, cwes, cvss } =
    finding;
  const { rule, feature, perspective, method, url } = finding;
  const blocks = Map.groupBy(finding.blocks, ({ kind }) => blockNames[kind]);
  const parts: readonly (readonly [string, unknown])[] = [
    ['id', id],
    ['title', title],
    ['rule_id', rule],
    ['severity', severityText ?? severity],
    ['confidence', confidence],
    ['description', description],
    ...[...blocks].map(([name, texts]) => [name, texts.map(({ text }) => text).join('\n\n')] as const),
    ['recommendation', recommendation],
    ['locations', places],
    ['cwes', cwes],
    ['cvss', cvss],
    ['feature_name', feature],
    ['perspective', perspective],
    ['method', method],
    ['url', url],
  ];
  return Object.fromEntries(parts.filter(([, value]) => value !== undefined && value !== ''));
}
