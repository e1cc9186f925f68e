import { clip } from '../visibleText.ts';
import type { TriageDecision } from './triage/triage.ts';

/**
 * The most severe comes first. `none` means no business impact; `unrated` means that no rating
 * could be read.
 */
export const SEVERITIES = ['critical', 'high', 'medium', 'low', 'none', 'unrated'] as const;

export type Severity = (typeof SEVERITIES)[number];

export function severityRank(severity: Severity): number {
  return SEVERITIES.indexOf(severity);
}

/** Unrated findings always pass, because they may be severe. */
export function isAtLeast(severity: Severity, minimum: Severity): boolean {
  return severity === 'unrated' || severityRank(severity) <= severityRank(minimum);
}

/** A text with more UTF-16 units than this isn't a path. */
export const MAX_PATH = 4_096;

export const LOCATION_ROLES = ['source', 'sink', 'step', 'evidence', 'related'] as const;

export type LocationRole = (typeof LOCATION_ROLES)[number];

/**
 * Lines and columns are 1-based. `location/evidence` may correct those of a result's `Finding`, but
 * not those of `Details`.
 */
export interface Location {
  /** The path is untrusted and has no line suffix. */
  readonly path: string;
  readonly startLine?: number | undefined;
  /** It is never before `startLine`. */
  readonly endLine?: number | undefined;
  readonly startColumn?: number | undefined;
  readonly endColumn?: number | undefined;
  /** Columns count code points, not UTF-16 units. Only details have this and `snippet`. */
  readonly inCodePoints?: boolean | undefined;
  readonly snippet?: string | undefined;
  readonly role?: LocationRole | undefined;
  readonly label?: string | undefined;
  /** The path belongs to the uploaded archive with this index. */
  readonly targetIndex?: number | undefined;
}

/**
 * The values are names in `toPlainFinding`. `details` is a further description. `other` has the
 * fields that no other part of the finding shows.
 */
const blockNames = {
  details: 'details',
  impact: 'impact',
  exploitScenario: 'exploit_scenario',
  attackScenario: 'attack_scenario',
  evidence: 'evidence',
  reproductionSteps: 'reproduction_steps',
  rootCause: 'root_cause',
  proofOfConcept: 'poc',
  recommendation: 'further_recommendations',
  other: 'other_fields',
} as const;

export type BlockKind = keyof typeof blockNames;

export interface Block {
  readonly kind: BlockKind;
  readonly text: string;
}

/** The score is from 0.1 to 10. The vector is a line with invisible characters escaped. */
export interface Cvss {
  readonly score?: number | undefined;
  readonly vector?: string | undefined;
}

/**
 * `summary`, `toolDecision`, and the texts of `locations` are untrusted and not escaped. Other
 * texts are single lines with invisible characters escaped.
 */
export interface Finding {
  /** This is the 0-based position among the findings of the file. */
  readonly index: number;
  /** This is the ID in the file, which need not be unique, or `#` and the 1-based position. */
  readonly id: string;
  readonly title: string;
  readonly rule?: string | undefined;
  readonly severity: Severity;
  /** This is the file's rating, if it differs from `severity` by more than letter case. */
  readonly severityText?: string | undefined;
  readonly summary: string;
  /** The main location is first. */
  readonly locations: readonly Location[];
  readonly cwes: readonly number[];
  readonly cvss?: Cvss | undefined;
  /** It is present only together with a `url`, `feature`, or `perspective`. */
  readonly method?: string | undefined;
  /** The URL is untrusted and may be relative. */
  readonly url?: string | undefined;
  readonly feature?: string | undefined;
  /** The text may differ from the service's words (docs/api.md, section 2.7). */
  readonly perspective?: string | undefined;
  /** The tool's suppression of the finding counts until a user decides. */
  readonly toolDecision?: TriageDecision | undefined;
  /**
   * `clipped` means that the parser or `writeResult` cut texts or locations. `unreadable` means
   * that the item isn't an object.
   */
  readonly shortfall?: 'clipped' | 'unreadable' | undefined;
}

/** Details are read only on demand, because they may be large. `confidence` is a single line. */
export interface Details {
  readonly description: string;
  readonly recommendation: string;
  readonly blocks: readonly Block[];
  readonly confidence?: string | undefined;
  /** The finding's locations come first, in the same order. */
  readonly locations: readonly Location[];
}

export interface ReportedFinding extends Finding, Details {
  /** It is absent if the item's JSON is too long or nested too deeply. */
  readonly raw?: string | undefined;
}

export interface WithDetails {
  readonly details: Details;
}

export const maxLocations = 20;

export function splitReported(reported: ReportedFinding): { readonly finding: Finding } & WithDetails {
  const { description, recommendation, blocks, confidence, locations, ...others } = reported;
  const finding = {
    ...others,
    raw: undefined,
    locations: locations.slice(0, maxLocations).map(withoutQuote),
  };
  return { finding, details: { description, recommendation, blocks, confidence, locations } };
}

export function withoutQuote(location: Location): Location {
  return { ...location, snippet: undefined, inCodePoints: undefined };
}

export function detailsFrom({ summary, locations }: Finding): Details {
  return { description: summary, recommendation: '', blocks: [], locations };
}

/** Counts UTF-16 units. 10,000 summaries must leave room in a result's 16 megabytes. */
export const maxSummary = 120;

export function summaryOf(description: string): string {
  return clip(description.trim(), maxSummary);
}

export function isLiveFinding(finding: Pick<Finding, 'url' | 'feature' | 'perspective'>): boolean {
  return (finding.url ?? finding.feature ?? finding.perspective) !== undefined;
}

export function mainLocationsOf({ locations }: Pick<Finding, 'locations'>): readonly Location[] {
  const main = locations.filter(({ role }) => role === undefined);
  return main.length > 0 ? main : locations.slice(0, 1);
}

export function attackPathOf({ locations }: Pick<Finding, 'locations'>): readonly Location[] {
  const rank = ({ role }: Location): number =>
    ({ source: 0, step: 1, sink: 2, evidence: 3, related: 3 })[role ?? 'step'];
  const keyOf = ({ path, startLine }: Location): string => `${path}:${String(startLine)}`;
  const withRole = new Set(locations.filter(({ role }) => role !== undefined).map(keyOf));
  // The main location is often listed a second time with its role.
  const unique = locations.filter(
    (location) => location.role !== undefined || !withRole.has(keyOf(location)),
  );
  return unique.toSorted((a, b) => rank(a) - rank(b));
}

export function toPlainFinding(finding: Finding, details: Details): Readonly<Record<string, unknown>> {
  const { id, title, severity, severityText, cwes, cvss } = finding;
  const { rule, feature, perspective, method, url } = finding;
  const { confidence, description, recommendation, locations } = details;
  const blocks = Map.groupBy(details.blocks, ({ kind }) => blockNames[kind]);
  const parts: readonly (readonly [string, unknown])[] = [
    ['id', id],
    ['title', title],
    ['rule_id', rule],
    ['severity', severityText ?? severity],
    ['confidence', confidence],
    ['description', description],
    ...[...blocks].map(([name, texts]) => [name, texts.map(({ text }) => text).join('\n\n')] as const),
    ['recommendation', recommendation],
    ['locations', locations],
    ['cwes', cwes],
    ['cvss', cvss],
    ['feature_name', feature],
    ['perspective', perspective],
    ['method', method],
    ['url', url],
  ];
  return Object.fromEntries(parts.filter(([, value]) => value !== undefined && value !== ''));
}

export function cweUrl(cwe: number): string {
  return `https://cwe.mitre.org/data/definitions/${String(cwe)}.html`;
}
