import { hash } from 'node:crypto';
import type {
  Location,
  Log,
  ReportingDescriptor,
  ReportingDescriptorReference,
  Result,
  Run as SarifRun,
  ToolComponent,
} from 'sarif';
import { type Run, runIdOf } from '../../run/state/run.ts';
import { hasAllFindings } from '../chooseRun.ts';
import { isReported, type Verdict } from '../compare/verdict.ts';
import {
  type Finding,
  flowOf,
  type Place,
  type PlaceRole,
  type Severity,
  toPlainFinding,
} from '../finding.ts';
import type { ShownFinding, ShownRun } from '../shownFinding.ts';
import { isUndecided, needsNote } from '../triage/triage.ts';

/** The program that writes an export. */
export interface ExportTool {
  readonly name: string;
  readonly version: string;
}

/** Where the bands of CVSS 3 and 4 begin and end, and a score that stands for each. */
const bands: Readonly<Record<Exclude<Severity, 'unrated'>, { from: number; below: number; usual: number }>> =
  {
    critical: { from: 9, below: 10.1, usual: 9.5 },
    high: { from: 7, below: 9, usual: 8 },
    medium: { from: 4, below: 7, usual: 5.5 },
    low: { from: 0.1, below: 4, usual: 2 },
    none: { from: 0, below: 0.1, usual: 0 },
  };

/** A run's findings as a SARIF 2.1.0 log; equal findings give equal text. */
export function toSarif(source: ShownRun, tool: ExportTool): Log {
  const { run, shown, absent = [] } = source;
  const all = [...shown, ...absent];
  const rules = toRules(all.map(({ finding }) => finding));
  return {
    $schema: 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: tool.name,
            semanticVersion: tool.version,
            rules: [...rules.values()].map(toDescriptor),
            supportedTaxonomies: [{ name: 'CWE', index: 0 }],
          },
        },
        invocations: [toInvocation(source)],
        originalUriBaseIds: {
          [sourceRoot]: { description: { text: run.targets.map(({ name }) => name).join(', ') } },
        },
        taxonomies: [cweTaxonomy(all.flatMap(({ finding }) => finding.cwes))],
        columnKind: 'utf16CodeUnits',
        results: all.map((each) => toResult(each, rules, run)),
      },
    ],
  };
}

function toInvocation({ run, cut }: ShownRun): NonNullable<SarifRun['invocations']>[number] {
  const { dispatchedAt, exitedAt } = { dispatchedAt: undefined, exitedAt: undefined, ...run };
  const commits = run.targets.flatMap(({ name, commit }) =>
    commit === undefined ? [] : [{ folder: name, commit: commit.id, dirty: commit.dirty }],
  );
  const toText = (at: number | undefined): string | undefined =>
    at === undefined ? undefined : new Date(at).toISOString();
  return {
    executionSuccessful: hasAllFindings(run),
    ...known({ startTimeUtc: toText(dispatchedAt), endTimeUtc: toText(exitedAt) }),
    properties: known({
      findingsHere: cut?.shown,
      findingsInAll: cut?.total,
      runId: runIdOf(run),
      // Not in versionControlProvenance, which requires the repository's address: it is not known here.
      commits: commits.length === 0 ? undefined : commits,
    }),
  };
}

function toResult(shown: ShownFinding, rules: ReadonlyMap<string, Rule>, run: Run): Result {
  const { finding, identity, triage, verdict } = shown;
  const { fingerprint } = identity;
  const score = securityScore(finding);
  const ruleId = toRuleId(finding);
  return {
    ruleId,
    ruleIndex: rules.get(ruleId)?.ruleIndex ?? -1,
    level: toLevel(finding.severity),
    ...known({ rank: score === undefined ? undefined : Math.round(score * 10) }),
    message: { text: toMessage(finding) },
    ...toLocations(shown, run),
    ...(finding.url !== undefined && { webRequest: known({ method: finding.method, target: finding.url }) }),
    partialFingerprints: { 'whiteboxFinding/v1': fingerprint },
    ...(verdict !== undefined && { baselineState: toBaselineState(verdict) }),
    taxa: finding.cwes.map(cweReference),
    ...(needsNote(triage.state) && {
      suppressions: [{ kind: 'external', status: 'accepted', justification: triage.note }],
    }),
    properties: known({
      'security-severity': score?.toFixed(1),
      // Whole: SARIF has no members for recommendations, further prose, ratings as written and paths as reported.
      whitebox: known({
        finding: toPlainFinding(finding),
        fingerprint,
        verdict,
        triage: isUndecided(triage) ? undefined : triage,
      }),
    }),
  };
}

/** What SARIF has for a verdict, which knows no reasons (2.1.0, 3.27.24). */
function toBaselineState(verdict: Verdict): NonNullable<Result['baselineState']> {
  if (!isReported(verdict)) return 'absent';
  return verdict === 'new' || verdict === 'backAgain' ? 'new' : 'unchanged';
}

function toLevel(severity: Severity): NonNullable<Result['level']> {
  switch (severity) {
    case 'critical':
    case 'high':
      return 'error';
    case 'medium':
    case 'unrated':
      return 'warning';
    case 'low':
      return 'note';
    case 'none':
      return 'none';
  }
}

function toMessage({ id, title, description }: Finding): string {
  const text = title === '' ? id : title;
  const rest = description === '' || description === title ? '' : `\n\n${description}`;
  return plain(`${text}${rest}`);
}

/** A text of a message: what SARIF would take for a link (3.11.6) stays text. */
function plain(text: string): string {
  return text.replaceAll('](', ']\\(');
}

/** A rule of a SARIF log, and the findings that it has. */
interface Rule {
  readonly ruleId: string;
  readonly ruleIndex: number;
  readonly findings: Finding[];
}

/** One rule for each weakness and title, since readers of SARIF show a rule's text as the name of its results. */
function toRules(findings: readonly Finding[]): ReadonlyMap<string, Rule> {
  const rules = new Map<string, Rule>();
  for (const finding of findings) {
    const ruleId = toRuleId(finding);
    const rule = rules.get(ruleId) ?? { ruleId, ruleIndex: rules.size, findings: [] };
    rule.findings.push(finding);
    rules.set(ruleId, rule);
  }
  return rules;
}

function toRuleId({ cwes: [cwe], title }: Finding): string {
  const name = hash('sha256', title, 'hex').slice(0, 8);
  return `${cwe === undefined ? 'finding' : `CWE-${String(cwe)}`}/${name}`;
}

function toDescriptor({ ruleId: id, findings: group }: Rule): ReportingDescriptor {
  const cwes = [...new Set(group.flatMap((finding) => finding.cwes))];
  const scores = group.map(securityScore).filter((score) => score !== undefined);
  const [cwe] = cwes;
  const title = group[0]?.title ?? '';
  return {
    id,
    shortDescription: { text: plain(title === '' ? id : title) },
    ...(cwe === undefined ? {} : { helpUri: helpUri(cwe) }),
    relationships: cwes.map((each) => ({ target: cweReference(each), kinds: ['relevant'] })),
    properties: {
      // The form that code scanning services look for.
      tags: ['security', ...cwes.map((each) => `external/cwe/cwe-${String(each).padStart(3, '0')}`)],
      ...(scores.length === 0 ? {} : { 'security-severity': Math.max(...scores).toFixed(1) }),
    },
  };
}

function helpUri(cwe: number): string {
  return `https://cwe.mitre.org/data/definitions/${String(cwe)}.html`;
}

/** The taxonomy of the weaknesses that are spoken of (SARIF 2.1.0, 3.19.3). */
function cweTaxonomy(cwes: readonly number[]): ToolComponent {
  const taxa = [...new Set(cwes)].sort((one, other) => one - other);
  return {
    name: 'CWE',
    organization: 'MITRE',
    shortDescription: { text: 'Common Weakness Enumeration' },
    informationUri: 'https://cwe.mitre.org/',
    isComprehensive: false,
    taxa: taxa.map((cwe) => ({ id: String(cwe), helpUri: helpUri(cwe) })),
  };
}

/** A weakness as results and rules refer to it. */
function cweReference(cwe: number): ReportingDescriptorReference {
  return { id: String(cwe), toolComponent: { name: 'CWE', index: 0 } };
}

/** A score of 0 to 10 that says what the severity says: the finding's own CVSS score where it does; undefined when unrated. */
function securityScore({ severity, cvss }: Pick<Finding, 'severity' | 'cvss'>): number | undefined {
  if (severity === 'unrated') return undefined;
  const { from, below, usual } = bands[severity];
  const score = cvss?.score;
  return score !== undefined && score >= from && score < below ? score : usual;
}

/** The name under which a SARIF file speaks of the folder that a run assessed; of several, as if one held them all. */
const sourceRoot = '%SRCROOT%';

/** A finding's places as SARIF keeps them: where it is, how data flows to it, and what else belongs to it; folders are those of `run`, which may be a later one than the finding's own. */
function toLocations(
  shown: ShownFinding,
  run: Run,
): Pick<Result, 'locations' | 'codeFlows' | 'relatedLocations'> {
  const { places } = shown.finding;
  const having = (...roles: (PlaceRole | undefined)[]): Place[] =>
    roles.flatMap((role) => places.filter((place) => place.role === role));
  const own = having(undefined);
  const flow = flowOf(shown.finding);
  const related = having('evidence', 'related');
  const main = own.length > 0 ? own : places.slice(0, 1);
  const flowLocations = flow.map((place) => ({
    kinds: [place.role ?? 'step'],
    location: toLocation(place, shown, run),
  }));
  return {
    locations: main.map((place) => toLocation(place, shown, run)),
    ...(flow.length > 0 && { codeFlows: [{ threadFlows: [{ locations: flowLocations }] }] }),
    ...(related.length > 0 && {
      relatedLocations: related.map((place, index) => ({ id: index + 1, ...toLocation(place, shown, run) })),
    }),
  };
}

/** A place with the lines of the text that was assessed, and with its path in the workspace where it was found there. */
function toLocation(place: Place, { run: { targets }, places }: ShownFinding, run: Run): Location {
  const found = places.find(({ reported }) => reported === place);
  const target = targets[place.targetIndex ?? (targets.length === 1 ? 0 : -1)];
  const [own] = [found, target].flatMap(
    (wanted) => run.targets.find(({ folder }) => folder === wanted?.folder) ?? [],
  );
  const start = own === undefined || run.targets.length === 1 ? '' : `${own.name}/`;
  const { startLine, endLine, startColumn, endColumn, snippet, label } = place;
  const text = snippet === undefined ? undefined : { text: snippet };
  return {
    physicalLocation: {
      artifactLocation: {
        uri: toRelativeUri(`${start}${found?.path ?? place.path}`),
        ...(own !== undefined && { uriBaseId: sourceRoot }),
      },
      ...(startLine !== undefined && {
        region: { startLine, ...known({ endLine, startColumn, endColumn, snippet: text }) },
      }),
    },
    ...(label !== undefined && { message: { text: plain(label) } }),
  };
}

/** A path as a relative reference that stays below its base, percent-encoded part by part. */
function toRelativeUri(path: string): string {
  const parts = path.split(/[\\/]+/).filter((part) => part !== '' && part !== '.' && part !== '..');
  return parts.map((part) => encodeURIComponent(part.toWellFormed())).join('/');
}

/** The members that have a value: the types of SARIF know no undefined ones. */
function known<T extends object>(members: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
