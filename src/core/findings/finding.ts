import { clip } from '../visibleText.ts';
import type { TriageDecision } from './triage/triage.ts';

/** Worst first. `none` has no business impact; the rating of `unrated` cannot be read. */
export const SEVERITIES = ['critical', 'high', 'medium', 'low', 'none', 'unrated'] as const;

export type Severity = (typeof SEVERITIES)[number];

export function severityRank(severity: Severity): number {
  return SEVERITIES.indexOf(severity);
}

/** Nobody knows that an unrated finding is mild. */
export function isAtLeast(severity: Severity, minimum: Severity): boolean {
  return severity === 'unrated' || severityRank(severity) <= severityRank(minimum);
}

/** Characters; a longer text is no path. */
export const MAX_PATH = 4_096;

export const PLACE_ROLES = ['source', 'sink', 'step', 'evidence', 'related'] as const;

export type LocationRole = (typeof PLACE_ROLES)[number];

/**
 * Lines and columns are 1-based; an unknown line is absent. Details have them as reported, a
 * finding those of the uploaded text, or of the file here if it is not known what was uploaded.
 */
export interface Location {
  /**
   * As received, without a line suffix. Untrusted: only `location/resolver` turns it into a file.
   */
  readonly path: string;
  readonly startLine?: number | undefined;
  /** Never before `startLine`. */
  readonly endLine?: number | undefined;
  readonly startColumn?: number | undefined;
  readonly endColumn?: number | undefined;
  /** Columns count code points, not UTF-16 units. Only in details, as is `snippet`. */
  readonly inCodePoints?: boolean | undefined;
  readonly snippet?: string | undefined;
  readonly role?: LocationRole | undefined;
  readonly label?: string | undefined;
  /** Position of the uploaded archive that the path belongs to, from 0. */
  readonly targetIndex?: number | undefined;
}

/**
 * Topics of blocks, by their names in exports. `details` is a second description, `other` what no
 * other part shows.
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

/** Score from 0 to 10, vector as received. */
export interface Cvss {
  readonly score?: number | undefined;
  readonly vector?: string | undefined;
}

/**
 * What lists, Problems, filters, and decisions need. `id`, `title`, `rule`, `severityText`, `url`,
 * and `feature` are single lines with visible control and bidi characters. Every other text is
 * untrusted and as received.
 */
export interface Finding {
  /** Position in the findings file, from 0. */
  readonly index: number;
  /** The ID in the file, else `#` and the position from 1. For display, not for identity. */
  readonly id: string;
  readonly title: string;
  readonly rule?: string | undefined;
  readonly severity: Severity;
  /** The rating as written, if it differs from `severity`. */
  readonly severityText?: string | undefined;
  readonly summary: string;
  /** The main location first; empty if no file path can be read. */
  readonly locations: readonly Location[];
  readonly cwes: readonly number[];
  readonly cvss?: Cvss | undefined;
  /** HTTP method; only with a `url`, a `feature`, or a `perspective`. */
  readonly method?: string | undefined;
  /** Untrusted, and may be relative. */
  readonly url?: string | undefined;
  readonly feature?: string | undefined;
  /** In the service's words (docs/api.md, section 2.7). */
  readonly perspective?: string | undefined;
  /** The tool that found it has suppressed it: that counts until people decide. */
  readonly toolDecision?: TriageDecision | undefined;
  /**
   * `clipped`: texts or locations were cut, here or for the size of the result. `unreadable`: the
   * item is no object, and only `ReportedFinding.raw` has its content.
   */
  readonly shortfall?: 'clipped' | 'unreadable' | undefined;
}

/** Read when somebody looks at a finding. `confidence` is a single line. */
export interface Details {
  readonly description: string;
  readonly recommendation: string;
  readonly blocks: readonly Block[];
  readonly confidence?: string | undefined;
  /**
   * As reported, with quotes: those of the finding in the same order, then further ones, at most
   * 500.
   */
  readonly locations: readonly Location[];
}

export interface ReportedFinding extends Finding, Details {
  /** The item as JSON; absent if it is too long or nested too deeply. */
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

/** Where details cannot be read any more. */
export function detailsFrom({ summary, locations }: Finding): Details {
  return { description: summary, recommendation: '', blocks: [], locations };
}

/** In characters: 10,000 summaries take one or two megabytes. */
export const maxSummary = 120;

export function summaryOf(description: string): string {
  return clip(description.trim(), maxSummary);
}

export function isLiveFinding({
  url,
  feature,
  perspective,
}: Pick<Finding, 'url' | 'feature' | 'perspective'>): boolean {
  return (url ?? feature ?? perspective) !== undefined;
}

/** Locations without a role; if all have one, the first location. */
export function mainLocationsOf({ locations }: Pick<Finding, 'locations'>): readonly Location[] {
  const main = locations.filter(({ role }) => role === undefined);
  return main.length > 0 ? main : locations.slice(0, 1);
}

/** The data flow, from source to sink; steps in file order. */
export function flowOf({ locations }: Pick<Finding, 'locations'>): readonly Location[] {
  return (['source', 'step', 'sink'] as const).flatMap((role) =>
    locations.filter((location) => location.role === role),
  );
}

/** All locations, each once, from the source to the sink, then supporting locations. */
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

/** Empty fields are omitted. */
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
